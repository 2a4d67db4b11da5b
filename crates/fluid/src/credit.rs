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
//! Elsewhere in the equations a queue divides its departures by its present arrivals ([`delivery`](crate::delivery)). The arrivals of
//! a loop that credit limits are its departures one round trip earlier, so that any share of a queue would persist. In packets
//! such a loop has B under way, and what departs is what waits in the queue. Its departures d are therefore the bits c that it has
//! in the queues of its path over the delay q of these queues, with a the rate at which they arrive:
//!
//! ```text
//!   d = (c + tau a) / (q + tau),      c' = a - d
//! ```
//!
//! In a steady state its rate is B over the round-trip time and tau, as in a loop without queue. The departures of a loop that credit
//! does not limit are those by its present arrivals, as the analyses have them. These do not conserve the bits of each loop while
//! rates change, so that c would differ more and more from q times the departures: it returns there within 64 round-trip times, and
//! nothing departs that has not arrived. A loop that sends nothing, because it has stopped, has no present arrivals: what it has in
//! the queues departs as that of a limited loop.
//!
//! A law whose rate is limited by credit does not use all that it permits, as without data (`unused_rate`).

use crate::assembly::{Assembly, SharedFlow};
use crate::channel_history::ChannelHistory;
use crate::delays::DelayTable;
use millpond_law::fluid::SenderInputs;

/// Tau in base round-trip times of the upstream loop.
const SETTLING: f64 = 1.0 / 64.0;

/// The part of what a loop has in queues beyond its share of them that departs in each base round-trip time.
const RETURNING: f64 = 1.0 / 64.0;

/// Tau in seconds: the time constant with which this loop uses its credit.
pub(crate) fn settling_time(asm: &Assembly, loop_index: usize) -> f64 {
    SETTLING * asm.loops[loop_index].base_rtt
}

/// The credits of a network, and what they limit.
pub(crate) struct Credits {
    /// Whether the buffers of relays have an effect.
    active: bool,
    /// For each relay with a limited buffer, in bit/s: the credit that returns to the sender before it, from what the relay has sent
    /// and what was lost.
    returning: Vec<f64>,
    /// For each relay with a limited buffer, in bit/s: the greatest rate of the loop before it.
    limits: Vec<f64>,
    /// For each relay with a limited buffer, in bit/s: by how much more bits of the loop before it arrive in queues than depart.
    queued: Vec<f64>,
}

impl Assembly {
    /// The states of the credits.
    pub(crate) fn credit_states(&self) -> std::ops::Range<usize> {
        self.offsets.credits..self.offsets.credits + self.credits.len()
    }

    /// The states of what the loops before relays with a limited buffer have in the queues of their paths.
    pub(crate) fn queued_states(&self) -> std::ops::Range<usize> {
        let first = self.credit_states().end;
        first..first + self.credits.len()
    }

    /// What is outstanding at a relay in bits, if the rates have been constant for a round trip: what is under way, and the
    /// backlog.
    pub(crate) fn outstanding(&self, relay: usize, x: &[f64], channels: &[f64]) -> f64 {
        let before = self.relays[relay].upstream.0;
        let under_way = channels[self.channels.rate + before] * channels[self.channels.rtt + before];
        under_way + x[self.offsets.backlogs + relay]
    }

    /// Sets the credits to what these states, and channels that have been constant, leave of the buffers, and what the loops have
    /// in the queues of their paths.
    pub(crate) fn set_credits(&self, x: &mut [f64], channels: &[f64]) {
        let at = &self.channels;
        for (state, &r) in self.queued_states().zip(&self.credits) {
            let before = self.relays[r].upstream.0;
            let queueing: f64 = self.hops_of(before).iter().map(|hop| channels[at.delay + hop.link]).sum();
            x[state] = queueing * channels[at.delivered + before];
        }
        for (state, &r) in self.credit_states().zip(&self.credits) {
            x[state] = self.relays[r].buffer.reference() - self.outstanding(r, x, channels);
        }
    }
}

/// The room in bits at a relay that the sender before it knows of. `credit`: the state.
fn room(
    asm: &Assembly,
    delays: &DelayTable,
    history: &impl ChannelHistory,
    relay: usize,
    credit: f64,
) -> f64 {
    let (at, delay, buffer) = (&asm.channels, delays.relays[relay], &asm.relays[relay].buffer);
    let is_present = |flow: &SharedFlow| history.get(at.present + flow.presence, delay) > 0.5;
    let permitted = history.get(at.permitted + relay, delay) * asm.sharing(relay, is_present).weight;
    buffer.bits(permitted) - (buffer.reference() - credit)
}

/// How far a loop departs by what it has in the queues, if it may send `permits` and has sent `sent` one forward delay ago, in bit/s:
/// entirely if credit permits no more, and not at all if it permits twice that. Entirely also if nothing was sent, because then
/// its present arrivals are no measure of what it has in the queues.
fn limited_part(permits: f64, sent: f64) -> f64 {
    if sent > 0.0 { (2.0 - permits / sent).clamp(0.0, 1.0) } else { 1.0 }
}

