//! The shortest interval of a router's timer.

use millpond_law::SettingError;
use millpond_law::key::{Key, span_from};
use millpond_units::Span;

/// Smallest interval of a timer at a link; with shorter ones a run would process almost only timers.
pub(crate) const LEAST: Span = Span::from_micros(1);

/// The interval of a timer at a link.
pub(crate) const fn timer(name: &'static str, default: Span) -> Key<Span> {
    span_from(name, default, LEAST)
}

/// A time that follows from a parameter or may be left out, or an error that names the parameter if it is below [`LEAST`].
pub(crate) fn checked<T: Copy>(key: Key<T>, span: Span) -> Result<Span, SettingError> {
    if span >= LEAST {
        return Ok(span);
    }
    Err(key.error(format!("expected a time of at least {LEAST}, found {span}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::key::span;

    #[test]
    fn a_timer_interval_below_a_microsecond_is_rejected_by_name() {
        const INTERVAL: Key<Span> = span("interval", LEAST);
        assert_eq!(checked(INTERVAL, LEAST), Ok(LEAST));
        let fault = checked(INTERVAL, Span::from_picos(1)).unwrap_err();
        assert_eq!(fault.to_string(), "interval: expected a time of at least 1us, found 1ps");
    }
}
