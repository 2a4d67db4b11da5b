//! What a law does in the steady state, as far as that follows from the law itself and not from its linearization.

use alloc::boxed::Box;

/// Properties of a law in the steady state that its equations do not show. All are absent by default: the equilibrium of
/// the equations and its roots decide.
#[derive(Default)]
pub struct SteadyStateFacts {
    /// Why it oscillates whatever the link does, as a clause; none if its equations may have an equilibrium.
    pub limit_cycle: Option<&'static str>,
    /// Why and in what its equilibria form a continuum.
    pub continuum: Option<Continuum>,
    /// Why a disturbance of a unique equilibrium decays more slowly than an exponential, as a clause.
    pub slow_decay: Option<&'static str>,
    /// The cycle of a window or rate that falls at once at an overload, a loss or a mark, and then grows again.
    pub cycle: Option<Box<dyn Cycle>>,
}

/// A continuum of equilibria: one quantity of each flow may have any value of a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Continuum {
    /// Why, as a clause.
    pub reason: &'static str,
    /// The quantity with its unit in the plural (`"queued packets"`).
    pub quantity: &'static str,
    /// Its least value in equilibrium.
    pub low: f64,
    /// Its greatest value in equilibrium.
    pub high: f64,
}

/// The oscillation of one flow between two reductions, in closed form.
pub trait Cycle: Send + Sync {
    /// Seconds from one reduction to the next, if all flows of the link are reduced at the same time.
    fn period(&self, peak: &CyclePeak) -> f64;

    /// The part of its window or rate that a reduction leaves.
    fn kept(&self, peak: &CyclePeak) -> f64;

    /// Arriving rate over capacity at which flows are reduced; one for losses at a full buffer.
    fn load(&self) -> f64 {
        1.0
    }
}

/// The state of a flow when it is reduced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CyclePeak {
    /// Its window, in packets.
    pub window: f64,
    /// Packet size, in bits.
    pub packet: f64,
    /// Round-trip time without queues, in seconds.
    pub base_rtt: f64,
    /// Round-trip time at the reduction, in seconds.
    pub rtt: f64,
}

impl CyclePeak {
    /// Seconds in which a window grows between two values by `per_round` packets per round trip. The round-trip time is
    /// proportional to the window while there is a queue, and otherwise that of empty queues.
    #[must_use]
    pub fn growth_time(&self, from: f64, to: f64, per_round: f64) -> f64 {
        // The window at which the queue begins.
        let full = self.window * self.base_rtt / self.rtt;
        let without_queue = (to.min(full) - from.min(full)) * self.base_rtt;
        let (low, high) = (from.max(full), to.max(full));
        let with_queue = (high * high - low * low) / 2.0 * self.rtt / self.window;
        (without_queue + with_queue) / per_round
    }

    /// Its sending rate, in bit/s.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.window * self.packet / self.rtt
    }
}

/// A window that grows by a number of packets per round trip and is multiplied by a factor at a loss.
///
/// A loss is seen one round trip after the buffer is full, and for another one the window does not grow (recovery).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdditiveIncrease {
    /// Packets per round trip.
    pub per_round: f64,
    /// The part of the window that a reduction leaves.
    pub kept: f64,
}

impl Cycle for AdditiveIncrease {
    fn period(&self, peak: &CyclePeak) -> f64 {
        let greatest = peak.window + self.per_round;
        peak.growth_time(self.kept * greatest, greatest, self.per_round) + peak.rtt
    }

    fn kept(&self, _peak: &CyclePeak) -> f64 {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four flows on 100 Mbit/s, 24 ms and a buffer of one bandwidth-delay product: 101 packets each at a loss, halved to
    /// 50.5; the queue is never empty for long, so the period is .24 ms (101^2 - 50.5^2), and a round trip of recovery.
    #[test]
    fn the_period_of_a_halved_window_is_the_integral_of_its_round_trip_times() {
        let peak = CyclePeak { window: 100.0, packet: 12e3, base_rtt: 0.024, rtt: 0.048 };
        let period = AdditiveIncrease { per_round: 1.0, kept: 0.5 }.period(&peak);
        let by_hand = 0.24e-3 * (101.0 * 101.0 - 50.5 * 50.5) + 0.048;
        assert!((period / by_hand - 1.0).abs() < 1e-9, "{period} {by_hand}");
        // Without a queue every round trip has the base RTT.
        let empty = CyclePeak { rtt: 0.024, ..peak };
        assert!((empty.growth_time(50.0, 100.0, 2.0) - 25.0 * 0.024).abs() < 1e-12);
        assert!((peak.rate() - 25e6).abs() < 1.0);
    }
}
