//! HyStart++ (RFC 9406): slow start slows down when the round-trip time grows, and ends if it does not fall again.

use super::window::Window;
use millpond_law::Ack;
use millpond_law::key::{Key, word};
use millpond_units::{Bytes, Span};

millpond_law::words! {
    /// How slow start ends before the first loss.
    pub enum SlowStart {
        /// Only with a loss or mark.
        Standard = "standard",
        /// Also when the round-trip time grows.
        HyStart = "hystart++",
    }
}

pub(crate) const SLOW_START: Key<SlowStart> = word("slow_start", SlowStart::Standard)
    .source("RFC 9406, which RFC 9438, section 4.10, recommends")
    .meaning("\"standard\": slow start ends with a loss or mark; \"hystart++\": also when the round-trip time grows");

/// MIN_RTT_THRESH, MAX_RTT_THRESH and MIN_RTT_DIVISOR (section 4.3).
const LEAST_GROWTH: Span = Span::from_millis(4);
const MOST_GROWTH: Span = Span::from_millis(16);
const RTT_DIVISOR: u64 = 8;

/// RTT samples of a round that are needed (N_RTT_SAMPLE).
const SAMPLES: u32 = 8;

/// Divisor of the growth in conservative slow start (CSS_GROWTH_DIVISOR), and its longest duration (CSS_ROUNDS).
const CONSERVATIVE_DIVISOR: u64 = 4;
const CONSERVATIVE_ROUNDS: u64 = 5;

/// Packets per acknowledgement that count at most, for a sender without pacing (L). For one with pacing all count.
const PACKETS_PER_ACK: f64 = 8.0;

/// Conservative slow start: the smallest RTT of the round in which it began, and that round.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    baseline: Span,
    since: u64,
}

/// The state during the first slow start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HyStart {
    /// Packets per acknowledgement that count at most.
    packets_per_ack: f64,
    round: u64,
    samples: u32,
    current: Option<Span>,
    last: Option<Span>,
    conservative: Option<Conservative>,
}

impl HyStart {
    /// Before the first acknowledgement; `paced`: the sender spreads its packets over the round trip.
    pub(crate) fn new(paced: bool) -> Self {
        let packets_per_ack = if paced { f64::INFINITY } else { PACKETS_PER_ACK };
        Self { packets_per_ack, round: 0, samples: 0, current: None, last: None, conservative: None }
    }

    /// The acknowledged bytes by which slow start may grow the window. Ends slow start when it is time.
    pub(crate) fn growth(&mut self, ack: &Ack, window: &mut Window) -> Bytes {
        if window.threshold().is_some() {
            return ack.bytes;
        }
        self.note(ack);
        let bytes = ack.bytes.min(window.of_packets(self.packets_per_ack));
        let Some(conservative) = self.conservative else { return bytes };
        if ack.round >= conservative.since + CONSERVATIVE_ROUNDS {
            window.end_slow_start();
        }
        Bytes::new(bytes.get() / CONSERVATIVE_DIVISOR)
    }

    /// Records the RTT sample and compares the smallest of this round with that of the last one.
    fn note(&mut self, ack: &Ack) {
        if ack.round != self.round {
            (self.round, self.samples) = (ack.round, 0);
            self.last = self.current.take();
        }
        let Some(rtt) = ack.rtt else { return };
        self.samples += 1;
        let current = self.current.map_or(rtt, |least| least.min(rtt));
        self.current = Some(current);
        if self.samples < SAMPLES {
            return;
        }
        match (self.conservative, self.last) {
            (Some(conservative), _) if current < conservative.baseline => self.conservative = None,
            (None, Some(last)) if current >= last + growth_threshold(last) => {
                self.conservative = Some(Conservative { baseline: current, since: ack.round });
            }
            _ => {}
        }
    }
}

/// RttThresh (section 4.2): by how much the smallest RTT of a round exceeds the last one in a growing queue.
fn growth_threshold(last: Span) -> Span {
    (last / RTT_DIVISOR).clamp(LEAST_GROWTH, MOST_GROWTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes::new(1000);

    /// Acknowledges ten packets of one round with this RTT in milliseconds; returns the growth in bytes.
    fn round(hystart: &mut HyStart, window: &mut Window, number: u64, rtt: u64) -> u64 {
        (0..10)
            .map(|_| {
                let ack = Ack { round: number, ..Ack::plain(PACKET, Span::from_millis(rtt), Bytes::ZERO) };
                hystart.growth(&ack, window).get()
            })
            .sum()
    }

    fn start() -> (HyStart, Window) {
        (HyStart::new(false), Window::new(PACKET, None))
    }

    #[test]
    fn the_threshold_is_an_eighth_of_the_rtt_between_4_and_16_ms() {
        for (last, threshold) in [(8, 4), (32, 4), (80, 10), (128, 16), (500, 16)] {
            assert_eq!(growth_threshold(Span::from_millis(last)), Span::from_millis(threshold));
        }
    }

    #[test]
    fn without_a_growing_rtt_slow_start_goes_on() {
        let (mut hystart, mut window) = start();
        assert!((1..50).all(|number| round(&mut hystart, &mut window, number, 80) == 10_000));
        assert_eq!(window.threshold(), None);
    }

    #[test]
    fn a_growing_rtt_slows_the_growth_to_a_quarter_and_ends_slow_start_after_five_rounds() {
        let (mut hystart, mut window) = start();
        round(&mut hystart, &mut window, 1, 80);
        // The eighth sample of the round decides: seven packets count whole, three a quarter.
        assert_eq!(round(&mut hystart, &mut window, 2, 90), 7000 + 3 * 250);
        for number in 3..7 {
            assert_eq!(round(&mut hystart, &mut window, number, 90), 2500);
            assert_eq!(window.threshold(), None);
        }
        round(&mut hystart, &mut window, 7, 90);
        assert_eq!(window.threshold(), Some(10.0));
    }

    #[test]
    fn slow_start_resumes_if_the_rtt_falls_below_that_of_the_first_conservative_round() {
        let (mut hystart, mut window) = start();
        round(&mut hystart, &mut window, 1, 80);
        round(&mut hystart, &mut window, 2, 95);
        round(&mut hystart, &mut window, 3, 80);
        assert_eq!(round(&mut hystart, &mut window, 4, 80), 10_000);
    }

    #[test]
    fn a_stretched_acknowledgement_counts_for_eight_packets_at_most_without_pacing() {
        // RFC 9406, section 4.3: L is 8 without pacing and infinite with it.
        for (paced, counted) in [(false, 8), (true, 40)] {
            let (mut hystart, mut window) = (HyStart::new(paced), Window::new(PACKET, None));
            let ack = Ack { round: 1, ..Ack::plain(PACKET * 40, Span::from_millis(80), Bytes::ZERO) };
            assert_eq!(hystart.growth(&ack, &mut window), PACKET * counted);
        }
    }
}
