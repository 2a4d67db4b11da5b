//! The rate of a protocol's feedback as a code of a few bits in acknowledgements.
//!
//! ```text
//!   routers, relay --header, rate x--> [ law of the receiver ] --echo--> [ code of b bits ] --level near x--> sender
//! ```

use millpond_law::{Context, Data, Echo, RateField, Receiver, RelayView};
use millpond_scenario::{RateCode, Rounding};

/// The levels of a code: `least * ratio^n` for n from 0 to `last`, in bit/s.
#[derive(Clone, Copy, Debug)]
struct Scale {
    least: f64,
    /// The natural logarithm of the ratio of adjacent levels.
    log_ratio: f64,
    /// The number of the greatest level.
    last: f64,
}

impl Scale {
    /// The levels of a code. With two bits or more one value is none of them: it stands for no rate.
    fn new(code: &RateCode) -> Self {
        let values = 2_f64.powi(code.bits.try_into().unwrap_or(i32::MAX));
        let last = if code.bits == 1 { 1.0 } else { values - 2.0 };
        let (least, greatest) = (code.least.as_f64(), code.greatest.as_f64());
        Self { least, log_ratio: (greatest / least).ln() / last, last }
    }

    fn level(&self, number: f64) -> f64 {
        self.least * (number * self.log_ratio).exp()
    }

    /// Where a rate is between the levels, from 0 to `last`.
    fn position(&self, rate: f64) -> f64 {
        // Of a rate that is not above zero, the logarithm is not a number or infinite.
        ((rate / self.least).ln() / self.log_ratio).max(0.0).min(self.last)
    }

    /// The nearest level on the logarithmic scale: `|ln(level / rate)| <= log_ratio / 2` within the range.
    fn nearest(&self, rate: f64) -> f64 {
        self.level(self.position(rate).round())
    }

    /// One of the two adjacent levels, the upper one with probability `(rate - lower) / (upper - lower)`, so that the mean is
    /// the rate. `uniform` is a number in [0, 1).
    fn dithered(&self, rate: f64, uniform: f64) -> f64 {
        let below = self.position(rate).floor().min(self.last - 1.0);
        let (lower, upper) = (self.level(below), self.level(below + 1.0));
        if uniform * (upper - lower) < rate - lower { upper } else { lower }
    }
}

/// A receiver whose acknowledgements return the rate as a code.
pub(crate) struct CodedReceiver {
    law: Box<dyn Receiver>,
    field: RateField,
    scale: Scale,
    rounding: Rounding,
}

impl CodedReceiver {
    /// The receiver `law` of a protocol with this field, under a code.
    pub(crate) fn new(law: Box<dyn Receiver>, field: RateField, code: &RateCode) -> Self {
        Self { law, field, scale: Scale::new(code), rounding: code.rounding }
    }
}

impl Receiver for CodedReceiver {
    fn on_data(&mut self, cx: &mut Context<'_>, data: &Data, relay: Option<&RelayView>, echo: &mut Echo) {
        self.law.on_data(cx, data, relay, echo);
        let scale = self.scale;
        match self.rounding {
            Rounding::Nearest => (self.field)(&mut echo.header, &mut |rate| scale.nearest(rate)),
            Rounding::Dithered => {
                let uniform = cx.random.uniform();
                (self.field)(&mut echo.header, &mut |rate| scale.dithered(rate, uniform));
            }
        }
    }

    /// An update of a relay has no random number: its rate is rounded to the nearest level.
    fn on_relay_departure(&mut self, relay: &RelayView, echo: &mut Echo) -> bool {
        let is_sent = self.law.on_relay_departure(relay, echo);
        let scale = self.scale;
        (self.field)(&mut echo.header, &mut |rate| scale.nearest(rate));
        is_sent
    }

    fn sends_updates(&self) -> bool {
        self.law.sends_updates()
    }

    fn unread(&self) -> u64 {
        self.law.unread()
    }
}

#[cfg(test)]
mod tests {
    use super::{CodedReceiver, Scale};
    use millpond_law::{Context, Data, Echo, Ecn, Header, HeaderId, PlainReceiver, Random, Receiver};
    use millpond_scenario::{RateCode, Rounding};
    use millpond_units::{Bytes, Rate, Time};

    fn scale(bits: u32) -> Scale {
        Scale::new(&RateCode { bits, ..RateCode::default() })
    }

    /// Rates from the least to the greatest level, at equal ratios.
    fn rates() -> impl Iterator<Item = f64> {
        (0..=1000).map(|n| 1e5 * 10_f64.powf(f64::from(n) * 6.3e-3))
    }

