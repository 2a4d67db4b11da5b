//! Credit: how the limited buffer of a relay slows the loop before it.
//!
//! ```text
//!   sender ---- x1, under way ----> [ relay: backlog ] ---- x2 ---->
//!      ^                                    |
//!      +------ after the way back r --------+
//! ```
//!
//! The sender has sent s1(t), and knows that the relay has sent s2(t - r) of it. What is outstanding, o = s1(t) - s2(t - r), may
//! not exceed the buffer B of the relay:
//!
//! ```text
//!   o' = x1 - x2(t - r)
//!   x1 <= (B - o) / tau
//! ```
//!
//! so that o stays below B. Tau is a 64th of the loop's base round-trip time: a sender of packets uses each credit at once, and
//! so repeats each burst after a round-trip time for ever, as equations without tau would repeat each jump of a rate. Where the
//! credit limits a loop, o = B - tau x2 in a steady state; a buffer that is shorter than the loop's bandwidth-delay product
//! permits B / (rtt + tau).
//!
//! The state is the credit, size - o: where the credit limits the loop, it is small, and the solver's relative tolerance of it is
//! one of the rate.
//!
//! Bits that are lost were sent once and remain outstanding until the sender knows of the loss. What it sends instead needs no
//! credit: o' = x1 - lost x1(t - rtt) - x2(t - r).
//!
//! A law whose rate is limited by credit does not use all that it permits, as without data (`unused_rate`).

use crate::assembly::{Assembly, SharedFlow};
use crate::channel_history::ChannelHistory;
use crate::delays::DelayTable;
use millpond_law::fluid::SenderInputs;

/// Tau in base round-trip times of the upstream loop.
const SETTLING: f64 = 1.0 / 64.0;

/// The credits of a network, and what they limit.
pub(crate) struct Credits {
    /// Whether the buffers of relays have an effect.
    active: bool,
    /// For each relay with a limited buffer, in bit/s: the credit that returns to the sender before it, from what the relay has sent
    /// and what was lost.
    returning: Vec<f64>,
    /// For each relay with a limited buffer, in bit/s: the greatest rate of the loop before it.
    limits: Vec<f64>,
}

impl Assembly {
    /// The states of the credits.
    pub(crate) fn credit_states(&self) -> std::ops::Range<usize> {
        self.offsets.credits..self.offsets.credits + self.credits.len()
    }

    /// What is outstanding at a relay in bits, if the rates have been constant for a round trip: what is under way, and the
    /// backlog.
    pub(crate) fn outstanding(&self, relay: usize, x: &[f64], channels: &[f64]) -> f64 {
        let before = self.relays[relay].upstream.0;
        let under_way = channels[self.channels.rate + before] * channels[self.channels.rtt + before];
        under_way + x[self.offsets.backlogs + relay]
    }

    /// Sets the credits to what these states, and channels that have been constant, leave of the buffers.
    pub(crate) fn set_credits(&self, x: &mut [f64], channels: &[f64]) {
        for (state, &r) in self.credit_states().zip(&self.credits) {
            x[state] = self.relays[r].buffer.reference() - self.outstanding(r, x, channels);
        }
    }
}

impl Credits {
    /// `active`: whether the buffers of relays have an effect.
    pub(crate) fn new(asm: &Assembly, active: bool) -> Self {
        let count = asm.credits.len();
        Self { active: active && count > 0, returning: vec![0.0; count], limits: vec![f64::INFINITY; count] }
    }

    /// Limits the rates of loops by the credit of the relays at their ends. Those of the flows of a shared loop are limited
    /// where its rate is divided.
    pub(crate) fn limit(
        &mut self,
        asm: &Assembly,
        delays: &DelayTable,
        senders: &[SenderInputs],
        history: &impl ChannelHistory,
        x: &[f64],
        channels: &mut [f64],
    ) {
        if !self.active {
            return;
        }
        let at = &asm.channels;
        for (number, (state, &r)) in asm.credit_states().zip(&asm.credits).enumerate() {
            let (relay, delay) = (&asm.relays[r], delays.relays[r]);
            let (before, next) = (relay.upstream.0, relay.downstream.0);
            let is_present = |flow: &SharedFlow| history.get(at.present + flow.presence, delay) > 0.5;
            let permitted = history.get(at.permitted + r, delay) * asm.sharing(r, is_present).weight;
            let outstanding = relay.buffer.reference() - x[state];
            let room = relay.buffer.bits(permitted) - outstanding;
            let sender = &asm.loops[asm.controlling_loop(before)];
            let lost = senders[sender.class].lost[sender.place];
            let lost = lost * history.get(at.rate + before, delays.loops[before].rtt).max(0.0);
            let limit = (room / (SETTLING * asm.loops[before].base_rtt)).max(0.0);
            self.returning[number] = history.get(at.rate + next, delay).max(0.0) + lost;
            self.limits[number] = limit;
            let rate = &mut channels[at.rate + before];
            if !asm.is_shared_flow(before) {
                *rate = rate.min(limit);
            }
        }
    }

    /// The greatest rate of a loop, in bit/s; none without a bound.
    pub(crate) fn of_loop(&self, asm: &Assembly, loop_index: usize) -> Option<f64> {
        let relay = asm.loops[loop_index].end_relay.filter(|_| self.active)?;
        let number = asm.credits.binary_search(&relay).ok()?;
        Some(self.limits[number])
    }

    /// Derivatives of the credits. Where buffers have no effect, nothing is outstanding after a while.
    pub(crate) fn set_derivatives(&self, asm: &Assembly, x: &[f64], dx: &mut [f64], channels: &[f64]) {
        for (number, (state, &r)) in asm.credit_states().zip(&asm.credits).enumerate() {
            let relay = &asm.relays[r];
            let rate = channels[asm.channels.rate + relay.upstream.0];
            dx[state] =
                if self.active { self.returning[number] - rate } else { relay.buffer.reference() - x[state] };
        }
    }
}
