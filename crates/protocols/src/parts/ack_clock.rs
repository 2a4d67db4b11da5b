//! The clock of acknowledgements: what a window sends.
//!
//! A window lets a packet go for each that is acknowledged, and for each that it grows by: `x = a + W'`. Where a queue waits,
//! what is acknowledged is what the bottleneck serves, so that the queue is what windows exceed the pipe by, at once.
//! `W / RTT` with a round-trip time that is told a way back late says something else: there the queue integrates
//! what windows exceed the pipe by, a round trip late, which is a loop of its own with the characteristic equation
//! `s + e^(-s T) / T = 0`. It rings, and is unstable from a gain of pi / 2 on, where windows cannot be.
//!
//! K. Jacobsson, L. L. H. Andrew, A. Tang, K. H. Johansson, H. Hjalmarsson, S. H. Low, "ACK-clocking dynamics: modelling the
//! interaction between windows and the network", INFOCOM 2008.

use millpond_law::fluid::{Number, positive};

/// What acknowledgements make room for, `W / RTT`, and W' beside it, in bit/s. The window is in bits and `grows` in bit/s; the
/// round-trip time is as it was `age` seconds ago, and so is the window that it belongs to: `W - age W'`.
pub(crate) fn rate<T: Number>(window: T, grows: T, rtt: T, age: f64) -> T {
    positive((window - grows * age) / rtt + grows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With `W = c RTT + v` and `RTT = T + q / c`, `q' = rate - c = W'` if `q = W - c T`.
    #[test]
    fn a_queue_is_what_windows_exceed_the_pipe_by() {
        let (capacity, base, queue): (f64, f64, f64) = (8e6, 0.1, 2e5);
        for grows in [-1e6, 0.0, 3e6] {
            let window = capacity * base + queue;
            assert!((rate(window, grows, base + queue / capacity, 0.0) - capacity - grows).abs() < 1e-6);
            // The same told late: the queue was shorter by what the window has grown by since.
            let (age, then) = (0.02, queue - grows * 0.02);
            assert!((rate(window, grows, base + then / capacity, age) - capacity - grows).abs() < 1e-6);
        }
    }
}
