//! Inputs and outputs of blocks of flows and links: one array for each field.

use super::{DownstreamFeedback, LinkInput, SenderInput, UpstreamFeedback};
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
    /// All values of [`FluidSender::FEEDBACK`](super::FluidSender::FEEDBACK) of the first flow, then of the second, and so on.
    pub feedback: Vec<f64>,
    /// All values of [`FluidSender::DISCRETE`](super::FluidSender::DISCRETE) of the first flow, then of the second, and so on.
    pub discrete: Vec<u64>,
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
        let feedbacks = self.feedback.len() / self.count().max(1);
        let discrete = self.discrete.len() / self.count().max(1);
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
            feedback: &self.feedback[i * feedbacks..][..feedbacks],
            discrete: &self.discrete[i * discrete..][..discrete],
            downstream: self.downstream.get(i).copied().flatten(),
            upstream: self.upstream.get(i).copied().flatten(),
        }
    }
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
        let carried = self.carried.len() / self.count().max(1);
        let discrete = self.discrete.len() / self.count().max(1);
        LinkInput {
            capacity: self.capacity[i],
            arriving: self.arriving[i],
            own_arriving: self.own_arriving[i],
            queue: self.queue[i],
            carried: &self.carried[i * carried..][..carried],
            discrete: &self.discrete[i * discrete..][..discrete],
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
    /// [`FluidSender::CARRIED`](super::FluidSender::CARRIED).
    pub carried: &'a mut [f64],
}
