//! `[[links]]`: names, ends, and the two directions.

use super::capacity::{CAPACITY, DELAY};
use super::link_layers::LINK_LAYER;
use super::loss::LOSS;
use super::queues::{BUFFER, QUEUE};
use super::unique;
use crate::model::{
    Buffer, Capacity, ConfiguredCapacity, ConfiguredRate, Delay, Direction, Levels, Link, LinkLayer, Loss,
    RouterConduct, Scenario, Scheduler,
};
use crate::network::Network;
use crate::place::At;
use crate::table::{
    Field, Fields, Form, JoinedTable, KeyTable, Keyword, ReadContext, Rule, ScenarioKey, Written, array, put,
    set, spellings, stored_key, text,
};
use crate::tree::Raw;
use millpond_units::{Rate, Span};

/// What a link has once, whatever its directions are.
#[derive(Default)]
struct Ends {
    name: At<String>,
    from: At<String>,
    to: At<String>,
}

static ENDS: KeyTable<Ends> = KeyTable {
    name: "link",
    blank: Ends::default,
    plain: None,
    keys: &[
        stored_key! {
            name: "name",
            form: Form::Name,
            rule: Rule::Required("\"L1\""),
            meaning: "the unique name of the link",
            field: name,
        },
        ScenarioKey {
            name: "between",
            form: Form::Pair(&Form::Name, &Form::Name),
            rule: Rule::Required("[\"R1\", \"R2\"]"),
            meaning: "the nodes that it joins",
            read: between,
            write: |ends| Some(array([text(&ends.from.value), text(&ends.to.value)])),
        },
    ],
};

/// The directions of a link.
pub(crate) struct Directions {
    pub(crate) forward: Direction,
    /// `None` if the link is simplex.
    pub(crate) backward: Option<Direction>,
}

static SIMPLEX: KeyTable<bool> = KeyTable {
    name: "link",
    blank: || false,
    plain: None,
    keys: &[ScenarioKey {
        name: "simplex",
        form: Form::Flag,
        rule: Rule::Default("false"),
        meaning: "the link has the forward direction alone",
        read: |simplex, written| written.store(simplex),
        write: put,
    }],
};

static BACK: KeyTable<Directions> = KeyTable {
    name: "link",
    blank: || Directions { forward: Direction::default(), backward: None },
    plain: None,
    keys: &[ScenarioKey {
        name: "back",
        form: Form::Table(&BACK_TABLE),
        rule: Rule::Absent("as forward"),
        meaning: "what differs in the direction from the second node to the first",
        read: |directions, written| {
            let Some(backward) = &mut directions.backward else {
                let help = "remove simplex = true or the back table";
                return written.report("a simplex link has no backward direction", "not here", help);
            };
            let mut fields = Fields::new(written, BACK_TABLE.name)?;
            fields.change(&DIRECTION, backward);
            fields.finish();
            Some(())
        },
        // Written as a table of its own: see `write`.
        write: |_| None,
    }],
};

static BACK_TABLE: JoinedTable = JoinedTable {
    name: "back table",
    parts: &[&DIRECTION],
    otherwise: Some(&Rule::Absent("as forward")),
    summary: Some("table of the keys from `rate` to `scheduler`"),
};

/// The keys of `[[links]]`.
pub(crate) static LINK: JoinedTable = JoinedTable {
    name: "link",
    parts: &[&ENDS, &SIMPLEX, &DIRECTION, &BACK],
    otherwise: None,
    summary: None,
};

/// The keys of a link in a shorthand, which names it and its ends.
pub(crate) static LINK_TEMPLATE: JoinedTable = JoinedTable {
    name: "link template",
    parts: &[&SIMPLEX, &DIRECTION, &BACK],
    otherwise: None,
    summary: Some("table of the keys of a [link](#links) but `name` and `between`"),
};

/// The keys of all links of a topology, none of which is required.
pub(crate) static TOPOLOGY_LINK: JoinedTable = JoinedTable {
    name: "topology link",
    parts: &[&DIRECTION, &BACK],
    otherwise: Some(&Rule::Absent("as in `[[links]]`")),
    summary: Some("table of the keys of a [link](#links) but `name`, `between` and `simplex`"),
};

impl Keyword for Scheduler {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("fifo", Self::Fifo),
        ("fair", Self::Fair),
        ("drr", Self::DeficitRoundRobin),
        ("priority", Self::Priority),
    ];
}

impl Keyword for RouterConduct {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("takes-part", Self::TakesPart),
        ("absent", Self::Absent),
        ("tunnel", Self::Tunnel),
        ("strips", Self::Strips),
    ];
}

