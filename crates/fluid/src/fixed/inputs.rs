//! The inputs of a block of flows for several steps at once.
//!
//! All signals of these steps have been emitted before the first of them, because no step of a block is beyond its
//! smallest feedback delay.

use super::flows::FlowBlock;
use super::hops::{MAX_STEPS_AHEAD, RecordLayout, SignalHop, with_constant_steps};
use super::links::LinkBlock;
use crate::assembly::FLOWS_IN_BLOCK;
use crate::path::{join, neutral};
use millpond_law::fluid::{Feedback, InputSet, PathAggregation, SenderInputs};

/// One value for each flow of a block, for each step.
type OfSteps = Box<[[f64; FLOWS_IN_BLOCK]; MAX_STEPS_AHEAD]>;

/// Memory for the inputs of one block; blocks share it one after the other.
pub(super) struct InputBuffers {
    /// The inputs of one step.
    inputs: SenderInputs,
    /// Derivatives of the states in that step.
    dx: Vec<f64>,
    queueing: OfSteps,
    queueing_slope: OfSteps,
    marked: OfSteps,
    lost: OfSteps,
    acked: OfSteps,
    /// All feedback values of the first flow, then of the second, and so on, for each step.
    feedback: [Vec<f64>; MAX_STEPS_AHEAD],
    /// Number of flows and of feedback values, and the inputs used, for which the buffers are prepared.
    prepared: (usize, usize, InputSet),
}

impl Default for InputBuffers {
    fn default() -> Self {
        let unused = || Box::new([[f64::NAN; FLOWS_IN_BLOCK]; MAX_STEPS_AHEAD]);
        Self {
            inputs: SenderInputs::default(),
            dx: Vec::new(),
            queueing: unused(),
            queueing_slope: unused(),
            marked: unused(),
            lost: unused(),
            acked: unused(),
            feedback: Default::default(),
            prepared: (0, 0, InputSet::ALL),
        }
    }
}

/// What a flow receives from its path in `L` steps.
struct PathInputs<const L: usize> {
    queueing: [f64; L],
    queueing_slope: [f64; L],
    unmarked: [f64; L],
    kept: [f64; L],
}

/// Where the signals are: the layout of a record, and the links.
#[derive(Clone, Copy)]
pub(super) struct SignalSource<'a> {
    pub(super) record: RecordLayout,
    pub(super) links: &'a [LinkBlock<'a>],
}

impl SignalSource<'_> {
    /// Quantity `k` that a hop receives in `L` steps from `n`.
    #[inline]
    fn read<const L: usize>(&self, hop: &SignalHop, n: usize, k: usize) -> [f64; L] {
        self.links[usize::from(hop.block)].emitted.before(usize::from(hop.place), n, hop.delay, k)
    }

    /// Quantity `k` of all hops of a path, joined one after the other, in `L` steps from `n`.
    #[inline]
    fn joined<const L: usize>(
        &self,
        path: &[SignalHop],
        (n, k): (usize, usize),
        start: f64,
        join: impl Fn(f64, f64) -> f64,
    ) -> [f64; L] {
        let mut all = [start; L];
        for hop in path {
            let values: [f64; L] = self.read(hop, n, k);
            for (joined, value) in all.iter_mut().zip(values) {
                *joined = join(*joined, value);
            }
        }
        all
    }

    /// The product of `1 - value` over a path, where `value` is quantity `k`, in `L` steps from `n`.
    #[inline]
    fn kept<const L: usize>(&self, path: &[SignalHop], n: usize, k: usize) -> [f64; L] {
        self.joined(path, (n, k), 1.0, |kept, value| kept * (1.0 - value))
    }

    /// The sum of quantity `k` over a path in `L` steps from `n`.
    #[inline]
    fn sum<const L: usize>(&self, path: &[SignalHop], n: usize, k: usize) -> [f64; L] {
        self.joined(path, (n, k), 0.0, |sum, value| sum + value)
    }

    /// Queueing delay, marks and losses of a path.
    #[inline]
    fn of_path<const L: usize>(&self, path: &[SignalHop], n: usize, used: InputSet) -> PathInputs<L> {
        let queueing = self.record.queueing.filter(|_| used.queueing);
        let losses = self.record.losses.filter(|_| used.lost);
        PathInputs {
            queueing: queueing.map_or([0.0; L], |k| self.sum(path, n, k)),
            queueing_slope: queueing.map_or([0.0; L], |k| self.sum(path, n, k + 1)),
            unmarked: self.record.marks.map_or([1.0; L], |k| self.kept(path, n, k)),
            kept: losses.map_or([1.0; L], |k| self.kept(path, n, k)),
        }
    }

    /// Aggregated feedback of a flow's own routers in step `n`.
    #[inline]
    fn feedback(&self, path: &[SignalHop], n: usize, kinds: &[Feedback], feedback: &mut [f64]) {
        for (sum, kind) in feedback.iter_mut().zip(kinds) {
            *sum = neutral(kind.over_path);
        }
        for hop in path {
            for (k, (sum, kind)) in feedback.iter_mut().zip(kinds).enumerate() {
                let [signal] = self.read(hop, n, usize::from(hop.signals) + k);
                *sum = join(kind.over_path, *sum, signal);
            }
        }
        for (sum, _) in
            feedback.iter_mut().zip(kinds).filter(|(_, kind)| kind.over_path == PathAggregation::Marked)
        {
            *sum = 1.0 - *sum;
        }
    }
}

