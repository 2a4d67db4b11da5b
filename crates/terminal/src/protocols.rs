//! The registered protocols and queues, and one of them with its parameters.

use millpond_law::key::Keys;
use millpond_law::{Knowledge, Needs, Parameter, Protocol, Queue, Settings, Value};
use millpond_protocols::Registry;
use millpond_tables::{Document, text_table};

/// Every protocol and every queue, one line each.
pub fn protocols(registry: &Registry) -> Document {
    let mut rows = text_table(&["protocol", "title", "default queue", "source"]);
    for card in registry.protocols().map(Protocol::card) {
        rows.add_row([card.name, card.title, card.queue.name, card.source]);
    }
    let mut queues = text_table(&["queue", "title", "source"]);
    for card in registry.queues().map(Queue::card) {
        queues.add_row([card.name, card.title, card.source]);
    }
    Document::default().table(rows).table(queues)
}

/// Parameters, one row each.
pub fn parameter_table(keys: Keys) -> Document {
    let mut rows = text_table(&["parameter", "default", "unit", "domain", "meaning", "source"]);
    for parameter in keys.iter().map(|key| key.parameter()) {
        let Parameter { name, unit, meaning, source, .. } = parameter;
        let (default, domain) = (parameter_default(&parameter), parameter.domain.to_string());
        rows.add_row([name, &default, unit, &domain, meaning, source]);
    }
    Document::default().table(rows)
}

/// One protocol, or one queue, with its parameters; none if there is neither.
pub fn protocol(registry: &Registry, name: &str) -> Option<Document> {
    if let Ok(protocol) = registry.protocol(name) {
        let card = protocol.card();
        return Some(Document::default().text(format!(
            "{} - {}\n{}\n\nsource         {}\nneeds          {}\ndefault queue  {}\nfluid model    {}\n\n{}",
            card.name,
            card.title,
            card.summary,
            card.source,
            needs(&card.needs),
            default_queue(card.queue.name, card.queue.settings),
            fluid_model(protocol),
            parameters(card.parameters),
        )));
    }
    let card = registry.queue(name).ok()?.card();
    Some(Document::default().text(format!(
        "{} - {}\n\nsource  {}\n\n{}",
        card.name,
        card.title,
        card.source,
        parameters(card.parameters)
    )))
}

fn needs(needs: &Needs) -> String {
    let capacity = match needs.capacity {
        Knowledge::Nothing => "",
        Knowledge::AtStart => "the path's capacity at the start",
        Knowledge::Live => "the capacity of the link that it feeds, as it changes",
    };
    let needs = [
        if needs.header == millpond_law::HeaderId::NONE { "" } else { "a header of its own" },
        if needs.ecn.is_some() { "ECN" } else { "" },
        if needs.relays { "relays" } else { "" },
        capacity,
    ];
    let needs: Vec<_> = needs.into_iter().filter(|need| !need.is_empty()).collect();
    if needs.is_empty() { "nothing".to_owned() } else { needs.join(", ") }
}

fn default_queue(name: &str, settings: &[(&str, &str)]) -> String {
    let settings: Vec<_> = settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if settings.is_empty() { name.to_owned() } else { format!("{name} ({})", settings.join(", ")) }
}

/// Whether it has equations under its default settings, and what they leave out.
fn fluid_model(protocol: &dyn Protocol) -> String {
    let settings = Settings::check(protocol.card().parameters, []).ok();
    match settings.and_then(|settings| protocol.fluid(&settings).ok().flatten()) {
        None => "no equations".to_owned(),
        Some(model) if model.left_out().is_empty() => "yes".to_owned(),
        Some(model) => format!("without {}", model.left_out().join("; ")),
    }
}

/// Each parameter with its default, its unit and its domain; below, its meaning and its source.
fn parameters(keys: Keys) -> String {
    if keys.is_empty() {
        return "It has no parameters.\n".to_owned();
    }
    let entry = |p: Parameter| {
        let unit = if p.unit.is_empty() || p.unit == "1" { String::new() } else { format!(" [{}]", p.unit) };
        format!(
            "{} = {}{unit}: {}\n    {} ({})\n",
            p.name,
            parameter_default(&p),
            p.domain,
            p.meaning,
            p.source
        )
    };
    keys.iter().map(|key| entry(key.parameter())).collect()
}

/// The default as a scenario would write it, a text without its quotation marks.
pub fn parameter_default(parameter: &Parameter) -> String {
    match &parameter.default {
        Value::Text(text) => text.to_string(),
        other => other.to_string(),
    }
}