    /// draft-ietf-scone-protocol: signal n is 100 kbit/s * 10^(n/20), from 0 to 126.
    #[test]
    fn seven_bits_are_the_scale_of_scone() {
        let scale = scale(7);
        assert_eq!(scale.last, 126.0);
        for n in 0..=126 {
            let expected = 1e5 * 10_f64.powf(f64::from(n) / 20.0);
            assert!((scale.level(f64::from(n)) / expected - 1.0).abs() < 1e-10, "{n}");
        }
    }

    #[test]
    fn the_error_of_the_nearest_level_is_at_most_half_a_step_and_reaches_it() {
        for bits in [1, 2, 7, 16, 32] {
            let scale = scale(bits);
            let half =
                (10_f64.powf(6.3)).ln() / if bits == 1 { 1.0 } else { 2_f64.powi(bits as i32) - 2.0 } / 2.0;
            let errors = rates().map(|rate| (scale.nearest(rate) / rate).ln().abs());
            let greatest = errors.fold(0.0, f64::max);
            // Rounding of logarithms of numbers up to 2e11 is about 1e-14.
            assert!(greatest <= half + 1e-12, "{bits} bits: {greatest} over {half}");
            assert!(greatest >= 0.9 * half, "{bits} bits: {greatest} of {half}");
        }
    }

    /// Of n + 1 equally spaced numbers in [0, 1) the share below a probability p is p to 1 / n.
    #[test]
    fn a_dithered_rate_is_one_of_two_levels_and_its_mean_is_the_rate() {
        const DRAWS: u32 = 10_000;
        for bits in [1, 2, 7, 16] {
            let scale = scale(bits);
            for rate in rates().skip(3).step_by(50) {
                let below = scale.position(rate).floor();
                let (lower, upper) = (scale.level(below), scale.level(below + 1.0));
                let draws = (0..DRAWS).map(|n| scale.dithered(rate, (f64::from(n) + 0.5) / f64::from(DRAWS)));
                let draws: Vec<f64> = draws.collect();
                assert!(draws.iter().all(|level| *level == lower || *level == upper), "{bits} bits, {rate}");
                let mean = draws.iter().sum::<f64>() / f64::from(DRAWS);
                let bound = (upper - lower) / f64::from(DRAWS);
                assert!((mean - rate).abs() <= bound + 1e-9 * rate, "{bits} bits, {rate}: {mean}");
            }
        }
    }

    #[test]
    fn rates_outside_of_the_range_have_its_ends() {
        for bits in [1, 2, 7] {
            let scale = scale(bits);
            let [least, greatest] = [1e5, scale.level(scale.last)];
            assert!((greatest / 199_526_231_496.0 - 1.0).abs() < 1e-9);
            for rate in [0.0, -1.0, 1.0, f64::NAN] {
                assert_eq!([scale.nearest(rate), scale.dithered(rate, 0.0)], [least; 2], "{rate}");
            }
            for rate in [1e12, f64::INFINITY] {
                assert_eq!([scale.nearest(rate), scale.dithered(rate, 0.999)], [greatest; 2], "{rate}");
            }
        }
    }

    /// A protocol whose header is a rate in Mbit/s, in one byte.
    fn field(header: &mut Header, carry: &mut dyn FnMut(f64) -> f64) {
        if let Some([byte]) = header.of_mut(HeaderId(99)) {
            *byte = (carry(f64::from(*byte) * 1e6) / 1e6).round() as u8;
        }
    }

    #[test]
    fn acknowledgements_return_the_code_and_data_keeps_the_rate() {
        for (rounding, expected) in [(Rounding::Nearest, vec![64]), (Rounding::Dithered, vec![32, 64])] {
            // Levels of 1, 2, 4, ... 64 Mbit/s.
            let code =
                RateCode { bits: 3, rounding, least: Rate::from_mbps(1.0), greatest: Rate::from_mbps(64.0) };
            let mut receiver = CodedReceiver::new(Box::new(PlainReceiver), field, &code);
            let mut random = Random::stream(1, "receiver");
            let mut found = std::collections::BTreeSet::new();
            for _ in 0..100 {
                let (mut echo, header) = (Echo::default(), Header::new(HeaderId(99), &[50]));
                let data = Data { bytes: Bytes::new(1500), ecn: Ecn::NotCapable, header };
                let mut cx = Context { now: Time::ZERO, random: &mut random };
                receiver.on_data(&mut cx, &data, None, &mut echo);
                found.extend(echo.header.of(HeaderId(99)).unwrap().iter().copied());
            }
            assert_eq!(found.into_iter().collect::<Vec<u8>>(), expected);
        }
    }
}
