//! What a guest permits its sender, in SI units, before and after the check.

use millpond_law::{Permit, Probes};
use millpond_units::{Bytes, Rate, Span, Time};
use std::fmt;

/// A permit as a guest writes it; infinity stands for "no limit" and "never".
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct RawPermit {
    /// Upper limit of the bytes in flight; infinite for a law that only paces.
    pub window_bytes: f64,
    /// Upper limit of the sending rate in bit/s; infinite for a law that only limits the bytes in flight.
    pub pace_bps: f64,
    /// How many bytes a paced sender may send at once; zero for one packet.
    pub quantum_bytes: f64,
    /// Longest time between two packets of a sender that has data, in seconds; infinite for none.
    pub feedback_within_s: f64,
    /// Simulated time of the next call of `on_timer`, in seconds; infinite for none.
    pub wake_s: f64,
}

impl Default for RawPermit {
    fn default() -> Self {
        Self {
            window_bytes: f64::INFINITY,
            pace_bps: f64::INFINITY,
            quantum_bytes: 0.0,
            feedback_within_s: f64::INFINITY,
            wake_s: f64::INFINITY,
        }
    }
}

/// A value that has no meaning, with what was expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Nonsense {
    /// The quantity with its unit in its name.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// What was expected.
    pub expected: &'static str,
}

impl fmt::Display for Nonsense {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}: expected {}", self.name, self.value, self.expected)
    }
}

impl std::error::Error for Nonsense {}

/// The value if it is a number in the range, or infinite for none.
fn limit(name: &'static str, value: f64, is_valid: bool, expected: &'static str) -> Result<f64, Nonsense> {
    if is_valid { Ok(value) } else { Err(Nonsense { name, value, expected }) }
}

impl RawPermit {
    /// The window, or none.
    ///
    /// # Errors
    /// It is negative or not a number.
    pub fn window(&self) -> Result<Option<Bytes>, Nonsense> {
        let window = self.window_bytes;
        let checked = limit("window_bytes", window, window >= 0.0, "a number of bytes, at least zero")?;
        Ok((checked < f64::INFINITY).then(|| Bytes::from_f64(checked)))
    }

    /// The pacing rate, at least one bit per second, or none.
    ///
    /// # Errors
    /// It is zero, negative or not a number.
    pub fn pace(&self) -> Result<Option<Rate>, Nonsense> {
        let pace = self.pace_bps;
        let checked = limit("pace_bps", pace, pace > 0.0, "a rate in bit/s above zero")?;
        Ok((checked < f64::INFINITY).then(|| Rate::from_bps_f64(checked).max(Rate::from_bps(1))))
    }

    /// How much may be sent at once, or none for one packet.
    ///
    /// # Errors
    /// It is negative, infinite or not a number.
    pub fn quantum(&self) -> Result<Option<Bytes>, Nonsense> {
        let quantum = self.quantum_bytes;
        let is_valid = (0.0..f64::INFINITY).contains(&quantum);
        let checked = limit("quantum_bytes", quantum, is_valid, "a number of bytes, at least zero")?;
        Ok((checked > 0.0).then(|| Bytes::from_f64(checked)))
    }

    /// The longest time between two packets, or none.
    ///
    /// # Errors
    /// It is zero, negative or not a number.
    pub fn feedback_within(&self) -> Result<Option<Span>, Nonsense> {
        let time = self.feedback_within_s;
        let checked = limit("feedback_within_s", time, time > 0.0, "a time in seconds above zero")?;
        Ok((checked < f64::INFINITY).then(|| Span::from_secs(checked)))
    }

    /// When the timer fires, or none. A time that rounds to the present is the next picosecond.
    ///
    /// # Errors
    /// It is in the past, or at the present after a timer, or not a number.
    pub fn wake(&self, now: Time, is_timer: bool) -> Result<Option<Time>, Nonsense> {
        let wake = self.wake_s;
        let (is_valid, expected) = match is_timer {
            true => (wake > now.secs(), "a simulated time in seconds after the present one"),
            false => (wake >= now.secs(), "a simulated time in seconds, not before the present one"),
        };
        let checked = limit("wake_s", wake, is_valid, expected)?;
        let later = Time::from_picos(now.picos().saturating_add(u64::from(is_timer)));
        Ok((checked < f64::INFINITY).then(|| Time::from_secs(checked).max(later)))
    }

