//! From XML to a graph.

use super::attributes::Attributes;
use super::distance::Coordinates;
use super::{Edge, Graph, Text, name};
use crate::source::Fault;
use millpond_units::nearest;
use roxmltree::{Document, Node};
use std::collections::BTreeMap;

/// The elements of a graph that are ignored.
const IGNORED: &[&str] = &["data", "desc"];

pub(super) fn graph(text: &Text<'_>) -> Result<Graph, Fault> {
    let document = Document::parse(text.text).map_err(|error| not_xml(text, &error))?;
    let graph = only_graph(text, &document)?;
    let keys = AttributeKeys::read(text, &document)?;
    let nodes = nodes(text, graph, &keys)?;
    let edges = edges(text, graph, &keys, &nodes)?;
    let named: Vec<_> = nodes.list.iter().map(|node| (node.id, node.label)).collect();
    let names = name::names(&named).map_err(|(one, other)| {
        let start = nodes.list.get(other).map_or(0, |node| node.start);
        let twin = named.get(one).map_or("", |(id, _)| id);
        let what = format!("this node's name is that of node \"{twin}\"");
        text.wrong(start, &what, "no other id or label", "give each node its own label")
    })?;
    Ok(Graph { nodes: names, edges })
}

fn not_xml(text: &Text<'_>, error: &roxmltree::Error) -> Fault {
    let line = usize::try_from(error.pos().row).unwrap_or(1);
    let before = text.text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    text.wrong(before, &format!("not XML: {error}"), "here", "expected a GraphML file: <graphml><graph>...")
}

fn only_graph<'a>(text: &Text<'_>, document: &'a Document<'a>) -> Result<Node<'a, 'a>, Fault> {
    let root = document.root_element();
    let help = "expected <graphml> with one <graph>";
    if root.tag_name().name() != "graphml" {
        let what = format!("<{}> is no GraphML", root.tag_name().name());
        return Err(text.wrong(root.range().start, &what, "not <graphml>", help));
    }
    let mut graphs = root.descendants().filter(|node| node.has_tag_name_of("graph"));
    match (graphs.next(), graphs.next()) {
        (Some(graph), None) => Ok(graph),
        (None, _) => Err(text.wrong(root.range().start, "there is no graph in it", "no <graph>", help)),
        (Some(_), Some(other)) => {
            Err(text.wrong(other.range().start, "a second graph", "one network is one graph", help))
        }
    }
}

/// Elements are recognized by their names alone: files have the namespace, none, or an old one.
trait Named {
    fn has_tag_name_of(&self, name: &str) -> bool;
}

impl Named for Node<'_, '_> {
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

/// A declared attribute.
struct Attribute<'a> {
    name: &'a str,
    /// `node`, `edge`, `graph` or `all`.
    of: &'a str,
    default: Option<&'a str>,
    start: usize,
}

struct AttributeKeys<'a>(BTreeMap<&'a str, Attribute<'a>>);

impl<'a> AttributeKeys<'a> {
    fn read(text: &Text<'_>, document: &'a Document<'a>) -> Result<Self, Fault> {
        let mut keys = BTreeMap::new();
        for node in document.root_element().children().filter(|node| node.has_tag_name_of("key")) {
            let id = required(text, node, "id")?;
            let name = node.attribute("attr.name").unwrap_or(id);
            let default = node.children().find(|child| child.has_tag_name_of("default"));
            let of = node.attribute("for").unwrap_or("all");
            let default = default.and_then(|default| default.text());
            keys.insert(id, Attribute { name, of, default, start: node.range().start });
        }
        Ok(Self(keys))
    }

    /// The `<data>` of an element, and the defaults.
    fn attributes(&self, text: &Text<'_>, element: Node<'a, 'a>) -> Result<Attributes<'a>, Fault> {
        let kind = element.tag_name().name();
        let usual = self.0.values().filter(|key| key.of == kind || key.of == "all");
        let usual = usual.filter_map(|key| Some((key.name, (key.default?, key.start))));
        let mut attributes: BTreeMap<_, _> = usual.collect();
        for data in element.children().filter(|child| child.has_tag_name_of("data")) {
            let id = required(text, data, "key")?;
            let Some(key) = self.0.get(id) else {
                let help = known(id, self.0.keys().copied());
                let what = format!("no <key> declares \"{id}\"");
                return Err(text.wrong(data.range().start, &what, "unknown key", help));
            };
            attributes.insert(key.name, (data.text().unwrap_or_default(), data.range().start));
        }
        Ok(Attributes(attributes))
    }
}

struct GraphNode<'a> {
    id: &'a str,
    label: Option<&'a str>,
    coordinates: Option<Coordinates>,
    start: usize,
}

