//! Senders and links as functions of a list of numbers: states first, then inputs.

use super::LOOP;
use millpond_law::fluid::{
    Dual64, FluidModel, LinkInput, LinkInputs, LinkLaws, PathAggregation, SenderInput, SenderInputs,
    SenderLaws, State,
};

/// A function with exact derivatives.
pub(crate) trait Piece {
    /// The states, which are the first arguments.
    fn states(&self) -> Vec<State>;
    /// The range of each argument.
    fn ranges(&self) -> Vec<(f64, f64)>;
    /// Derivatives of states, then outputs.
    fn value(&self, z: &[f64]) -> Vec<f64>;
    /// The derivatives of the same values by argument `by`.
    fn slope(&self, z: &[f64], by: usize) -> Vec<f64>;
}

/// The range of a state: values that are typical of its unit, within its bounds. If none is, one width of the typical range
/// from the bound that is nearest to it. A state whose bounds coincide has a range without width.
pub(crate) fn range(state: &State) -> (f64, f64) {
    let typical: (f64, f64) = match state.unit {
        "bit" | "bit s" => (8e3, 8e5),
        "bit/s" => (1e5, 1e7),
        "s" => (0.01, 0.5),
        "packets" => (1.0, 100.0),
        "1" if state.upper <= 1.0 => (0.01, 0.9),
        _ => (1.0, 5.0),
    };
    let width = typical.1 - typical.0;
    let low = typical.0.max(state.lower).min(state.upper);
    let high = typical.1.min(state.upper).max(state.lower);
    if low < high {
        (low, high)
    } else if typical.0 >= state.upper {
        ((state.upper - width).max(state.lower), state.upper)
    } else {
        (state.lower, (state.lower + width).min(state.upper))
    }
}

/// Whether an argument has this range and cannot vary.
pub(crate) fn is_fixed((low, high): (f64, f64)) -> bool {
    low == high
}

fn of_unit(unit: &str) -> (f64, f64) {
    match unit {
        "bit/s" => (1e5, 2e7),
        "bit/s^2" => (-1e7, 1e7),
        "bit" => (1e4, 1e6),
        "s" => (0.05, 0.5),
        _ => (0.1, 0.9),
    }
}

/// One flow. Arguments after its states: queueing delay and its derivative, marks, losses, the rate one round trip ago,
/// present queueing delay, earlier queueing delay, feedback.
pub(crate) struct SenderPiece(pub(crate) Box<dyn SenderLaws>);

/// Number of inputs before the feedback.
pub(crate) const BEFORE: usize = 7;

impl SenderPiece {
    pub(crate) fn of(model: &dyn FluidModel) -> Self {
        Self(model.sender(&LOOP))
    }

    pub(crate) fn inputs(&self, values: &[f64]) -> SenderInputs {
        let mut inputs = SenderInputs::of(&*self.0, 0..1);
        (inputs.base_rtt[0], inputs.capacity[0]) = (LOOP.base_rtt, LOOP.capacity);
        (inputs.queueing[0], inputs.queueing_slope[0]) = (values[0], values[1]);
        (inputs.marked[0], inputs.lost[0]) = (values[2], values[3]);
        (inputs.acked[0], inputs.present_queueing[0]) = (values[4], values[5]);
        inputs.earlier_queueing[0] = values[6];
        inputs.feedback.copy_from_slice(&values[BEFORE..]);
        inputs
    }
}

impl Piece for SenderPiece {
    fn states(&self) -> Vec<State> {
        self.0.states(0)
    }

    fn ranges(&self) -> Vec<(f64, f64)> {
        let values = [(0.0, 0.2), (-0.5, 0.5), (0.001, 0.9), (0.0, 0.2), (1e5, 1e7), (0.0, 0.2), (0.0, 0.2)];
        let feedback = self.0.feedback().iter().map(|feedback| match feedback.over_path {
            // A load or a flag.
            PathAggregation::Max => (0.0, 3.0),
            _ => of_unit(feedback.unit),
        });
        self.states().iter().map(range).chain(values).chain(feedback).collect()
    }