    /// The permit after an event at `now`.
    ///
    /// # Errors
    /// A value has no meaning, or there is neither a window nor a pacing rate.
    pub fn check(&self, now: Time, is_timer: bool) -> Result<Permit, Nonsense> {
        let permit = Permit {
            window: self.window()?,
            pace: self.pace()?,
            quantum: self.quantum()?,
            feedback_within: self.feedback_within()?,
            probes: Probes::Data,
            wake: self.wake(now, is_timer)?,
        };
        if permit.window.is_none() && permit.pace.is_none() {
            let expected =
                "a window or a pacing rate: the law sets neither, so that nothing limits the sender";
            return Err(Nonsense { name: "window_bytes", value: self.window_bytes, expected });
        }
        Ok(permit)
    }
}

/// The time of the next call of a link's `tick`, from the seconds until then; infinite for none.
///
/// # Errors
/// It is zero, negative or not a number.
pub fn next_tick(now: Time, after_s: f64) -> Result<Option<Time>, Nonsense> {
    let expected = "the seconds until the next tick, above zero";
    let checked = limit("interval_s", after_s, after_s > 0.0, expected)?;
    let next = now.picos().saturating_add(Span::from_secs(checked).picos().max(1));
    Ok((checked < f64::INFINITY).then(|| Time::from_picos(next)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(bytes: f64) -> RawPermit {
        RawPermit { window_bytes: bytes, ..RawPermit::default() }
    }

    fn refused(raw: RawPermit) -> &'static str {
        raw.check(Time::from_secs(1.0), false).unwrap_err().name
    }

    #[test]
    fn a_permit_is_rounded_and_infinity_is_no_limit() {
        let permit = window(1500.4).check(Time::ZERO, false).unwrap();
        assert_eq!(permit, Permit { window: Some(Bytes::new(1500)), ..Permit::default() });
        let paced = RawPermit { pace_bps: 0.2, quantum_bytes: 3000.0, wake_s: 2.0, ..RawPermit::default() };
        let permit = paced.check(Time::from_secs(1.0), true).unwrap();
        assert_eq!((permit.window, permit.pace), (None, Some(Rate::from_bps(1))));
        assert_eq!((permit.quantum, permit.wake), (Some(Bytes::new(3000)), Some(Time::from_secs(2.0))));
    }

    #[test]
    fn values_without_meaning_are_refused_by_name() {
        assert_eq!(refused(window(f64::NAN)), "window_bytes");
        assert_eq!(refused(window(-1.0)), "window_bytes");
        assert_eq!(refused(RawPermit { pace_bps: -1e6, ..window(1.0) }), "pace_bps");
        assert_eq!(refused(RawPermit { pace_bps: 0.0, ..window(1.0) }), "pace_bps");
        assert_eq!(refused(RawPermit { pace_bps: f64::NAN, ..window(1.0) }), "pace_bps");
        assert_eq!(refused(RawPermit { quantum_bytes: f64::INFINITY, ..window(1.0) }), "quantum_bytes");
        assert_eq!(refused(RawPermit { feedback_within_s: 0.0, ..window(1.0) }), "feedback_within_s");
        assert_eq!(refused(RawPermit { wake_s: 0.5, ..window(1.0) }), "wake_s");
        assert!(refused(RawPermit::default()) == "window_bytes", "nothing limits the sender");
    }

    #[test]
    fn a_timer_advances_time() {
        let (now, raw) = (Time::from_secs(1.0), RawPermit { wake_s: 1.0, ..window(1.0) });
        assert!(raw.check(now, false).is_ok());
        assert_eq!(raw.check(now, true).unwrap_err().name, "wake_s");
        assert!(next_tick(now, 0.0).is_err() && next_tick(now, f64::NAN).is_err());
        assert_eq!(next_tick(now, 0.5).unwrap(), Some(Time::from_secs(1.5)));
        assert_eq!(next_tick(now, f64::INFINITY).unwrap(), None);
    }
}
