//! The values of a scenario that the page changes by sliders and lists.

use crate::catalogue::{Choice, choices, is_reading, range, unit};
use crate::readings::law_key;
use crate::written::{Found, find};
use millpond_law::{Domain, Parameter};
use millpond_protocols::Registry;
use millpond_scenario::Scenario;
use millpond_terminal::parameter_default;
use millpond_units::Span;
use serde::Serialize;
use toml_edit::{DocumentMut, Value};

/// A value that can be changed: `path=NUMBERunit`, or `path=word`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Slider {
    /// The key, as `--set` takes it.
    pub(crate) path: String,
    /// `Capacity`, `RTT`, `Flows`, `Buffer`, `Time`, or the name of a protocol or a queue.
    pub(crate) group: String,
    pub(crate) label: String,
    /// What a number is followed by in an override; empty for pure numbers.
    pub(crate) unit: String,
    /// The number; null if the value is a word.
    pub(crate) value: Option<f64>,
    /// The value as a scenario writes it, without quotes.
    pub(crate) text: String,
    pub(crate) minimum: f64,
    pub(crate) maximum: f64,
    pub(crate) scale: Spacing,
    pub(crate) kind: Kind,
    /// Whether numbers are whole.
    pub(crate) whole: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) choices: Vec<Choice>,
    /// Whether the values are readings or variants of a law.
    pub(crate) reading: bool,
    /// What it does.
    pub(crate) meaning: String,
    /// The equation, table or section that it comes from.
    pub(crate) origin: String,
    /// The key of a protocol's parameter in the readings of its paper: `lgcc.control`; empty for other values.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) law: String,
}

/// How the values are spaced along a slider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Spacing {
    #[default]
    Linear,
    Log,
}

/// A number or one of some words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    #[default]
    Number,
    Choice,
}

/// A number with its unit as a scenario writes it: `5Mbps`, `1bdp`, `0.3`.
#[derive(Clone, Debug, PartialEq)]
struct Quantity {
    number: f64,
    unit: String,
}

impl Quantity {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|c: char| !(c.is_ascii_digit() || "._".contains(c))).unwrap_or(text.len());
        let number = text.get(..end)?.replace('_', "").parse().ok()?;
        Some(Self { number, unit: text.get(end..)?.trim().to_owned() })
    }
}

/// The value of a key as a scenario writes it, without quotes.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.value().clone(),
        Value::Integer(whole) => whole.value().to_string(),
        Value::Float(number) => number.value().to_string(),
        other => other.to_string().trim().to_owned(),
    }
}

/// The sliders of a scenario: `original` is its text, `changed` the same with overrides. Ranges depend on the original, so
/// that they stay while a slider moves.
pub(crate) fn sliders(original: &DocumentMut, changed: &DocumentMut, registry: &Registry) -> Vec<Slider> {
    let all = Documents { original, changed };
    let mut sliders = all.of_links();
    sliders.extend(all.of_flows(registry));
    sliders.extend(all.duration());
    sliders.extend(all.of_protocols(registry));
    sliders.extend(all.of_queues(registry));
    sliders
}

/// Raises the lower ends of base RTTs to what the links of their paths take: `rtt` can only lengthen a path.
pub(crate) fn raise_base_rtts(sliders: &mut [Slider], scenario: &Scenario) {
    for group in &scenario.flows {
        let path = format!("flows.{}.rtt", group.name.value);
        let Some(slider) = sliders.iter_mut().find(|slider| slider.path == path) else { continue };
        let unit = format!("1{}", slider.unit).parse().map(Span::secs);
        if let (Ok(unit), Some(now)) = (unit, slider.value) {
            slider.minimum = slider.minimum.max(scenario.least_rtt(group).secs() / unit).min(now);
        }
    }
}

/// The shorthands that describe links, each with the keys under which they stand.
const SHORTHANDS: [&str; 7] =
    ["dumbbell", "parking-lot", "chain", "tree", "leaf-spine", "fat-tree", "topology"];

#[derive(Clone, Copy)]
struct Documents<'a> {
    original: &'a DocumentMut,
    changed: &'a DocumentMut,
}

