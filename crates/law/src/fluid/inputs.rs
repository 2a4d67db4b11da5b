//! Inputs and outputs of blocks of flows and links: one array for each field.

use super::{DownstreamFeedback, FluidSender, LinkInput, SenderInput, UpstreamFeedback};
use alloc::vec;
use alloc::vec::Vec;

/// The inputs of consecutive flows under laws of one type: one array for each field of [`SenderInput`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SenderInputs {
    /// See [`SenderInput::base_rtt`].
    pub base_rtt: Vec<f64>,
    /// See [`SenderInput::capacity`].
    pub capacity: Vec<f64>,
    /// See [`SenderInput::queueing`].
    pub queueing: Vec<f64>,
    /// See [`SenderInput::queueing_slope`].
    pub queueing_slope: Vec<f64>,
    /// See [`SenderInput::marked`].
    pub marked: Vec<f64>,
    /// See [`SenderInput::lost`].
    pub lost: Vec<f64>,
    /// See [`SenderInput::acked`].
    pub acked: Vec<f64>,
    /// See [`SenderInput::present_queueing`].
    pub present_queueing: Vec<f64>,
    /// See [`SenderInput::earlier_queueing`].
    pub earlier_queueing: Vec<f64>,
    /// All values of [`FluidSender::FEEDBACK`] of the first flow, then of the second, and so on.
    pub feedback: Vec<f64>,
    /// All values of [`FluidSender::DISCRETE`] of the first flow, then of the second, and so on.
    pub discrete: Vec<u64>,
    /// See [`SenderInput::growth`]. Empty if it is one for all flows.
    pub growth: Vec<f64>,
    /// Empty if no flow ends at a relay.
    pub downstream: Vec<Option<DownstreamFeedback<f64>>>,
    /// Empty if no flow begins at a relay.
    pub upstream: Vec<Option<UpstreamFeedback<f64>>>,
}

impl SenderInputs {
    /// Zeros for `flows` flows without discrete states, with `feedbacks` feedback values each.
    pub fn zeros(flows: usize, feedbacks: usize) -> Self {
        let zeros = || vec![0.0; flows];
        Self {
            base_rtt: zeros(),
            capacity: zeros(),
            queueing: zeros(),
            queueing_slope: zeros(),
            marked: zeros(),
            lost: zeros(),
            acked: zeros(),
            present_queueing: zeros(),
            earlier_queueing: zeros(),
            feedback: vec![0.0; flows * feedbacks],
            discrete: Vec::new(),
            growth: Vec::new(),
            downstream: Vec::new(),
            upstream: Vec::new(),
        }
    }

    /// The number of flows.
    pub fn count(&self) -> usize {
        self.base_rtt.len()
    }

    /// The input of flow `i`.
    pub fn flow(&self, i: usize) -> SenderInput<'_, f64> {
        let each = |values: usize| values / self.count().max(1);
        self.view(each(self.feedback.len()), each(self.discrete.len())).flow(i)
    }

    /// All inputs, for laws of this type.
    #[inline(always)]
    pub(super) fn view_for<L: FluidSender>(&self) -> SenderInputsView<'_> {
        self.view(L::FEEDBACK.len(), L::DISCRETE.len())
    }

    /// All inputs, with this number of feedback values and of discrete states of each flow.
    #[inline(always)]
    fn view(&self, feedbacks: usize, discretes: usize) -> SenderInputsView<'_> {
        let count = self.count();
        SenderInputsView {
            inputs: self,
            base_rtt: &self.base_rtt[..count],
            capacity: &self.capacity[..count],
            queueing: &self.queueing[..count],
            queueing_slope: &self.queueing_slope[..count],
            marked: &self.marked[..count],
            lost: &self.lost[..count],
            acked: &self.acked[..count],
            present_queueing: &self.present_queueing[..count],
            earlier_queueing: &self.earlier_queueing[..count],
            feedbacks,
            discretes,
        }
    }
}

/// The inputs of the flows of a block as slices of one length, so that the compiler needs no checks in a loop over the flows.
pub(super) struct SenderInputsView<'a> {
    inputs: &'a SenderInputs,
    base_rtt: &'a [f64],
    capacity: &'a [f64],
    queueing: &'a [f64],
    queueing_slope: &'a [f64],
    marked: &'a [f64],
    lost: &'a [f64],
    acked: &'a [f64],
    present_queueing: &'a [f64],
    earlier_queueing: &'a [f64],
    /// Number of feedback values and of discrete states of each flow.
    feedbacks: usize,
    discretes: usize,
}