/// The keys of one direction of a link.
static DIRECTION: KeyTable<Direction> = KeyTable {
    name: "link",
    blank: Direction::default,
    plain: None,
    keys: &[
        stored_key! {
            name: "rate",
            form: Form::Table(&CAPACITY),
            rule: Rule::Required("\"155Mbps\""),
            meaning: "the capacity",
            field: rate,
        },
        stored_key! {
            name: "configured_rate",
            form: Form::AnyOf(&[
                Form::Word("actual"),
                Form::Count { unit: "%", whole: false },
                Form::Table(&CAPACITY),
            ]),
            rule: Rule::Default("\"actual\""),
            meaning: "the capacity that the link's laws are configured with, if it is not the actual one: a \
                      misconfigured router. `\"80%\"`: this share of the actual one",
            field: configured.rate,
        },
        stored_key! {
            name: "configured_delay",
            form: Form::Span { least: Span::ZERO, most: Span::from_millis(3_600_000) },
            rule: Rule::Default("\"0s\""),
            meaning: "time after which the laws receive a change of the configured rate",
            field: configured.delay,
        },
        ScenarioKey {
            name: "configured_levels",
            form: Form::AnyOf(&[
                Form::Word("exact"),
                Form::Word("scone"),
                Form::Whole { least: 1, most: 1_000_000 },
            ]),
            rule: Rule::Default("\"exact\""),
            meaning: "number of levels, evenly spaced up to its highest rate, to which the configured rate is \
                      rounded; `1`: always the highest, 2^n: n bits. `\"scone\"`: to the nearest of the 127 rates \
                      `100kbps * 10^(n/20)` of a Rate Signal of 7 bits (draft-ietf-scone-protocol)",
            read: |direction, written| set(&mut direction.configured.levels, levels(written)),
            write: |direction| {
                Some(match direction.configured.levels {
                    Levels::Exact => text("exact"),
                    Levels::Scone => text("scone"),
                    Levels::Even(levels) => levels.to_toml(),
                })
            },
        },
        stored_key! {
            name: "configured_noise",
            form: Form::PROBABILITY,
            rule: Rule::Default("0"),
            meaning: "greatest relative error of the configured rate. Errors are uniformly distributed, with a new one \
                      after each 100 ms and each change",
            field: configured.noise,
        },
        stored_key! {
            name: "delay",
            form: Form::Table(&DELAY),
            rule: Rule::Default("\"0s\""),
            meaning: "the propagation delay",
            field: delay,
        },
        stored_key! {
            name: "reorder",
            form: Form::Flag,
            rule: Rule::Default("false"),
            meaning: "packets may overtake when the delay decreases or with jitter",
            field: reorder,
        },
        stored_key! {
            name: "jitter",
            form: Form::Span { least: Span::ZERO, most: Span::from_millis(60_000) },
            rule: Rule::Default("\"0s\""),
            meaning: "greatest additional delay of a packet; it is uniformly distributed from zero on",
            field: jitter,
        },
        stored_key! {
            name: "loss",
            form: Form::Table(&LOSS),
            rule: Rule::Default("\"none\""),
            meaning: "random loss after service",
            field: loss,
        },
        stored_key! {
            name: "link_layer",
            form: Form::Table(&LINK_LAYER),
            rule: Rule::Default("\"none\""),
            meaning: "how the medium is shared, and what becomes of errors on it",
            field: link_layer,
        },
        stored_key! {
            name: "buffer",
            form: BUFFER,
            rule: Rule::Default("\"1bdp\""),
            meaning: "the most that the link holds, the packet in service included: packets, bytes, a time at the mean rate over the run (of a trace: \
                      over the trace), or a multiple of the bandwidth-delay product (the mean rate times the mean \
                      base round-trip time of the flows that cross the link). A time and a product are at least one \
                      packet",
            field: buffer,
        },
        ScenarioKey {
            name: "queue",
            form: QUEUE,
            rule: Rule::Default("\"default\""),
            meaning: "the queue law, such as `\"codel\"` or `{ red = { max_th = \"75KB\" } }`; `\"default\"`: \
                      the protocol's choice",
            read: |direction, written| set(&mut direction.queue, Field::read(written)),
            write: |direction| put(&direction.queue),
        },
        stored_key! {
            name: "router",
            form: Form::Words(spellings::<RouterConduct>),
            rule: Rule::Default("\"takes-part\""),
            meaning: "what the router does with explicit feedback ([below](#routers-that-take-no-part))",
            field: router,
        },
        stored_key! {
            name: "scheduler",
            form: Form::Words(spellings::<Scheduler>),
            rule: Rule::Default("\"fifo\""),
            meaning: "which packet is served next: `\"fair\"` (start-time fair queueing) and `\"drr\"` (deficit round \
                      robin) serve flows in proportion to their weights, `\"priority\"` flows of greater weight first, \
                      each from a queue with a queue law of its own",
            field: scheduler,
        },
    ],
};

impl Default for Direction {
    fn default() -> Self {
        Self {
            rate: Capacity::Constant(Rate::ZERO),
            configured: ConfiguredCapacity::default(),
            delay: Delay::Constant(Span::ZERO),
            reorder: false,
            jitter: Span::ZERO,
            loss: Loss::None,
            link_layer: LinkLayer::None,
            buffer: Buffer::Unlimited,
            queue: None,
            router: RouterConduct::TakesPart,
            scheduler: Scheduler::Fifo,
        }
    }
}