impl Documents<'_> {
    /// The slider of a quantity with a unit, from its value in the text divided by `below` to `above` times it, on a
    /// logarithmic axis; none if the value is a word, a table or absent.
    fn quantity(&self, path: &str, group: &str, label: &str, below: f64, above: f64) -> Option<Slider> {
        let text = text_of(find(self.changed, path)?.value()?);
        let now = Quantity::parse(&text)?;
        let original = find(self.original, path).and_then(Found::value).map(text_of);
        let original = original.and_then(|text| Quantity::parse(&text)).filter(|one| one.unit == now.unit);
        let around = original.map_or(now.number, |original| original.number);
        let around = if around > 0.0 { around } else { 1.0 };
        Some(Slider {
            path: path.to_owned(),
            group: group.to_owned(),
            label: label.to_owned(),
            minimum: (around / below).min(now.number),
            maximum: (around * above).max(now.number),
            scale: if now.number > 0.0 { Spacing::Log } else { Spacing::Linear },
            unit: now.unit,
            value: Some(now.number),
            text,
            ..Slider::default()
        })
    }

    /// The duration, which is longer than the time before the measurement.
    fn duration(self) -> Option<Slider> {
        let slider = self.quantity("duration", "Time", "duration", 16.0, 2.0)?;
        let from = find(self.changed, "measure.from").and_then(Found::value).map(text_of);
        let seconds = |text: &str| text.parse().ok().map(Span::secs);
        let unit = seconds(&format!("1{}", slider.unit))?;
        let before = from.and_then(|from| seconds(&from)).unwrap_or_default() / unit;
        Some(Slider { minimum: slider.minimum.max(1.1 * before).min(slider.maximum), ..slider })
    }

    /// Rates, delays and buffers of links that have tables of their own, and of those of shorthands.
    fn of_links(&self) -> Vec<Slider> {
        let names = |path: &str| find(self.changed, path).map(Found::names).unwrap_or_default();
        let own = names("links").into_iter().map(|name| (format!("links.{name}"), name));
        let of_shorthand = |shorthand: &&str| {
            let keys = names(shorthand).into_iter();
            keys.map(|key| (format!("{shorthand}.{key}"), key)).collect::<Vec<_>>()
        };
        let links = own.chain(SHORTHANDS.iter().flat_map(of_shorthand));
        links.flat_map(|(path, name)| self.of_link(&path, &name)).collect()
    }

    fn of_link(&self, path: &str, name: &str) -> Vec<Slider> {
        let key = |key: &str| format!("{path}.{key}");
        let rate = self.quantity(&key("rate"), "Capacity", &format!("{name}: capacity"), 20.0, 20.0);
        let scaled = find(self.changed, &key("rate.trace.file")).map(|_| Slider {
            label: format!("{name}: factor on the trace"),
            ..self.number(&key("rate.trace.scale"), "Capacity", 1.0, (0.05, 20.0))
        });
        let delay = self.quantity(&key("delay"), "RTT", &format!("{name}: one-way delay"), 20.0, 20.0);
        let buffer = self.quantity(&key("buffer"), "Buffer", &format!("{name}: buffer"), 20.0, 20.0);
        [rate, scaled, delay, buffer].into_iter().flatten().collect()
    }

    /// The slider of a pure number with a default, on a logarithmic axis.
    fn number(&self, path: &str, group: &str, default: f64, (minimum, maximum): (f64, f64)) -> Slider {
        let written = find(self.changed, path).and_then(Found::value).map(text_of);
        let value = written.as_deref().and_then(|text| text.parse().ok()).unwrap_or(default);
        Slider {
            path: path.to_owned(),
            group: group.to_owned(),
            label: path.to_owned(),
            value: Some(value),
            text: value.to_string(),
            minimum: minimum.min(value),
            maximum: maximum.max(value),
            scale: Spacing::Log,
            ..Slider::default()
        }
    }

    /// Laws, numbers and base RTTs of flows.
    fn of_flows(&self, registry: &Registry) -> Vec<Slider> {
        let names = find(self.changed, "flows").map(Found::names).unwrap_or_default();
        let of_group = |name: String| {
            let path = format!("flows.{name}");
            // Without a count there is one flow for each path, of which a shorthand may have several.
            let has_count = find(self.changed, &format!("{path}.count")).is_some();
            let is_single = SHORTHANDS.iter().all(|shorthand| find(self.changed, shorthand).is_none());
            let count = (has_count || is_single).then(|| {
                let slider = self.number(&format!("{path}.count"), "Flows", 1.0, (1.0, 10.0));
                let label = format!("{name}: number of flows");
                Slider { whole: true, scale: Spacing::Linear, label, ..slider }
            });
            let rtt = self.quantity(&format!("{path}.rtt"), "RTT", &format!("{name}: base RTT"), 20.0, 20.0);
            [self.law(&name, registry), count, rtt]
        };
        names.into_iter().flat_map(of_group).flatten().collect()
    }

    /// The choice of the law of a group of flows; none if a comparison does not change it.
    fn law(&self, group: &str, registry: &Registry) -> Option<Slider> {
        let path = format!("flows.{group}.protocol");
        let is_pinned = find(self.changed, &format!("flows.{group}.pinned")).and_then(Found::value);
        if is_pinned.and_then(Value::as_bool).unwrap_or(false) {
            return None;
        }
        let text = text_of(find(self.changed, &path)?.value()?);
        let names = registry.protocols().map(|protocol| protocol.card());
        let choice =
            |card: &millpond_law::Card| Choice { value: card.name.into(), meaning: card.title.into() };
        Some(Slider {
            path,
            group: "Protocol".into(),
            label: group.to_owned(),
            text,
            kind: Kind::Choice,
            choices: names.map(choice).collect(),
            meaning: "the control law of the flows".into(),
            ..Slider::default()
        })
    }

    /// The parameters of queues that a link sets in a table. Beside a preset, which sets others, only those in the text.
    fn of_queues(&self, registry: &Registry) -> Vec<Slider> {
        let links = find(self.changed, "links").map(Found::names).unwrap_or_default();
        let of_link = |link: &String| {
            let path = format!("links.{link}.queue");
            let names = find(self.changed, &path).map(Found::names).unwrap_or_default();
            let of_queue = |name: &String| {
                let Ok(queue) = registry.queue(name) else { return Vec::new() };
                let written = |key: &str| find(self.changed, &format!("{path}.{name}.{key}")).is_some();
                let parameters = queue.card().parameters.iter().map(|key| key.parameter());
                let shown = parameters.filter(|one| !written("preset") || written(one.name));
                let group = format!("{name} at {link}");
                shown
                    .map(|one| self.of_parameter(&format!("{path}.{name}.{}", one.name), &group, &one))
                    .collect()
            };
            names.iter().flat_map(of_queue).collect::<Vec<_>>()
        };
        links.iter().flat_map(of_link).collect()
    }

    /// The parameters of each protocol that a flow uses, in all of its loops or in single ones.
    fn of_protocols(&self, registry: &Registry) -> Vec<Slider> {
        let groups = find(self.changed, "flows").map(Found::names).unwrap_or_default();
        let used =
            |group: &String| Some(text_of(find(self.changed, &format!("flows.{group}.protocol"))?.value()?));
        let mut entries: Vec<String> = groups.iter().filter_map(used).collect();
        let in_loops: Vec<String> = entries.iter().flat_map(|entry| self.in_loops(entry)).collect();
        entries.extend(in_loops);
        entries.sort();
        entries.dedup();
        entries.iter().flat_map(|entry| self.of_protocol(entry, registry)).collect()
    }

    /// The protocols of single loops of an entry.
    fn in_loops(&self, entry: &str) -> Vec<String> {
        let path = format!("protocols.{entry}.loops");
        let relays = find(self.changed, &path).map(Found::names).unwrap_or_default();
        let protocol =
            |relay: &String| Some(text_of(find(self.changed, &format!("{path}.{relay}"))?.value()?));
        relays.iter().filter_map(protocol).collect()
    }

    fn of_protocol(&self, entry: &str, registry: &Registry) -> Vec<Slider> {
        let path = format!("protocols.{entry}");
        let named = find(self.changed, &format!("{path}.protocol")).and_then(Found::value).map(text_of);
        let Ok(protocol) = registry.protocol(named.as_deref().unwrap_or(entry)) else { return Vec::new() };
        let card = protocol.card();
        let slider = |parameter: Parameter| Slider {
            law: law_key(card.name, parameter.name),
            ..self.of_parameter(&format!("{path}.params.{}", parameter.name), entry, &parameter)
        };
        card.parameters.iter().map(|key| slider(key.parameter())).collect()
    }

    fn of_parameter(&self, path: &str, group: &str, parameter: &Parameter) -> Slider {
        let written = |document| find(document, path).and_then(Found::value).map(text_of);
        let default = parameter_default(parameter);
        let text = written(self.changed).unwrap_or_else(|| default.clone());
        let original = written(self.original).unwrap_or(default);
        let is_choice = matches!(parameter.domain, Domain::Word(_) | Domain::Flag);
        let quantity = Quantity::parse(&text).filter(|_| !is_choice);
        let around = Quantity::parse(&original).map_or(1.0, |original| original.number);
        let ends = SliderRange::of(&parameter.domain, around, quantity.as_ref().map(|now| now.number));
        Slider {
            path: path.to_owned(),
            group: group.to_owned(),
            label: parameter.name.to_owned(),
            unit: match &quantity {
                Some(quantity) if !quantity.unit.is_empty() => quantity.unit.clone(),
                _ => unit_in_text(&original),
            },
            value: quantity.map(|quantity| quantity.number),
            text,
            minimum: ends.minimum,
            maximum: ends.maximum,
            scale: ends.scale,
            kind: if is_choice { Kind::Choice } else { Kind::Number },
            whole: matches!(parameter.domain, Domain::Whole(_)),
            choices: choices(parameter),
            reading: is_reading(&parameter.domain),
            meaning: described(parameter),
            origin: parameter.source.to_owned(),
            law: String::new(),
        }
    }
}

