//! Settings: what a scenario writes, checked against the declared parameters of a protocol or a queue.

use crate::key::{Key, Keys, Setting};
use crate::{Parameter, SettingError, Value};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use millpond_units::nearest;

/// Every parameter of a protocol or a queue with its checked value.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    values: BTreeMap<&'static str, Value>,
}

impl Settings {
    /// Checks what a scenario wrote against the declared parameters and fills in the defaults.
    pub fn check<'a>(
        keys: Keys,
        written: impl IntoIterator<Item = (&'a str, Value)>,
    ) -> Result<Self, SettingError> {
        let parameters: Vec<_> = keys.iter().map(|key| key.parameter()).collect();
        let mut values = BTreeMap::new();
        for parameter in &parameters {
            parameter.check(&parameter.default)?;
            values.insert(parameter.name, parameter.default.clone());
        }
        let written: Vec<(&str, Value)> = written.into_iter().collect();
        let preset = preset_values(&parameters, &written);
        for (name, value) in preset.into_iter().chain(written) {
            let Some(parameter) = parameters.iter().find(|p| p.name == name) else {
                return Err(unknown(name, &parameters));
            };
            let value = parameter.share(value);
            parameter.check(&value)?;
            values.insert(parameter.name, value);
        }
        Ok(Self { values })
    }

    /// Every parameter by name, with its value as a scenario would write it.
    pub fn written(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.values.iter().map(|(name, value)| (*name, value))
    }

    /// The value of a parameter. A key that is missing from the protocol's own table is a mistake of the protocol's
    /// author: it panics in debug builds and reads as the key's default in release builds.
    pub fn get<T: Setting>(&self, key: Key<T>) -> T {
        let value = self.values.get(key.name).and_then(T::from_value);
        debug_assert!(
            value.is_some(),
            "parameter {} is not in the protocol's table with this type",
            key.name
        );
        value.unwrap_or(key.default)
    }
}

/// The values that the written presets give to other parameters.
fn preset_values<'a>(parameters: &[Parameter], written: &[(&'a str, Value)]) -> Vec<(&'a str, Value)> {
    let chosen = written.iter().filter_map(|(name, value)| {
        let presets = parameters.iter().find(|parameter| parameter.name == *name)?.presets;
        presets.iter().find(|(word, _)| *value == Value::text(word)).map(|(_, values)| *values)
    });
    chosen.flatten().map(|(name, value)| (*name, value.clone())).collect()
}