impl Field for ConfiguredRate {
    fn read(written: &Written<'_>) -> Option<Self> {
        const LEAST: f64 = 0.01;
        const MOST: f64 = 10_000.0;
        let Raw::Text(text) = &written.node.value else { return Capacity::read(written).map(Self::Other) };
        if text == "actual" {
            return Some(Self::ACTUAL);
        }
        if let Some(number) = text.trim().strip_suffix('%') {
            let percent = number.trim().parse().ok().filter(|percent| (LEAST..=MOST).contains(percent));
            return percent.map(Self::Percent).or_else(|| {
                written.expected(&format!("a percentage of the actual rate from \"{LEAST}%\" to \"{MOST}%\""))
            });
        }
        if !text.contains(|c: char| c.is_ascii_digit()) {
            return written
                .expected("\"actual\", a percentage of it such as \"80%\", a rate such as \"100Mbps\", steps or a trace");
        }
        Capacity::read(written).map(Self::Other)
    }

    fn to_toml(&self) -> String {
        match self {
            &Self::ACTUAL => text("actual"),
            Self::Percent(percent) => text(format!("{percent}%")),
            Self::Other(capacity) => capacity.to_toml(),
        }
    }
}

/// The levels of a configured rate.
fn levels(written: &Written<'_>) -> Option<Levels> {
    const MOST: u64 = 1_000_000;
    match &written.node.value {
        Raw::Text(text) if text == "exact" => Some(Levels::Exact),
        Raw::Text(text) if text == "scone" => Some(Levels::Scone),
        Raw::Whole(levels @ 1..) if *levels as u64 <= MOST => Some(Levels::Even(*levels as u64)),
        _ => written.expected(&format!("\"exact\", \"scone\", or a whole number of levels from 1 to {MOST}")),
    }
}

fn between(ends: &mut Ends, written: &Written<'_>) -> Option<()> {
    let (from, to) = written.pair([&Form::Name, &Form::Name], "[\"R1\", \"R2\"]")?;
    let (from, to) = (from.name()?, to.name()?);
    if from.value == to.value {
        let faults = written.context.faults;
        return faults.report(to.place, "a link from a node to itself", "the same node", "name another node");
    }
    (ends.from, ends.to) = (from, to);
    Some(())
}

/// Adds the link of one `[[links]]` table to the network. `None` if its ends are unknown.
pub(crate) fn read(written: &Written<'_>, network: &mut Network) -> Option<()> {
    let mut fields = Fields::new(written, LINK.name)?;
    let Ends { name, from, to } = fields.read_partly(&ENDS);
    let Directions { forward, backward } = read_directions(&mut fields);
    fields.finish();
    if from.is_empty() {
        return None;
    }
    let faults = written.context.faults;
    let is_taken = network.has_link(&name) && !name.is_empty();
    unique(faults, &name, "link", is_taken);
    let (from, to) = (network.node(&from), network.node(&to));
    let link = Link { name, from, to, forward, backward };
    if let Some(other) = network.parallel(&link).filter(|_| !is_taken) {
        let message =
            format!("\"{}\" and \"{}\" lead from the same node to the same node", *other.name, *link.name);
        let help = "a path between them would be ambiguous: put a node into one of them";
        let _: Option<()> = faults.report(link.name.place, message, "parallel link", help);
    }
    network.add(link);
    Some(())
}

/// The directions of a link. What is not written has its default.
pub(crate) fn read_directions(fields: &mut Fields<'_>) -> Directions {
    let simplex = fields.read_partly(&SIMPLEX);
    let forward = fields.read_partly(&DIRECTION);
    read_backward(fields, forward, simplex)
}

/// The directions of a link of a topology: no key is required.
pub(crate) fn read_topology_directions(fields: &mut Fields<'_>) -> Directions {
    let mut forward = default_direction(fields.written.context);
    fields.change(&DIRECTION, &mut forward);
    read_backward(fields, forward, false)
}

/// A direction of which no key is written. Its rate is zero.
pub(crate) fn default_direction(context: &ReadContext<'_>) -> Direction {
    DIRECTION.defaults(context)
}

fn read_backward(fields: &mut Fields<'_>, forward: Direction, simplex: bool) -> Directions {
    let backward = (!simplex).then(|| forward.clone());
    let mut directions = Directions { forward, backward };
    fields.change(&BACK, &mut directions);
    directions
}

/// The link as TOML.
pub(crate) fn write(link: &Link, scenario: &Scenario) -> String {
    let node = |node: usize| At::new(scenario.node_name(node).to_owned(), link.name.place);
    let ends = Ends { name: link.name.clone(), from: node(link.from), to: node(link.to) };
    let simplex = SIMPLEX.lines(&link.backward.is_none());
    let mut out = format!("\n[[links]]\n{}{simplex}{}", ENDS.lines(&ends), DIRECTION.lines(&link.forward));
    if let Some(backward) = link.backward.as_ref().filter(|&backward| *backward != link.forward) {
        out.push_str("\n[links.back]\n");
        out.push_str(&DIRECTION.lines(backward));
    }
    out
}