    fn value(&self, z: &[f64]) -> Vec<f64> {
        let (x, values) = z.split_at(self.states().len());
        let inputs = self.inputs(values);
        let (mut dx, mut rate) = (vec![0.0; x.len()], [0.0]);
        let mut carried = vec![0.0; self.0.carried().len()];
        self.0.derivatives(0, x, &inputs, &mut dx);
        self.0.rates(0, x, &inputs, &mut rate, &mut carried);
        [dx, rate.to_vec(), carried].concat()
    }

    fn slope(&self, z: &[f64], by: usize) -> Vec<f64> {
        let duals = seeded(z, by);
        let (x, values) = duals.split_at(self.states().len());
        let SenderInputs { discrete, .. } = SenderInputs::of(&*self.0, 0..1);
        let input = SenderInput {
            base_rtt: LOOP.base_rtt,
            capacity: LOOP.capacity,
            queueing: values[0],
            queueing_slope: values[1],
            marked: values[2],
            lost: values[3],
            acked: values[4],
            present_queueing: values[5],
            earlier_queueing: values[6],
            feedback: &values[BEFORE..],
            discrete: &discrete,
            growth: 1.0,
            downstream: None,
            upstream: None,
        };
        let mut dx = vec![Dual64::from(0.0); x.len()];
        let mut carried = vec![Dual64::from(0.0); self.0.carried().len()];
        let rate = self.0.dual(0, x, &input, &mut dx, &mut carried);
        dx.into_iter().chain([rate]).chain(carried).map(|dual| dual.eps).collect()
    }
}

/// One link. Arguments after its states: arriving rate, that of its own protocol, queue, carried quantities.
pub(crate) struct RouterPiece {
    pub(crate) links: Box<dyn LinkLaws>,
    /// The units of the carried quantities.
    pub(crate) carried: Vec<&'static str>,
}

impl RouterPiece {
    pub(crate) fn of(model: &dyn FluidModel) -> Option<Self> {
        let carried = model.sender(&LOOP).carried().iter().map(|carried| carried.unit).collect();
        Some(Self { links: model.link(&super::link_facts())?, carried })
    }

    pub(crate) fn inputs(&self, values: &[f64]) -> LinkInputs {
        let mut inputs = LinkInputs::of(&*self.links, 0..1, self.carried.len());
        inputs.capacity[0] = LOOP.capacity;
        (inputs.arriving[0], inputs.own_arriving[0], inputs.queue[0]) = (values[0], values[1], values[2]);
        inputs.carried.copy_from_slice(&values[3..]);
        inputs
    }
}

impl Piece for RouterPiece {
    fn states(&self) -> Vec<State> {
        self.links.states(0)
    }

    fn ranges(&self) -> Vec<(f64, f64)> {
        let values = [(1e6, 2e7), (1e6, 2e7), (1e3, 1e6)];
        let carried = self.carried.iter().map(|unit| of_unit(unit));
        self.states().iter().map(range).chain(values).chain(carried).collect()
    }

    fn value(&self, z: &[f64]) -> Vec<f64> {
        let (x, values) = z.split_at(self.states().len());
        let inputs = self.inputs(values);
        let (mut dx, mut signals) = (vec![0.0; x.len()], vec![0.0; self.links.signal_names().len()]);
        self.links.derivatives(0, x, &inputs, &mut dx);
        self.links.signals(0, x, &inputs, &mut signals);
        [dx, signals].concat()
    }

    fn slope(&self, z: &[f64], by: usize) -> Vec<f64> {
        let duals = seeded(z, by);
        let (x, values) = duals.split_at(self.states().len());
        let LinkInputs { discrete, .. } = LinkInputs::of(&*self.links, 0..1, 0);
        let input = LinkInput {
            capacity: LOOP.capacity,
            arriving: values[0],
            own_arriving: values[1],
            queue: values[2],
            carried: &values[3..],
            discrete: &discrete,
        };
        let mut dx = vec![Dual64::from(0.0); x.len()];
        let mut signals = vec![Dual64::from(0.0); self.links.signal_names().len()];
        self.links.dual(0, x, &input, &mut dx, &mut signals);
        dx.into_iter().chain(signals).map(|dual| dual.eps).collect()
    }
}

fn seeded(z: &[f64], by: usize) -> Vec<Dual64> {
    let dual = |(i, &z): (usize, &f64)| if i == by { Dual64::from(z).derivative() } else { Dual64::from(z) };
    z.iter().enumerate().map(dual).collect()
}