impl Credits {
    /// `active`: whether the buffers of relays have an effect.
    pub(crate) fn new(asm: &Assembly, active: bool) -> Self {
        let count = asm.credits.len();
        let (returning, queued) = (vec![0.0; count], vec![0.0; count]);
        Self { active: active && count > 0, returning, limits: vec![f64::INFINITY; count], queued }
    }

    /// Sets the greatest rates of the loops before relays with a limited buffer.
    pub(crate) fn set_limits(
        &mut self,
        asm: &Assembly,
        delays: &DelayTable,
        history: &impl ChannelHistory,
        x: &[f64],
    ) {
        if !self.active {
            return;
        }
        for ((limit, state), &relay) in self.limits.iter_mut().zip(asm.credit_states()).zip(&asm.credits) {
            let room = room(asm, delays, history, relay, x[state]);
            *limit = (room / settling_time(asm, asm.relays[relay].upstream.0)).max(0.0);
        }
    }

    /// Sets the departures of the loops that credit limits to what they have in the queues over the queueing delay.
    pub(crate) fn set_departures(
        &mut self,
        asm: &Assembly,
        delays: &DelayTable,
        history: &impl ChannelHistory,
        x: &[f64],
        channels: &mut [f64],
    ) {
        if !self.active {
            return;
        }
        let at = &asm.channels;
        for (number, (queued, &relay)) in asm.queued_states().zip(&asm.credits).enumerate() {
            let l = asm.relays[relay].upstream.0;
            let settling = settling_time(asm, l);
            let (mut queueing, mut kept) = (0.0, 1.0);
            for (hop, delays) in asm.hops_of(l).iter().zip(&delays.hops[asm.loops[l].hops.clone()]) {
                queueing += history.get(at.delay + hop.link, delays.onward).max(0.0);
                kept *= (1.0 - history.get(at.lost + hop.link, delays.onward)).clamp(0.0, 1.0);
            }
            let sent = history.get(at.rate + l, delays.loops[l].forward).max(0.0);
            let arriving = sent * kept;
            let limited = limited_part(self.limits[number], sent);
            let by_arrivals = channels[at.delivered + l];
            let by_queue = (x[queued].max(0.0) + settling * arriving) / (queueing + settling);
            let returning = RETURNING * (x[queued] - queueing * by_arrivals) / asm.loops[l].base_rtt;
            // The product of departing shares may be more than there is: nothing departs that has not arrived.
            let most = arriving + x[queued].max(0.0) / settling;
            let unlimited = (by_arrivals + returning).max(0.0).min(most);
            let departing = limited * by_queue + (1.0 - limited) * unlimited;
            channels[at.delivered + l] = departing;
            self.queued[number] = arriving - departing;
        }
    }

    /// Limits the rates of loops by the credit of the relays at their ends. Those of the flows of a shared loop are limited
    /// where its rate is divided.
    pub(crate) fn limit(
        &mut self,
        asm: &Assembly,
        delays: &DelayTable,
        senders: &[SenderInputs],
        history: &impl ChannelHistory,
        channels: &mut [f64],
    ) {
        if !self.active {
            return;
        }
        let at = &asm.channels;
        for (number, &r) in asm.credits.iter().enumerate() {
            let (relay, delay) = (&asm.relays[r], delays.relays[r]);
            let (before, next) = (relay.upstream.0, relay.downstream.0);
            let sender = &asm.loops[asm.controlling_loop(before)];
            let lost = senders[sender.class].lost[sender.place];
            let lost = lost * history.get(at.rate + before, delays.loops[before].rtt).max(0.0);
            self.returning[number] = history.get(at.rate + next, delay).max(0.0) + lost;
            let rate = &mut channels[at.rate + before];
            if !asm.is_shared_flow(before) {
                *rate = rate.min(self.limits[number]);
            }
        }
    }

    /// The greatest rate of a loop, in bit/s; none without a bound.
    pub(crate) fn of_loop(&self, asm: &Assembly, loop_index: usize) -> Option<f64> {
        let relay = asm.loops[loop_index].end_relay.filter(|_| self.active)?;
        let number = asm.credits.binary_search(&relay).ok()?;
        Some(self.limits[number])
    }

    /// Derivatives of the credits, and of what is in queues. Where buffers have no effect, nothing is outstanding after a while.
    pub(crate) fn set_derivatives(&self, asm: &Assembly, x: &[f64], dx: &mut [f64], channels: &[f64]) {
        for (number, (state, &r)) in asm.credit_states().zip(&asm.credits).enumerate() {
            let relay = &asm.relays[r];
            let rate = channels[asm.channels.rate + relay.upstream.0];
            dx[state] =
                if self.active { self.returning[number] - rate } else { relay.buffer.reference() - x[state] };
        }
        for (state, queued) in asm.queued_states().zip(&self.queued) {
            dx[state] = if self.active { *queued } else { -x[state] };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_departs_by_its_queues_if_credit_permits_no_more_than_was_sent_or_if_nothing_was_sent() {
        let parts =
            [(5.0, 10.0), (10.0, 10.0), (15.0, 10.0), (20.0, 10.0), (1.0, 0.0), (0.0, 0.0), (-1.0, 0.0)];
        let expected = [1.0, 1.0, 0.5, 0.0, 1.0, 1.0, 1.0];
        assert_eq!(parts.map(|(permits, sent)| limited_part(permits, sent)), expected);
    }
}
