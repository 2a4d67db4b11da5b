//! What about a scenario can be varied: the round-trip time, the number of flows, a parameter of a protocol.

use millpond_law::Value;
use millpond_protocols::Registry;
use millpond_scenario::{At, Buffer, Delay, Place, ProtocolEntry, Relays, Rtt, Scenario, Setting};
use millpond_units::format::{at_most_decimals, four_digits_or_exponent};
use millpond_units::{Bytes, Rate, Span, nearest};

/// Something that can be varied.
#[derive(Clone, Debug, PartialEq)]
pub enum Knob {
    /// All round-trip times, in proportion; its value is that of the flow with the longest one, in seconds.
    Rtt,
    /// All groups of flows, in proportion; its value is the number of flows.
    Flows,
    /// A parameter with a number.
    Parameter {
        /// As flows call the protocol.
        protocol: String,
        /// The parameter's name.
        name: String,
        /// What its value was written with.
        unit: &'static str,
    },
}

impl Knob {
    /// `rtt`, `flows`, or `protocols.NAME.params.PARAMETER`.
    ///
    /// # Errors
    /// Says what there is, with the nearest spelling.
    pub fn read(text: &str, scenario: &Scenario, registry: &Registry) -> Result<Self, String> {
        match text {
            "rtt" => return Ok(Self::Rtt),
            "flows" => return Ok(Self::Flows),
            _ => {}
        }
        let known = known(scenario, registry);
        if let Some((_, knob)) = known.iter().find(|(name, _)| name == text) {
            return Ok(knob.clone());
        }
        let names: Vec<&str> =
            ["rtt", "flows"].into_iter().chain(known.iter().map(|(name, _)| name.as_str())).collect();
        let ends = format!(".{text}");
        let by_its_end = names.iter().copied().find(|name| name.ends_with(&ends));
        let hint = match by_its_end.or_else(|| nearest(text, names.iter().copied())) {
            Some(near) => format!("did you mean \"{near}\"? "),
            None => String::new(),
        };
        Err(format!(
            "nothing that could be varied is called \"{text}\"; {hint}there are: {}",
            names.join(", ")
        ))
    }

    /// What it is called.
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
    pub fn show(&self, value: f64) -> String {
        match self {
            Self::Rtt if value >= 10.0 => format!("{value:.1} s"),
            Self::Rtt => format!("{} ms", trimmed(value * 1e3)),
            Self::Flows => format!("{value:.0}"),
            Self::Parameter { unit, .. } => {
                format!("{}{}{unit}", four_digits_or_exponent(value), if unit.is_empty() { "" } else { " " })
            }
        }
    }

    /// Its present value.
    #[must_use]
    pub fn now(&self, scenario: &Scenario, registry: &Registry, longest_rtt: f64) -> f64 {
        match self {
            Self::Rtt => longest_rtt,
            Self::Flows => scenario.flows.iter().map(|group| f64::from(group.count)).sum(),
            Self::Parameter { protocol, name, .. } => {
                let known = known_values(scenario, registry, protocol);
                known.iter().find(|(known, _)| known == name).map_or(f64::NAN, |(_, value)| *value)
            }
        }
    }

    /// The value as it can be: there is no less than one flow.
    pub(super) fn least(&self, value: f64) -> f64 {
        if *self == Self::Flows { value.max(1.0) } else { value }
    }

    /// The scenario with this factor times its present value.
    #[must_use]
    pub fn scaled(&self, scenario: &Scenario, now: f64, factor: f64) -> Scenario {
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
                set(&mut scenario, protocol, name, now * factor, unit)
            }
        }
        scenario
    }
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

/// Every numeric parameter of every protocol that flows run.
fn known(scenario: &Scenario, registry: &Registry) -> Vec<(String, Knob)> {
    let mut known = Vec::new();
    for group in &scenario.flows {
        let protocol = &group.protocol.value;
        for (name, _) in known_values(scenario, registry, protocol) {
            let unit = unit_of(scenario, registry, protocol, &name);
            let knob = Knob::Parameter { protocol: protocol.clone(), name: name.clone(), unit };
            let called = knob.name();
            if known.iter().all(|(other, _)| *other != called) {
                known.push((called, knob));
            }
        }
    }
    known
}

/// The parameters of a protocol that have a number, and the number, in base units.
fn known_values(scenario: &Scenario, registry: &Registry, protocol: &str) -> Vec<(String, f64)> {
    let entry = scenario.protocols.get(protocol);
    let registered = entry.map_or(protocol, |entry| &entry.protocol.value);
    let Ok(registered) = registry.protocol(registered) else { return Vec::new() };
    let value = |parameter: millpond_law::Parameter| {
        let written =
            entry.and_then(|entry| entry.params.iter().find(|setting| setting.name.value == parameter.name));
        let number = match written.map(|setting| &setting.value.value) {
            Some(millpond_scenario::Value::Number(number)) => Some(*number),
            Some(millpond_scenario::Value::Text(text)) => quantity(text),
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

/// `s`, `B` or `bps` where the parameter is written with a unit.
fn unit_of(scenario: &Scenario, registry: &Registry, protocol: &str, name: &str) -> &'static str {
    let entry = scenario.protocols.get(protocol);
    let registered = entry.map_or(protocol, |entry| &entry.protocol.value);
    let default = registry.protocol(registered).ok().and_then(|protocol| {
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

fn quantity(text: &str) -> Option<f64> {
    let span = text.parse::<Span>().map(Span::secs).ok();
    let bytes = || text.parse::<Bytes>().map(Bytes::as_f64).ok();
    let rate = || text.parse::<Rate>().map(Rate::as_f64).ok();
    span.or_else(bytes).or_else(rate)
}

fn set(scenario: &mut Scenario, protocol: &str, name: &str, value: f64, unit: &str) {
    let value = match unit {
        "" => millpond_scenario::Value::Number(value),
        "s" => millpond_scenario::Value::Text(format!("{}us", value * 1e6)),
        unit => millpond_scenario::Value::Text(format!("{}{unit}", value.round())),
    };
    let entry = scenario.protocols.entry(protocol.to_owned()).or_insert_with(|| plain(protocol));
    let place = Place::default();
    match entry.params.iter_mut().find(|setting| setting.name.value == name) {
        Some(setting) => setting.value = At::new(value, place),
        None => {
            entry.params.push(Setting { name: At::new(name.to_owned(), place), value: At::new(value, place) })
        }
    }
}

/// The entry that a protocol has if the scenario says nothing of it.
fn plain(protocol: &str) -> ProtocolEntry {
    ProtocolEntry {
        protocol: At::new(protocol.to_owned(), Place::default()),
        relays: Relays::Nodes(Vec::new()),
        relay_buffer: Buffer::Bdp(2.0),
        aggregate: Relays::Nodes(Vec::new()),
        queue: None,
        params: Vec::new(),
    }
}
