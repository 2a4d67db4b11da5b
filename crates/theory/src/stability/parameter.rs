//! Parameters of a scenario that can be varied: round-trip time, number of flows, a numeric parameter of a protocol.

use crate::Study;
use millpond_fluid::stability::StabilityBoundary;
use millpond_law::Value;
use millpond_scenario::{At, Delay, Place, ProtocolEntry, Rtt, Scenario, SettingValue, WrittenSetting};
use millpond_units::format::{at_most_decimals, four_digits_or_exponent};
use millpond_units::{Bytes, Rate, Span, nearest};

/// A parameter that can be varied.
#[derive(Clone, Debug, PartialEq)]
pub enum VariedParameter {
    /// All round-trip times, in proportion. Its value is the longest round-trip time without queueing, in seconds.
    Rtt,
    /// The sizes of all groups of flows, in proportion. Its value is the total number of flows.
    Flows,
    /// A numeric parameter of a protocol.
    Parameter {
        /// Name by which flows refer to the protocol.
        protocol: String,
        /// Name of the parameter.
        name: String,
        /// Unit in which its value is written: `s`, `B`, `bps`, or empty.
        unit: &'static str,
    },
}

impl VariedParameter {
    /// Reads `rtt`, `flows`, or `protocols.NAME.params.PARAMETER`.
    ///
    /// # Errors
    /// The name is unknown: lists all names, the nearest spelling first.
    pub fn parse(text: &str, study: Study<'_>) -> Result<Self, String> {
        match text {
            "rtt" => return Ok(Self::Rtt),
            "flows" => return Ok(Self::Flows),
            _ => {}
        }
        let known = known_parameters(study);
        if let Some((_, parameter)) = known.iter().find(|(name, _)| name == text) {
            return Ok(parameter.clone());
        }
        let names: Vec<&str> =
            ["rtt", "flows"].into_iter().chain(known.iter().map(|(name, _)| name.as_str())).collect();
        let suffix = format!(".{text}");
        let by_suffix = names.iter().copied().find(|name| name.ends_with(&suffix));
        let hint = match by_suffix.or_else(|| nearest(text, names.iter().copied())) {
            Some(near) => format!("did you mean \"{near}\"? "),
            None => String::new(),
        };
        Err(format!("no parameter is called \"{text}\"; {hint}there are: {}", names.join(", ")))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Rtt => "RTT".to_owned(),
            Self::Flows => "flows".to_owned(),
            Self::Parameter { protocol, name, .. } => format!("protocols.{protocol}.params.{name}"),
        }
    }

    /// A value with its unit.
    #[must_use]
    pub fn format_value(&self, value: f64) -> String {
        match self {
            Self::Rtt if value >= 10.0 => format!("{value:.1} s"),
            Self::Rtt => format!("{} ms", trimmed(value * 1e3)),
            Self::Flows => format!("{value:.0}"),
            Self::Parameter { unit, .. } => {
                format!("{}{}{unit}", four_digits_or_exponent(value), if unit.is_empty() { "" } else { " " })
            }
        }
    }

    /// Its value in the scenario, whose longest round-trip time without queueing is given in seconds.
    #[must_use]
    pub fn current_value(&self, study: Study<'_>, longest_rtt: f64) -> f64 {
        match self {
            Self::Rtt => longest_rtt,
            Self::Flows => number_of_flows(study.scenario),
            Self::Parameter { protocol, name, .. } => {
                let known = numeric_values(study, protocol);
                known.iter().find(|(known, _)| known == name).map_or(f64::NAN, |(_, value)| *value)
            }
        }
    }

    /// The value, but at least one flow.
    pub(super) fn at_least_one(&self, value: f64) -> f64 {
        if *self == Self::Flows { value.max(1.0) } else { value }
    }

    /// The value at a boundary, which is a multiple of `current`. A number of flows is whole: the stable one beside the boundary.
    pub(super) fn at_boundary(&self, scenario: &Scenario, current: f64, found: StabilityBoundary) -> f64 {
        /// More than the relative error of a boundary, and less than the relative difference of two numbers of flows.
        const BESIDE: f64 = 1e-6;
        if *self != Self::Flows {
            return current * found.value;
        }
        let stable = found.value * if found.stable_below { 1.0 - BESIDE } else { 1.0 + BESIDE };
        number_of_flows(&self.scaled(scenario, current, stable))
    }

    /// The scenario with the value `factor` times `current`.
    #[must_use]
    pub fn scaled(&self, scenario: &Scenario, current: f64, factor: f64) -> Scenario {
        let mut scenario = scenario.clone();
        match self {
            Self::Rtt => scale_delays(&mut scenario, factor),
            Self::Flows => {
                for group in &mut scenario.flows {
                    // A count between 1 and that of the map's end.
                    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                    let count = (f64::from(group.count) * factor).round().max(1.0) as u32;
                    group.count = count;
                }
            }
            Self::Parameter { protocol, name, unit } => {
                set(&mut scenario, protocol, name, current * factor, unit)
            }
        }
        scenario
    }
}