/// The meaning with the unit of pure numbers that have one in words, such as packets.
fn described(parameter: &Parameter) -> String {
    match (unit(parameter), &parameter.domain) {
        ("", _) | (_, Domain::Span { .. } | Domain::Bytes { .. } | Domain::Rate) => {
            parameter.meaning.to_owned()
        }
        (unit, _) => format!("{} ({unit})", parameter.meaning),
    }
}

/// The unit of a quantity; empty for words and pure numbers.
fn unit_in_text(text: &str) -> String {
    Quantity::parse(text).map_or_else(String::new, |quantity| quantity.unit)
}

/// The ends of a slider.
struct SliderRange {
    minimum: f64,
    maximum: f64,
    scale: Spacing,
}

impl SliderRange {
    /// The domain where it is bounded, else a factor of 20 around `around`; `now` always lies in it. A lower end that the
    /// domain excludes is replaced by one nearer to `around`.
    fn of(domain: &Domain, around: f64, now: Option<f64>) -> Self {
        const FACTOR: f64 = 20.0;
        let (low, high) = range(domain);
        let around = if around > 0.0 { around } else { 1.0 };
        // Some bounds only exclude mistakes.
        let high = high.filter(|high| *high <= 100.0 * FACTOR * around).unwrap_or(FACTOR * around);
        let contains = |end: f64| domain.contains(&millpond_law::Value::Number(end)) == Ok(true);
        let low = low.map(|low| if contains(low) { low } else { low + (around - low) / FACTOR });
        let low = low.filter(|low| *low > 0.0 || high <= 1.0);
        let now = now.unwrap_or(around);
        match low {
            Some(low) if low <= 0.0 || high / low < FACTOR => {
                Self { minimum: low.min(now), maximum: high.max(now), scale: Spacing::Linear }
            }
            low => {
                let least = low.unwrap_or(0.0).max(around / FACTOR);
                let is_log = now > 0.0 && least > 0.0;
                let scale = if is_log { Spacing::Log } else { Spacing::Linear };
                Self { minimum: least.min(now), maximum: high.max(now), scale }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written::{document, replace};

    const TEXT: &str = r#"
duration = "10s"
links = [{ name = "L", between = ["A", "B"], rate = "10Mbps", delay = "5ms", buffer = "1bdp" }]
[[flows]]
name = "f"
protocol = "mine"
path = ["A", "B"]
rtt = "60ms"
[protocols.mine]
protocol = "lgcc"
params = { phi1 = 10 }
"#;

    fn of(overrides: &[&str]) -> Vec<Slider> {
        let original = document(TEXT).unwrap();
        let mut changed = original.clone();
        overrides.iter().for_each(|one| replace(&mut changed, one).unwrap());
        sliders(&original, &changed, &Registry::builtin())
    }

    fn one(sliders: &[Slider], path: &str) -> Slider {
        sliders.iter().find(|slider| slider.path == path).unwrap_or_else(|| panic!("no {path}")).clone()
    }

    #[test]
    fn links_flows_and_every_parameter_of_a_used_protocol_have_sliders() {
        let sliders = of(&[]);
        let of_network =
            ["links.L.rate", "links.L.delay", "links.L.buffer", "flows.f.count", "flows.f.rtt", "duration"];
        let groups: Vec<String> = of_network.iter().map(|path| one(&sliders, path).group).collect();
        assert_eq!(groups, ["Capacity", "RTT", "Buffer", "Flows", "RTT", "Time"]);
        let registry = Registry::builtin();
        let card = registry.protocol("lgcc").unwrap().card();
        for parameter in card.parameters.iter().map(|key| key.parameter()) {
            let slider = one(&sliders, &format!("protocols.mine.params.{}", parameter.name));
            assert_eq!((slider.group.as_str(), slider.origin.as_str()), ("mine", parameter.source));
        }
        assert_eq!(one(&sliders, "protocols.mine.params.phi1").value, Some(10.0));
        let control = one(&sliders, "protocols.mine.params.control");
        assert!(control.reading && control.kind == Kind::Choice && control.choices.len() > 1, "{control:?}");
    }

    #[test]
    fn the_ends_of_a_slider_stay_while_it_moves_and_hold_its_value() {
        let (still, moved) = (of(&[]), of(&["links.L.rate=20Mbps", "protocols.mine.params.phi1=12"]));
        for path in ["links.L.rate", "protocols.mine.params.phi1"] {
            let [still, moved] = [one(&still, path), one(&moved, path)];
            assert_eq!((still.minimum, still.maximum), (moved.minimum, moved.maximum), "{path}");
            assert_ne!(still.value, moved.value);
        }
        for slider in still.iter().chain(&moved).filter(|slider| slider.kind == Kind::Number) {
            let Some(value) = slider.value else { continue };
            assert!((slider.minimum..=slider.maximum).contains(&value), "{slider:?}");
            assert!(slider.minimum < slider.maximum, "{slider:?}");
            assert!(slider.scale == Spacing::Linear || slider.minimum > 0.0, "{slider:?}");
        }
        let shortest = one(&of(&["measure.from=4000ms"]), "duration").minimum;
        assert!((shortest - 4.4).abs() < 1e-9, "{shortest}");
        assert!(one(&of(&["links.L.rate=1Gbps"]), "links.L.rate").maximum >= 1.0);
    }

    #[test]
    fn a_base_rtt_is_no_shorter_than_its_path() {
        let mut sliders = of(&["links.L.delay=20ms"]);
        let overrides = ["links.L.delay=20ms".to_owned()];
        let files = millpond_scenario::Disk;
        let scenario = Scenario::parse(TEXT, "text", std::path::Path::new(""), &overrides, &files).unwrap();
        assert!((one(&sliders, "flows.f.rtt").minimum - 3.0).abs() < 1e-9);
        raise_base_rtts(&mut sliders, &scenario);
        assert!((one(&sliders, "flows.f.rtt").minimum - 40.0).abs() < 1e-9);
    }

    /// The gain of DCTCP must be above zero, and the base of LGCC's marks above one.
    #[test]
    fn the_ends_of_a_slider_are_values_that_the_parameter_can_have() {
        let registry = Registry::builtin();
        let laws = registry.protocols().map(|protocol| (protocol.card().name, protocol.card().parameters));
        let queues = registry.queues().map(|queue| (queue.card().name, queue.card().parameters));
        for (name, key) in laws.chain(queues).flat_map(|(name, keys)| keys.iter().map(move |key| (name, key)))
        {
            let parameter = key.parameter();
            let around =
                Quantity::parse(&parameter_default(&parameter)).map_or(1.0, |default| default.number);
            let ends = SliderRange::of(&parameter.domain, around, Some(around));
            let is_number = matches!(parameter.domain, Domain::Number(_) | Domain::Whole(_));
            for end in
                [ends.minimum, ends.maximum].map(|end| if is_whole(&parameter) { end.round() } else { end })
            {
                let value = millpond_law::Value::Number(end);
                assert!(
                    !is_number || parameter.domain.contains(&value) == Ok(true),
                    "{name}: {} = {end}",
                    parameter.name
                );
            }
        }
    }

    fn is_whole(parameter: &Parameter) -> bool {
        matches!(parameter.domain, Domain::Whole(_))
    }

    #[test]
    fn the_protocol_of_a_single_loop_has_sliders_as_that_of_the_flow() {
        let text = TEXT.replace("phi1 = 10 }", "phi1 = 10 }\nrelays = [\"R\"]\nloops = { R = \"pledge\" }");
        let original = document(&text).unwrap();
        let sliders = sliders(&original, &original, &Registry::builtin());
        assert_eq!(one(&sliders, "protocols.pledge.params.target").group, "pledge");
        assert_eq!(one(&sliders, "protocols.mine.params.phi1").value, Some(10.0));
    }
}
