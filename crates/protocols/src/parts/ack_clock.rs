//! The acknowledgement clock: the rate of a window.
//!
//! A window releases a packet for each acknowledgement and for each packet by which it grows: `x = a + W'`. While the
//! bottleneck has a queue, data are acknowledged at the rate of its service, so the queue equals the excess of the
//! windows over the bandwidth-delay product at once. `W / RTT` with a round-trip time delayed by the return path
//! differs: there the queue integrates that excess one round trip late, a separate loop with the characteristic
//! equation `s + e^(-s T) / T = 0`. It oscillates, and is unstable above a gain of pi / 2, where real windows are
//! stable.
//!
//! K. Jacobsson, L. L. H. Andrew, A. Tang, K. H. Johansson, H. Hjalmarsson, S. H. Low, "ACK-clocking dynamics:
//! modelling the interaction between windows and the network", INFOCOM 2008.

use millpond_law::fluid::{Number, positive};

/// The acknowledged rate `W / RTT` plus W', in bit/s. The window is in bits and `grows` in bit/s. The round-trip time
/// is that of `age` seconds ago, and so is the window that belongs to it: `W - age W'`.
pub(crate) fn rate<T: Number>(window: T, grows: T, rtt: T, age: f64) -> T {
    positive((window - grows * age) / rtt + grows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With `W = c RTT + v` and `RTT = T + q / c`, `q' = rate - c = W'` if `q = W - c T`.
    #[test]
    fn the_queue_is_the_excess_of_windows_over_the_bandwidth_delay_product() {
        let (capacity, base, queue): (f64, f64, f64) = (8e6, 0.1, 2e5);
        for grows in [-1e6, 0.0, 3e6] {
            let window = capacity * base + queue;
            assert!((rate(window, grows, base + queue / capacity, 0.0) - capacity - grows).abs() < 1e-6);
            // The same with an older round-trip time: the queue was shorter by the growth of the window since then.
            let (age, then) = (0.02, queue - grows * 0.02);
            assert!((rate(window, grows, base + then / capacity, age) - capacity - grows).abs() < 1e-6);
        }
    }
}