fn number_of_flows(scenario: &Scenario) -> f64 {
    scenario.flows.iter().map(|group| f64::from(group.count)).sum()
}

/// At most two decimals below ten, at most one from ten on.
fn trimmed(value: f64) -> String {
    at_most_decimals(value, if value < 10.0 { 2 } else { 1 })
}

fn scale_delays(scenario: &mut Scenario, factor: f64) {
    let scale = |delay: &mut Delay| match delay {
        Delay::Constant(span) => *span = span.scale(factor),
        Delay::Steps(steps) => steps.iter_mut().for_each(|(_, span)| *span = span.scale(factor)),
    };
    for link in &mut scenario.links {
        scale(&mut link.forward.delay);
        if let Some(backward) = &mut link.backward {
            scale(&mut backward.delay);
        }
    }
    for group in &mut scenario.flows {
        group.rtt = group.rtt.map(|rtt| match rtt {
            Rtt::Constant(span) => Rtt::Constant(span.scale(factor)),
            Rtt::Uniform(low, high) => Rtt::Uniform(low.scale(factor), high.scale(factor)),
        });
    }
}

/// Every numeric parameter of every protocol that flows run, with its name.
fn known_parameters(study: Study<'_>) -> Vec<(String, VariedParameter)> {
    let mut known = Vec::new();
    let scenario = study.scenario;
    for protocol in scenario.flows.iter().flat_map(|group| scenario.protocols_of(group)) {
        for (name, _) in numeric_values(study, protocol) {
            let unit = unit_of(study, protocol, &name);
            let parameter = VariedParameter::Parameter { protocol: protocol.value.clone(), name, unit };
            let full_name = parameter.name();
            if known.iter().all(|(other, _)| *other != full_name) {
                known.push((full_name, parameter));
            }
        }
    }
    known
}

/// The numeric parameters of a protocol with their values in base units (s, bytes, bit/s).
fn numeric_values(study: Study<'_>, protocol: &str) -> Vec<(String, f64)> {
    let entry = study.scenario.protocols.get(protocol);
    let registered = entry.map_or(protocol, |entry| &entry.protocol.value);
    let Ok(registered) = study.registry.protocol(registered) else { return Vec::new() };
    let value = |parameter: millpond_law::Parameter| {
        let written =
            entry.and_then(|entry| entry.params.iter().find(|setting| setting.name.value == parameter.name));
        let number = match written.map(|setting| &setting.value.value) {
            Some(SettingValue::Number(number)) => Some(*number),
            Some(SettingValue::Text(text)) => quantity(text),
            Some(_) => None,
            None => match parameter.default {
                Value::Number(number) => Some(number),
                Value::Text(text) => quantity(&text),
                _ => None,
            },
        };
        number.map(|number| (parameter.name.to_owned(), number))
    };
    registered.card().parameters.iter().filter_map(|key| value(key.parameter())).collect()
}

/// `s`, `B` or `bps` where the default of the parameter is written with a unit; otherwise empty.
fn unit_of(study: Study<'_>, protocol: &str, name: &str) -> &'static str {
    let entry = study.scenario.protocols.get(protocol);
    let registered = entry.map_or(protocol, |entry| &entry.protocol.value);
    let default = study.registry.protocol(registered).ok().and_then(|protocol| {
        protocol
            .card()
            .parameters
            .iter()
            .map(|key| key.parameter())
            .find(|parameter| parameter.name == name)
            .and_then(|parameter| parameter.default.as_text().map(str::to_owned))
    });
    match default {
        Some(text) if text.parse::<Span>().is_ok() => "s",
        Some(text) if text.parse::<Bytes>().is_ok() => "B",
        Some(text) if text.parse::<Rate>().is_ok() => "bps",
        _ => "",
    }
}

/// A time, size or rate in base units.
fn quantity(text: &str) -> Option<f64> {
    let span = text.parse::<Span>().map(Span::secs).ok();
    let bytes = || text.parse::<Bytes>().map(Bytes::as_f64).ok();
    let rate = || text.parse::<Rate>().map(Rate::as_f64).ok();
    span.or_else(bytes).or_else(rate)
}

/// Writes a parameter of a protocol with its unit.
fn set(scenario: &mut Scenario, protocol: &str, name: &str, value: f64, unit: &str) {
    let value = match unit {
        "" => SettingValue::Number(value),
        "s" => SettingValue::Text(format!("{}us", value * 1e6)),
        unit => SettingValue::Text(format!("{}{unit}", value.round())),
    };
    let entry = scenario
        .protocols
        .entry(protocol.to_owned())
        .or_insert_with(|| ProtocolEntry::unconfigured(protocol));
    let place = Place::default();
    match entry.params.iter_mut().find(|setting| setting.name.value == name) {
        Some(setting) => setting.value = At::new(value, place),
        None => entry
            .params
            .push(WrittenSetting { name: At::new(name.to_owned(), place), value: At::new(value, place) }),
    }
}
