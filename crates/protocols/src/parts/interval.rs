//! How often a router may be asked to think.

use millpond_law::SettingError;
use millpond_units::Span;

/// The least interval of a timer at a link: below it a run would do little else.
pub(crate) const LEAST: Span = Span::from_micros(1);

/// The span, unless it is below the least; `name` is the parameter that sets it.
pub(crate) fn checked(name: &'static str, span: Span) -> Result<Span, SettingError> {
    if span >= LEAST {
        return Ok(span);
    }
    Err(SettingError::new(name, format!("expected a time of at least {LEAST}, found {span}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_faster_than_a_microsecond_is_refused_by_name() {
        assert_eq!(checked("interval", Span::from_micros(1)), Ok(LEAST));
        let fault = checked("interval", Span::from_picos(1)).unwrap_err();
        assert_eq!(fault.to_string(), "interval: expected a time of at least 1us, found 1ps");
    }
}