fn unknown(name: &str, parameters: &[Parameter]) -> SettingError {
    let known: Vec<_> = parameters.iter().map(|p| p.name).collect();
    let nearest = nearest(name, known.iter().copied()).map(str::to_owned);
    let known = if known.is_empty() { "none".into() } else { known.join(", ") };
    SettingError { nearest, ..SettingError::new(name, format!("no such parameter; there are: {known}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{Interval, above, bytes, from, interval, number, number_or, span_or, whole, word};
    use millpond_units::{Bytes, Span};

    crate::words! {
        enum Control { Window = "window", Rate = "rate" }
        enum Event { BaseRtt = "base-rtt", Round = "round" }
    }

    const PHI1: Key<f64> = number("phi1", "1", 10.0, above(1.0));
    const MAX_TH: Key<Bytes> = bytes("max_th", Bytes::new(75_000));
    const CONTROL: Key<Control> = word("control", Control::Window);
    const INTERVAL: Key<Interval<Event>> = interval("interval", Interval::Word(Event::BaseRtt));
    const UPDATE: Key<Option<Span>> = span_or("mean-rtt", "update", Some(Span::from_millis(10)));
    const INITIAL: Key<Option<f64>> = number_or("rfc", "initial", "packets", from(1.0).to(100.0));
    const MARKS: Key<u64> = whole("marks", "packets", 31, from(1.0).to(64.0));
    static KEYS: Keys = &[&PHI1, &MAX_TH, &CONTROL, &INTERVAL, &UPDATE, &INITIAL, &MARKS];

    fn read(name: &'static str, value: Value) -> Result<Settings, SettingError> {
        Settings::check(KEYS, [(name, value)])
    }

    #[test]
    fn defaults_hold_until_the_scenario_sets_another_value() {
        let settings = read("phi1", Value::Number(5.0)).unwrap();
        assert_eq!(settings.get(PHI1), 5.0);
        assert_eq!(settings.get(MAX_TH), Bytes::new(75_000));
        assert_eq!(settings.get(CONTROL), Control::Window);
        assert_eq!(settings.get(INTERVAL), Interval::Word(Event::BaseRtt));
        assert_eq!(settings.get(UPDATE), Some(Span::from_millis(10)));
        assert_eq!(settings.get(INITIAL), None);
        assert_eq!(settings.get(MARKS), 31);
    }

    #[test]
    fn a_preset_sets_other_parameters_and_written_values_override_it_in_any_order() {
        crate::words! { enum Preset { Paper = "paper", Small = "small" } }
        const PRESET: Key<Preset> = word("preset", Preset::Paper)
            .presets(&[("small", &[("phi1", Value::Number(2.0)), ("marks", Value::Number(3.0))])]);
        static PRESETS: Keys = &[&PHI1, &MARKS, &PRESET];
        let read =
            |written: &[(&'static str, Value)]| Settings::check(PRESETS, written.iter().cloned()).unwrap();
        let small = ("preset", Value::text("small"));
        let settings = read(std::slice::from_ref(&small));
        assert_eq!((settings.get(PHI1), settings.get(MARKS)), (2.0, 3));
        assert_eq!(settings.get(PRESET), Preset::Small);
        for order in [[0, 1], [1, 0]] {
            let both = [small.clone(), ("phi1", Value::Number(7.0))];
            let settings = read(&order.map(|index| both[index].clone()));
            assert_eq!((settings.get(PHI1), settings.get(MARKS)), (7.0, 3));
        }
        assert_eq!(read(&[("preset", Value::text("paper"))]).get(PHI1), 10.0);
    }

    #[test]
    fn a_value_reads_as_the_type_of_its_key() {
        assert_eq!(read("control", Value::text("rate")).unwrap().get(CONTROL), Control::Rate);
        let interval = |value| read("interval", value).unwrap().get(INTERVAL);
        assert_eq!(interval(Value::text("round")), Interval::Word(Event::Round));
        assert_eq!(interval(Value::Count("acks".into(), 4.0)), Interval::Acks(4));
        assert_eq!(interval(Value::text("10ms")), Interval::Span(Span::from_millis(10)));
        assert_eq!(read("update", Value::text("mean-rtt")).unwrap().get(UPDATE), None);
        assert_eq!(read("initial", Value::Number(2.0)).unwrap().get(INITIAL), Some(2.0));
    }

    #[test]
    fn a_share_may_be_a_percentage() {
        const BETA: Key<f64> = number("beta", "1", 0.5, above(0.0).to(1.0));
        static SHARES: Keys = &[&BETA, &PHI1];
        let read = |name, text| Settings::check(SHARES, [(name, Value::text(text))]);
        assert_eq!(read("beta", "70%").unwrap().get(BETA), 0.7);
        assert_eq!(read("beta", "2.5 %").unwrap().get(BETA), 0.025);
        let error = |name, text| read(name, text).unwrap_err().to_string();
        assert_eq!(error("beta", "170%"), "beta: expected a number above 0, at most 1, found 1.7");
        assert_eq!(error("beta", "much%"), "beta: expected a number above 0, at most 1, found \"much%\"");
        // A pure number that may exceed one is no share.
        assert_eq!(error("phi1", "70%"), "phi1: expected a number above 1, found \"70%\"");
    }

    #[test]
    fn a_default_is_listed_as_a_scenario_would_write_it() {
        let settings = Settings::check(KEYS, []).unwrap();
        let written: Vec<_> = settings.written().map(|(name, value)| format!("{name} = {value}")).collect();
        let expected = [
            "control = \"window\"",
            "initial = \"rfc\"",
            "interval = \"base-rtt\"",
            "marks = 31",
            "max_th = \"75KB\"",
            "phi1 = 10",
            "update = \"10ms\"",
        ];
        assert_eq!(written, expected);
    }

    #[test]
    fn a_default_outside_of_its_domain_is_refused() {
        static KEYS: Keys = &[&number("gain", "1", 0.0, above(0.0))];
        let fault = Settings::check(KEYS, []).unwrap_err();
        assert_eq!(fault.to_string(), "gain: expected a number above 0, found 0");
    }

    #[test]
    #[should_panic(expected = "parameter gain is not in the protocol's table with this type")]
    #[cfg(debug_assertions)]
    fn a_key_that_is_missing_from_the_table_panics() {
        Settings::check(KEYS, []).unwrap().get(number("gain", "1", 0.5, above(0.0)));
    }

    #[test]
    fn a_refused_setting_has_the_reason_and_the_nearest_name() {
        let fault = |name, value| read(name, value).unwrap_err().to_string();
        assert_eq!(fault("phi1", Value::Number(1.0)), "phi1: expected a number above 1, found 1");
        assert_eq!(fault("phi1", Value::Number(f64::NAN)), "phi1: expected a number above 1, found NaN");
        assert_eq!(fault("phi1", Value::Number(f64::INFINITY)), "phi1: expected a number above 1, found inf");
        assert!(fault("ph1", Value::Number(5.0)).ends_with("(did you mean \"phi1\"?)"));
        assert!(fault("control", Value::text("windwo")).ends_with("(did you mean \"window\"?)"));
        assert!(fault("max_th", Value::text("75")).contains("no unit"));
        assert!(fault("interval", Value::Count("packets".into(), 4.0)).contains("{ acks = n }"));
        assert!(fault("initial", Value::Number(0.0)).contains("\"rfc\" or a number from 1 to 100"));
    }
}