impl<'a> SenderInputsView<'a> {
    /// The number of flows.
    #[inline(always)]
    pub(super) fn count(&self) -> usize {
        self.base_rtt.len()
    }

    /// The input of flow `i`.
    #[inline(always)]
    pub(super) fn flow(&self, i: usize) -> SenderInput<'a, f64> {
        SenderInput {
            base_rtt: self.base_rtt[i],
            capacity: self.capacity[i],
            queueing: self.queueing[i],
            queueing_slope: self.queueing_slope[i],
            marked: self.marked[i],
            lost: self.lost[i],
            acked: self.acked[i],
            present_queueing: self.present_queueing[i],
            earlier_queueing: self.earlier_queueing[i],
            feedback: entries(&self.inputs.feedback, i, self.feedbacks),
            discrete: entries(&self.inputs.discrete, i, self.discretes),
            growth: self.inputs.growth.get(i).copied().unwrap_or(1.0),
            downstream: self.inputs.downstream.get(i).copied().flatten(),
            upstream: self.inputs.upstream.get(i).copied().flatten(),
        }
    }
}

/// The entries of flow or link `i`, of which each has `width`.
#[inline(always)]
fn entries<T>(all: &[T], i: usize, width: usize) -> &[T] {
    if width == 0 { &[] } else { &all[i * width..][..width] }
}

/// The inputs of consecutive links under laws of one type: one array for each field of [`LinkInput`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkInputs {
    /// See [`LinkInput::capacity`].
    pub capacity: Vec<f64>,
    /// See [`LinkInput::arriving`].
    pub arriving: Vec<f64>,
    /// See [`LinkInput::own_arriving`].
    pub own_arriving: Vec<f64>,
    /// See [`LinkInput::queue`].
    pub queue: Vec<f64>,
    /// All carried quantities of the first link, then of the second, and so on.
    pub carried: Vec<f64>,
    /// All values of [`FluidLink::DISCRETE`](super::FluidLink::DISCRETE) of the first link, then of the second, and so on.
    pub discrete: Vec<u64>,
}

impl LinkInputs {
    /// Zeros for `links` links without discrete states, with `carried` carried quantities each.
    pub fn zeros(links: usize, carried: usize) -> Self {
        let zeros = || vec![0.0; links];
        Self {
            capacity: zeros(),
            arriving: zeros(),
            own_arriving: zeros(),
            queue: zeros(),
            carried: vec![0.0; links * carried],
            discrete: Vec::new(),
        }
    }

    /// The number of links.
    pub fn count(&self) -> usize {
        self.capacity.len()
    }

    /// The input of link `i`.
    #[inline]
    pub fn link(&self, i: usize) -> LinkInput<'_, f64> {
        self.view().link(i)
    }

    /// All inputs.
    #[inline(always)]
    pub(super) fn view(&self) -> LinkInputsView<'_> {
        let count = self.count();
        LinkInputsView {
            inputs: self,
            capacity: &self.capacity[..count],
            arriving: &self.arriving[..count],
            own_arriving: &self.own_arriving[..count],
            queue: &self.queue[..count],
            carried: self.carried.len() / count.max(1),
            discretes: self.discrete.len() / count.max(1),
        }
    }
}

/// The inputs of the links of a block as slices of one length, as [`SenderInputsView`].
pub(super) struct LinkInputsView<'a> {
    inputs: &'a LinkInputs,
    capacity: &'a [f64],
    arriving: &'a [f64],
    own_arriving: &'a [f64],
    queue: &'a [f64],
    /// Number of carried quantities and of discrete states of each link.
    carried: usize,
    discretes: usize,
}

impl<'a> LinkInputsView<'a> {
    /// The number of links.
    #[inline(always)]
    pub(super) fn count(&self) -> usize {
        self.capacity.len()
    }

    /// The input of link `i`.
    #[inline(always)]
    pub(super) fn link(&self, i: usize) -> LinkInput<'a, f64> {
        LinkInput {
            capacity: self.capacity[i],
            arriving: self.arriving[i],
            own_arriving: self.own_arriving[i],
            queue: self.queue[i],
            carried: entries(&self.inputs.carried, i, self.carried),
            discrete: entries(&self.inputs.discrete, i, self.discretes),
        }
    }
}

/// Buffers for the outputs of consecutive flows.
#[derive(Debug)]
pub struct SenderOutputs<'a> {
    /// Derivatives of the states, per second.
    pub dx: &'a mut [f64],
    /// Sending rates, in bit/s.
    pub rates: &'a mut [f64],
    /// [`FluidSender::CARRIED`].
    pub carried: &'a mut [f64],
}