/// The nodes in the order of the file, and the index of each id.
struct Nodes<'a> {
    list: Vec<GraphNode<'a>>,
    index: BTreeMap<&'a str, usize>,
}

fn nodes<'a>(text: &Text<'_>, graph: Node<'a, 'a>, keys: &AttributeKeys<'a>) -> Result<Nodes<'a>, Fault> {
    let mut nodes = Nodes { list: Vec::new(), index: BTreeMap::new() };
    for element in graph.children().filter(Node::is_element) {
        let (kind, start) = (element.tag_name().name(), element.range().start);
        match kind {
            "node" => {}
            "edge" => continue,
            _ if IGNORED.contains(&kind) => continue,
            _ => {
                let help = "expected <node> and <edge>: a link joins two nodes";
                return Err(text.wrong(
                    start,
                    &format!("a <{kind}> in the graph"),
                    "not an element of a network",
                    help,
                ));
            }
        }
        let id = required(text, element, "id")?;
        let attributes = keys.attributes(text, element)?;
        let label = attributes.text("label");
        let coordinates = attributes.coordinates(text)?;
        if nodes.index.insert(id, nodes.list.len()).is_some() {
            let what = format!("a second node with the id \"{id}\"");
            return Err(text.wrong(start, &what, "taken", "give each node its own id"));
        }
        nodes.list.push(GraphNode { id, label, coordinates, start });
    }
    Ok(nodes)
}

fn edges<'a>(
    text: &Text<'_>,
    graph: Node<'a, 'a>,
    keys: &AttributeKeys<'a>,
    nodes: &Nodes<'a>,
) -> Result<Vec<Edge>, Fault> {
    let usually_directed = graph.attribute("edgedefault") == Some("directed");
    let elements = graph.children().filter(|child| child.has_tag_name_of("edge"));
    let edges: Vec<_> = elements
        .map(|element| edge(text, element, keys, nodes, usually_directed))
        .collect::<Result<_, _>>()?;
    if edges.is_empty() {
        let help = "a network has at least one link: two <node> and an <edge> between them";
        return Err(text.wrong(graph.range().start, "the graph has no edges", "no <edge> in it", help));
    }
    Ok(edges)
}

fn edge<'a>(
    text: &Text<'_>,
    element: Node<'a, 'a>,
    keys: &AttributeKeys<'a>,
    nodes: &Nodes<'a>,
    usually_directed: bool,
) -> Result<Edge, Fault> {
    let start = element.range().start;
    let end = |name: &'static str| {
        let id = required(text, element, name)?;
        nodes.index.get(id).copied().ok_or_else(|| {
            let help = known(id, nodes.index.keys().copied());
            text.wrong(start, &format!("no node has the id \"{id}\""), &format!("{name} of this edge"), help)
        })
    };
    let (from, to) = (end("source")?, end("target")?);
    if from == to {
        return Err(text.wrong(start, "an edge from a node to itself", "the same node", "remove it"));
    }
    let attributes = keys.attributes(text, element)?;
    let directed = element.attribute("directed").map_or(usually_directed, |written| written == "true");
    let coordinates = |node: usize| nodes.list.get(node).and_then(|node| node.coordinates);
    let distance = coordinates(from).zip(coordinates(to)).map(|(from, to)| from.delay_to(to));
    let delay = attributes.delay(text)?.or(distance.filter(|delay| !delay.is_zero()));
    Ok(Edge { from, to, directed, rate: attributes.rate(text)?, delay, start })
}

fn required<'a>(text: &Text<'_>, element: Node<'a, 'a>, name: &str) -> Result<&'a str, Fault> {
    element.attribute(name).ok_or_else(|| {
        let what = format!("this <{}> has no \"{name}\"", element.tag_name().name());
        text.wrong(element.range().start, &what, "in here", format!("write {name}=\"...\""))
    })
}

fn known<'a>(written: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    let all = names.clone().count();
    match nearest(written, names) {
        Some(near) => format!("did you mean \"{near}\"? There are {all}"),
        None => format!("there are {all}, none of them like this"),
    }
}
