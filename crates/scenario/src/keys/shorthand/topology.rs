//! `[topology]`: the nodes and links of a GraphML file.
//!
//! Parallel edges are one link: their rates add up, the least delay counts. The link from `A` to `B` is called `A--B`.

use super::super::links::{Directions, TOPOLOGY_LINK, default_direction, read_topology_directions};
use crate::graphml::{Edge, Graph, Text};
use crate::model::{Capacity, Delay, Direction, Link};
use crate::network::Network;
use crate::place::{At, Place};
use crate::source::Fault;
use crate::table::{Field, Fields, Form, KeyTable, ReadContext, Rule, ScenarioKey, Written};
use millpond_units::{Rate, Span};
use std::collections::BTreeMap;

/// What `[topology]` describes.
#[derive(Default)]
pub(crate) struct Topology {
    graphml: At<String>,
    link: Option<Template>,
}

/// The keys of `[topology]`.
pub(crate) static TOPOLOGY: KeyTable<Topology> = KeyTable {
    name: "topology",
    blank: Topology::default,
    plain: None,
    keys: &[
        ScenarioKey {
            name: "graphml",
            form: Form::Text,
            rule: Rule::Required("\"network.graphml\""),
            meaning: "the file; relative to the scenario file, in an override to the current folder",
            read: |topology, written| written.store(&mut topology.graphml),
            write: |_| None,
        },
        ScenarioKey {
            name: "link",
            form: Form::Table(&TOPOLOGY_LINK),
            rule: Rule::Absent("`{}`"),
            meaning: "what holds for every link. `rate` and `delay`, both constant, hold for edges without their \
                      own; they are required if there is such an edge",
            read: |topology, written| written.store(&mut topology.link),
            write: |_| None,
        },
    ],
};

pub(crate) fn build(written: &Written<'_>, network: &mut Network) -> Option<()> {
    let Topology { graphml: file, link: template } = TOPOLOGY.read(written)?;
    let context = written.context;
    let template = match template {
        Some(template) => template,
        None if written.key("link").is_none() => Template::without_defaults(context),
        None => return None,
    };
    let path = context.path(file.place, &file);
    let name = path.display().to_string();
    let content = context.text(file.place, &path, "graph")?;
    let text = Text { name: &name, text: &content };
    let made = text.graph().and_then(|graph| Ok((bundles(&text, &graph, &template)?, graph)));
    match made {
        Ok((bundles, graph)) => template.add(network, &graph, &bundles, file.place),
        Err(fault) => context.faults.forward(file.place, fault, "this graph"),
    }
}

/// What holds for every link.
struct Template {
    forward: Direction,
    backward: Direction,
    /// The rate of edges without their own, if it is written.
    rate: Option<Rate>,
    /// The delay of edges without their own, if it is written.
    delay: Option<Span>,
}

impl Field for Template {
    fn read(written: &Written<'_>) -> Option<Self> {
        let mut fields = Fields::new(written, "link")?;
        let Directions { forward, backward } = read_topology_directions(&mut fields);
        let [has_rate, has_delay] = ["rate", "delay"].map(|key| fields.has(key));
        fields.finish();
        let backward = backward.unwrap_or_else(|| forward.clone());
        if (&backward.rate, &backward.delay) != (&forward.rate, &forward.delay) {
            return written
                .expected("no rate and no delay in the back table: both directions of an edge share them");
        }
        let (Capacity::Constant(rate), Delay::Constant(delay)) = (&forward.rate, &forward.delay) else {
            return written.expected("a constant rate and delay, such as \"10Gbps\" and \"5ms\"");
        };
        let (rate, delay) = (has_rate.then_some(*rate), has_delay.then_some(*delay));
        Some(Self { rate, delay, forward, backward })
    }
    /// Topologies are written out as plain links.
    fn to_toml(&self) -> String {
        String::new()
    }
}

impl Template {
    /// Every edge needs its own rate and delay.
    fn without_defaults(context: &ReadContext<'_>) -> Self {
        let direction = default_direction(context);
        Self { forward: direction.clone(), backward: direction, rate: None, delay: None }
    }

    /// Adds a link for each bundle.
    fn add(&self, network: &mut Network, graph: &Graph, bundles: &[Bundle], place: Place) -> Option<()> {
        let mut known: BTreeMap<usize, usize> = BTreeMap::new();
        let mut node = |number: usize| -> Option<(usize, &String)> {
            let name = graph.nodes.get(number)?;
            Some((*known.entry(number).or_insert_with(|| network.node(name)), name))
        };
        let mut links = Vec::new();
        for bundle in bundles {
            let ((from, tail), (to, head)) = (node(bundle.from)?, node(bundle.to)?);
            let name = At::new(format!("{tail}--{head}"), place);
            let like = |direction: &Direction| Direction {
                rate: Capacity::Constant(bundle.rate),
                delay: Delay::Constant(bundle.delay),
                ..direction.clone()
            };
            let backward = (!bundle.directed).then(|| like(&self.backward));
            links.push(Link { name, from, to, forward: like(&self.forward), backward });
        }
        links.into_iter().for_each(|link| network.add(link));
        network.name_hosts(&known.into_values().collect::<Vec<_>>());
        Some(())
    }
}

/// All edges that join the same nodes in the same direction.
struct Bundle {
    from: usize,
    to: usize,
    directed: bool,
    rate: Rate,
    delay: Span,
}

fn bundles(text: &Text<'_>, graph: &Graph, template: &Template) -> Result<Vec<Bundle>, Fault> {
    let mut bundles: Vec<Bundle> = Vec::new();
    let mut known: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for edge in &graph.edges {
        let rate = edge.rate.or(template.rate);
        let rate = rate.ok_or_else(|| missing(text, graph, edge, "rate", "speed", "10Gbps"))?;
        let delay = edge.delay.or(template.delay);
        let delay = delay.ok_or_else(|| missing(text, graph, edge, "delay", "length", "5ms"))?;
        let new = Bundle { from: edge.from, to: edge.to, directed: edge.directed, rate, delay };
        let parallel = known.get(&(edge.from, edge.to)).and_then(|&index| bundles.get_mut(index));
        match parallel {
            Some(bundle) if bundle.directed == edge.directed => {
                bundle.rate += rate;
                bundle.delay = bundle.delay.min(delay);
                continue;
            }
            Some(_) => return Err(mixed(text, edge)),
            None if !edge.directed && known.contains_key(&(edge.to, edge.from)) => {
                return Err(mixed(text, edge));
            }
            None => {}
        }
        known.insert((edge.from, edge.to), bundles.len());
        if !edge.directed {
            known.insert((edge.to, edge.from), bundles.len());
        }
        bundles.push(new);
    }
    Ok(bundles)
}

fn mixed(text: &Text<'_>, edge: &Edge) -> Fault {
    let help = "make both directed or both undirected";
    text.wrong(edge.start, "a directed edge beside an undirected one", "joins the same nodes", help)
}

fn missing(text: &Text<'_>, graph: &Graph, edge: &Edge, key: &str, what: &str, example: &str) -> Fault {
    let name = |node: usize| graph.nodes.get(node).map_or("", String::as_str);
    let what = format!("the edge from {} to {} has no {what}", name(edge.from), name(edge.to));
    let help = format!("write link = {{ {key} = \"{example}\" }} in [topology] for the edges without one");
    text.wrong(edge.start, &what, "and the scenario gives no default", help)
}