impl InputBuffers {
    /// Makes step `n` of a block and as many of the following ones as possible, but not step `until`.
    pub(super) fn advance(
        &mut self,
        block: &mut FlowBlock<'_>,
        n: usize,
        until: usize,
        source: SignalSource<'_>,
    ) {
        let steps = block.begin_steps(n, until);
        with_constant_steps!(steps.len(), [1 2 3 4 6 8 10 12 14], self.fill(block, n, source));
        for (i, n) in steps.enumerate() {
            self.select(i);
            block.make_step(i, n, &self.inputs, &mut self.dx);
        }
    }

    /// The inputs of a block at one step.
    pub(super) fn at(&mut self, block: &FlowBlock<'_>, n: usize, source: SignalSource<'_>) -> &SenderInputs {
        self.fill::<1>(block, n, source);
        self.select(0);
        &self.inputs
    }

    /// Computes the inputs of a block for `L` steps from `n`.
    fn fill<const L: usize>(&mut self, block: &FlowBlock<'_>, n: usize, source: SignalSource<'_>) {
        let (flows, used) = (block.flows(), block.inputs_used);
        let width = block.feedback.len();
        self.prepare(flows, width, used);
        self.inputs.base_rtt.copy_from_slice(&block.base_rtt);
        self.inputs.capacity.copy_from_slice(&block.capacity);
        for flow in 0..flows {
            let path = block.path(flow);
            let PathInputs { queueing, queueing_slope, unmarked, kept } = source.of_path::<L>(path, n, used);
            for (marked, unmarked) in self.marked.iter_mut().zip(unmarked) {
                marked[flow] = if block.ecn[flow] { 1.0 - unmarked } else { 0.0 };
            }
            if used.queueing {
                (0..L).for_each(|i| self.queueing[i][flow] = queueing[i]);
                (0..L).for_each(|i| self.queueing_slope[i][flow] = queueing_slope[i]);
            }
            for i in (0..L).filter(|_| used.lost) {
                self.lost[i][flow] = 1.0 - if block.ecn[flow] { kept[i] } else { kept[i] * unmarked[i] };
            }
            for i in (0..L).filter(|_| used.acked) {
                self.acked[i][flow] = block.acked(flow, n + i);
            }
            for i in (0..L).filter(|_| width > 0) {
                let feedback = &mut self.feedback[i][flow * width..][..width];
                source.feedback(path, n + i, block.feedback, feedback);
            }
        }
    }

    /// Prepares the buffers for a block. Unused inputs are NaN.
    fn prepare(&mut self, flows: usize, width: usize, used: InputSet) {
        if self.prepared == (flows, width, used) {
            return;
        }
        self.prepared = (flows, width, used);
        let inputs = &mut self.inputs;
        for values in [
            &mut inputs.base_rtt,
            &mut inputs.capacity,
            &mut inputs.marked,
            &mut inputs.queueing,
            &mut inputs.queueing_slope,
            &mut inputs.lost,
            &mut inputs.acked,
            &mut inputs.present_queueing,
            &mut inputs.earlier_queueing,
        ] {
            values.clear();
            values.resize(flows, f64::NAN);
        }
        for values in self.feedback.iter_mut().chain([&mut inputs.feedback]) {
            values.resize(flows * width, 0.0);
        }
    }

    /// Makes the inputs of step `i` of those that [`Self::fill`] has computed the present ones.
    fn select(&mut self, i: usize) {
        let ((flows, _, used), inputs) = (self.prepared, &mut self.inputs);
        for (all, present, is_used) in [
            (&self.marked, &mut inputs.marked, true),
            (&self.queueing, &mut inputs.queueing, used.queueing),
            (&self.queueing_slope, &mut inputs.queueing_slope, used.queueing),
            (&self.lost, &mut inputs.lost, used.lost),
            (&self.acked, &mut inputs.acked, used.acked),
        ] {
            if is_used {
                present.copy_from_slice(&all[i][..flows]);
            }
        }
        inputs.feedback.copy_from_slice(&self.feedback[i]);
    }
}
