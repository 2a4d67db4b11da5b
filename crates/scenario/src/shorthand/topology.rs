//! `[topology]`: the nodes and links of a GraphML file.
//!
//! | key | meaning |
//! |---|---|
//! | `graphml` | the file |
//! | `link` | every key of a link but name, ends and `simplex`; `rate` and `delay` where an edge tells none itself |
//!
//! Parallel edges are one link: their rates add up, the least delay counts. The link from `A` to `B` is called `A--B`.

use crate::fields::{self, Fields};
use crate::graphml::{Edge, Graph, Text};
use crate::model::{Capacity, Delay, Direction, Link};
use crate::network::Network;
use crate::place::{At, Place};
use crate::read::Reader;
use crate::read::links::both_ways;
use crate::source::Fault;
use crate::tree::{Node, Raw};
use millpond_units::{Rate, Span};
use std::collections::BTreeMap;

pub(super) fn build(reader: &Reader<'_>, mut fields: Fields<'_>, network: &mut Network) -> Option<()> {
    let file = fields.required("graphml", "\"network.graphml\"");
    let usual = fields.get("link");
    fields.finish();
    let (usual, file) = (Usual::read(reader, usual)?, file?);
    let path = reader.path(file, fields::text(reader.complaints, file)?);
    let name = path.display().to_string();
    let written = reader.text(file, &path, "graph")?;
    let text = Text { name: &name, text: &written };
    let made = text.graph().and_then(|graph| Ok((bundles(&text, &graph, &usual)?, graph)));
    match made {
        Ok((bundles, graph)) => usual.add(network, &graph, &bundles, file.place),
        Err(fault) => reader.complaints.pass_on(file.place, fault, "this graph"),
    }
}

/// What holds for every link, and for edges that do not say.
struct Usual {
    forward: Direction,
    backward: Direction,
    rate: Option<Rate>,
    delay: Option<Span>,
}

impl Usual {
    fn read(reader: &Reader<'_>, node: Option<&Node>) -> Option<Self> {
        let plain = Direction::default();
        let Some(node) = node else {
            return Some(Self { forward: plain.clone(), backward: plain, rate: None, delay: None });
        };
        let mut fields = Fields::new(reader.complaints, node, "link")?;
        let directions = both_ways(reader, &mut fields, false, Some(&plain));
        fields.finish();
        let (forward, backward) = directions?;
        let backward = backward.unwrap_or_else(|| forward.clone());
        if (&backward.rate, &backward.delay) != (&forward.rate, &forward.delay) {
            let expected = "no rate and no delay in the back table: both ways of an edge are alike in these";
            return reader.complaints.expected(node, expected);
        }
        let (Capacity::Constant(rate), Delay::Constant(delay)) = (&forward.rate, &forward.delay) else {
            return reader
                .complaints
                .expected(node, "a constant rate and delay, such as \"10Gbps\" and \"5ms\"");
        };
        let says = |key: &str| matches!(&node.value, Raw::Table(table) if table.get(key).is_some());
        let (rate, delay) = (says("rate").then_some(*rate), says("delay").then_some(*delay));
        Some(Self { rate, delay, forward, backward })
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

fn bundles(text: &Text<'_>, graph: &Graph, usual: &Usual) -> Result<Vec<Bundle>, Fault> {
    let mut bundles: Vec<Bundle> = Vec::new();
    let mut known: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for edge in &graph.edges {
        let rate = edge.rate.or(usual.rate);
        let rate = rate.ok_or_else(|| silent(text, graph, edge, "rate", "speed", "10Gbps"))?;
        let delay = edge.delay.or(usual.delay);
        let delay = delay.ok_or_else(|| silent(text, graph, edge, "delay", "length", "5ms"))?;
        let new = Bundle { from: edge.from, to: edge.to, directed: edge.directed, rate, delay };
        let there = known.get(&(edge.from, edge.to)).and_then(|&index| bundles.get_mut(index));
        match there {
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
    let help = "draw both in the same way";
    text.wrong(edge.start, "a directed edge beside an undirected one", "joins the same nodes", help)
}

fn silent(text: &Text<'_>, graph: &Graph, edge: &Edge, key: &str, what: &str, example: &str) -> Fault {
    let name = |node: usize| graph.nodes.get(node).map_or("", String::as_str);
    let what = format!("the edge from {} to {} tells no {what}", name(edge.from), name(edge.to));
    let help = format!("write link = {{ {key} = \"{example}\" }} in [topology] for the edges that tell none");
    text.wrong(edge.start, &what, "and the scenario tells none", help)
}
