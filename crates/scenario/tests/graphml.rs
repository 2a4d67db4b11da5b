//! `[topology]`: the network of a GraphML file, and the faults of a wrong one.

#![allow(clippy::panic, clippy::unwrap_used, reason = "helpers fail as tests do")]

use millpond_scenario::{Capacity, Fault, Faults, Files, Scenario};
use millpond_units::{Rate, Span};
use std::io::Result;
use std::path::Path;

/// One graph, under whatever name it is asked for.
struct One(String);

impl Files for One {
    fn read(&self, _: &Path) -> Result<Vec<u8>> {
        Ok(self.0.clone().into_bytes())
    }
}

const KEYS: &str = r#"<key id="n" for="node" attr.name="label"/>
<key id="la" for="node" attr.name="Latitude"/>
<key id="lo" for="node" attr.name="Longitude"/>
<key id="raw" for="edge" attr.name="LinkSpeedRaw"/>
<key id="sp" for="edge" attr.name="LinkSpeed"/>
<key id="u" for="edge" attr.name="LinkSpeedUnits"/>
<key id="ty" for="edge" attr.name="LinkType"/>
<key id="r" for="edge" attr.name="rate"/>
<key id="d" for="edge" attr.name="delay"/>
"#;

/// Lines 1 to 11 are the head; the body begins in line 12.
fn graphml(body: &str) -> One {
    One(format!(
        "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n{KEYS}<graph edgedefault=\"undirected\">\n{body}</graph>\n</graphml>\n"
    ))
}

fn read(graph: &One, topology: &str, path: &str) -> std::result::Result<Scenario, Faults> {
    let text = format!(
        "duration = \"1s\"\n[topology]\ngraphml = \"net.graphml\"\n{topology}\n[[flows]]\nname = \"f\"\nprotocol = \"acp\"\npath = {path}\n"
    );
    Scenario::parse(&text, "test.toml", Path::new("folder"), &[], graph)
}

/// Three nodes in a row with an edge each, with these data: `(data of the first edge, data of the second)`.
fn row(first: &str, second: &str) -> One {
    graphml(&format!(
        "<node id=\"0\"><data key=\"n\">A</data><data key=\"la\">0</data><data key=\"lo\">0</data></node>
<node id=\"1\"><data key=\"n\">B</data><data key=\"la\">0</data><data key=\"lo\">90</data></node>
<node id=\"2\"><data key=\"n\">C</data></node>
<edge source=\"0\" target=\"1\">{first}</edge>
<edge source=\"1\" target=\"2\">{second}</edge>
"
    ))
}

const LINK: &str = "link = { rate = \"5Mbps\", delay = \"7ms\", buffer = \"20ms\" }";

fn rates(graph: &One) -> Vec<Rate> {
    let scenario = read(graph, LINK, "[\"A\", \"B\"]").unwrap_or_else(|faults| panic!("{faults}"));
    let constant = |capacity: &Capacity| match capacity {
        Capacity::Constant(rate) => *rate,
        other => panic!("{other:?}"),
    };
    scenario.links.iter().map(|link| constant(&link.forward.rate)).collect()
}

#[test]
fn an_edge_has_its_rate_in_one_of_four_attributes_or_takes_that_of_the_scenario() {
    let mbps = Rate::from_mbps;
    for (first, expected) in [
        ("<data key=\"raw\">2500000000.0</data>", mbps(2500.0)),
        ("<data key=\"sp\">155</data><data key=\"u\">M</data>", mbps(155.0)),
        (
            "<data key=\"sp\">1.5</data><data key=\"u\">G</data><data key=\"raw\">10</data>",
            Rate::from_bps(10),
        ),
        ("<data key=\"ty\">OC-192</data>", mbps(9953.28)),
        ("<data key=\"ty\">Fibre</data>", mbps(5.0)),
        ("<data key=\"r\">40kbps</data><data key=\"raw\">10</data>", mbps(0.04)),
        ("<data key=\"raw\"></data>", mbps(5.0)),
        ("", mbps(5.0)),
    ] {
        assert_eq!(rates(&row(first, "")), [expected, mbps(5.0)], "{first}");
    }
}

/// A quarter of the Earth's girth, 10007.557 km, at two thirds of the speed of light.
#[test]
fn an_edge_has_the_delay_of_the_great_circle_or_its_own_or_that_of_the_scenario() {
    let scenario = |graph: &One| read(graph, LINK, "[\"A\", \"B\", \"C\"]").unwrap_or_else(|f| panic!("{f}"));
    let plain = scenario(&row("", ""));
    let delays: Vec<_> = plain.links.iter().map(|link| link.forward.delay.initial().millis()).collect();
    assert!((delays[0] - 50.072_426).abs() < 1e-5, "{delays:?}");
    assert!((delays[1] - 7.0).abs() < 1e-9, "{delays:?}");
    let own_delay = scenario(&row("<data key=\"d\">3ms</data>", ""));
    assert_eq!(own_delay.links[0].forward.delay.initial(), Span::from_millis(3));
    assert_eq!(own_delay.links[0].backward.as_ref().unwrap(), &own_delay.links[0].forward);
    assert_eq!(own_delay.links[0].forward.buffer, millpond_scenario::Buffer::Time(Span::from_millis(20)));
}

#[test]
fn parallel_edges_are_one_link_whose_rates_add_up() {
    let graph = graphml(
        "<node id=\"A\"/><node id=\"B\"/>
<edge source=\"A\" target=\"B\"><data key=\"raw\">1e6</data><data key=\"d\">9ms</data></edge>
<edge source=\"B\" target=\"A\"><data key=\"d\">8ms</data></edge>
",
    );
    let scenario = read(&graph, LINK, "[\"B\", \"A\"]").unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(rates(&graph), [Rate::from_mbps(6.0)]);
    assert_eq!(*scenario.links[0].name, "A--B");
    assert_eq!(scenario.links[0].forward.delay.initial(), Span::from_millis(8));
}

#[test]
fn directed_edges_are_simplex_links() {
    let both = "<node id=\"A\"/><node id=\"B\"/>
<edge source=\"A\" target=\"B\" directed=\"true\"/>
<edge source=\"B\" target=\"A\" directed=\"true\"/>
";
    let scenario = read(&graphml(both), LINK, "[\"B\", \"A\"]").unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(scenario.links.len(), 2);
    assert!(scenario.links.iter().all(|link| link.backward.is_none()));
    let one =
        graphml("<node id=\"A\"/><node id=\"B\"/>\n<edge source=\"A\" target=\"B\" directed=\"true\"/>\n");
    let faults = read(&one, LINK, "[\"A\", \"B\"]").unwrap_err();
    assert!(faults.to_string().contains("no return path"), "{faults}");
}

#[test]
fn names_have_hyphens_for_spaces_and_ids_where_labels_repeat() {
    let graph = graphml(
        "<node id=\"0\"><data key=\"n\">Washington, DC</data></node>
<node id=\"1\"><data key=\"n\">Oslo</data></node><node id=\"2\"><data key=\"n\">Oslo</data></node>
<edge source=\"0\" target=\"1\"/><edge source=\"1\" target=\"2\"/>
",
    );
    let scenario = read(&graph, LINK, "[\"Washington-DC\", \"Oslo-1\", \"Oslo-2\"]").unwrap();
    assert_eq!(scenario.nodes, ["Washington-DC", "Oslo-1", "Oslo-2"]);
    assert_eq!(*scenario.links[1].name, "Oslo-1--Oslo-2");
    let faults = read(&graph, LINK, "[\"Washington DC\", \"Oslo-1\"]").unwrap_err();
    assert!(faults.to_string().contains("did you mean \"Washington-DC\"?"), "{faults}");
}

/// The content of the graph, the line of the fault, words of the fault.
const WRONG: &[(&str, usize, &str)] = &[
    ("", 11, "the graph has no edges"),
    ("<node id=\"A\"/>\n<node id=\"A\"/>\n", 13, "a second node with the id \"A\""),
    ("<node id=\"A\"/>\n<edge source=\"A\" target=\"B\"/>\n", 13, "no node has the id \"B\""),
    ("<node id=\"Ab\"/>\n<edge source=\"Ab\" target=\"Abc\"/>\n", 13, "did you mean \"Ab\"?"),
    ("<node id=\"A\"/>\n<edge source=\"A\"/>\n", 13, "this <edge> has no \"target\""),
    ("<node id=\"A\"/>\n<edge source=\"A\" target=\"A\"/>\n", 13, "from a node to itself"),
    ("<node/>\n", 12, "this <node> has no \"id\""),
    ("<node id=\"A\"><data key=\"la\">north</data></node>\n", 12, "Latitude is \"north\""),
    ("<node id=\"A\"><data key=\"la\">91</data></node>\n", 12, "a number from -90 to 90"),
    ("<node id=\"A\"><data key=\"lb\">9</data></node>\n", 12, "no <key> declares \"lb\""),
    ("<hyperedge/>\n", 12, "a <hyperedge> in the graph"),
    ("<node id=\"A\"><graph/></node>\n", 12, "a second graph"),
    ("<node id=\"A\">\n", 13, "not XML"),
    (
        "<node id=\"A\"><data key=\"n\">x</data></node>\n<node id=\"B\"><data key=\"n\">x</data></node>\n<node id=\"x-B\"/>\n<edge source=\"A\" target=\"B\"/>\n",
        14,
        "this node's name is that of node \"B\"",
    ),
];

const WRONG_EDGES: &[(&str, &str)] = &[
    ("<data key=\"raw\">fast</data>", "LinkSpeedRaw is \"fast\""),
    ("<data key=\"raw\">-1</data>", "a number from 1 to"),
    ("<data key=\"raw\">NaN</data>", "a number from 1 to"),
    ("<data key=\"sp\">much</data><data key=\"u\">G</data>", "LinkSpeed is \"much\""),
    ("<data key=\"r\">0bps</data>", "a rate such as 10Gbps"),
    ("<data key=\"d\">15</data>", "a time such as 15ms"),
];

fn first(graph: &One, topology: &str) -> Fault {
    read(graph, topology, "[\"A\", \"B\"]").unwrap_err().0.remove(0)
}

/// As on a terminal, but without the breaks between lines.
fn shown(fault: Fault) -> String {
    let text = Faults::from(fault).render(false).replace('│', "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_wrong_graph_is_shown_with_its_own_line() {
    for &(body, line, words) in WRONG {
        let fault = first(&graphml(body), LINK);
        let shown = shown(fault.clone());
        assert!(shown.contains(words), "{words}\n{shown}");
        assert!(shown.contains("net.graphml"), "{shown}");
        assert_eq!(fault.line(), line, "{shown}");
    }
    for &(data, words) in WRONG_EDGES {
        let shown = shown(first(&row(data, ""), LINK));
        assert!(shown.contains(words), "{words}\n{shown}");
    }
}

#[test]
fn a_rate_or_delay_that_neither_the_graph_nor_the_scenario_gives_is_reported() {
    let silent = first(&row("", ""), "link = { delay = \"1ms\" }").to_string();
    assert!(silent.contains("the edge from A to B has no speed"), "{silent}");
    let placeless = first(&row("", ""), "link = { rate = \"1Mbps\" }").to_string();
    assert!(placeless.contains("the edge from B to C has no length"), "{placeless}");
    let whole = row("<data key=\"raw\">1e6</data>", "<data key=\"raw\">1e6</data><data key=\"d\">1ms</data>");
    assert!(read(&whole, "", "[\"A\", \"B\", \"C\"]").is_ok());
}

#[test]
fn a_template_that_would_be_ignored_is_refused() {
    for (link, words) in [
        ("link = { rate = { steps = [[\"0s\", \"1Mbps\"]] }, delay = \"1ms\" }", "a constant rate and delay"),
        (
            "link = { rate = \"1Mbps\", delay = \"1ms\", back = { rate = \"2Mbps\" } }",
            "both directions of an edge",
        ),
        ("link = { rate = \"1Mbps\", delay = \"1ms\", simplex = true }", "unknown key of a link \"simplex\""),
    ] {
        let fault = first(&row("", ""), link).to_string();
        assert!(fault.contains(words), "{fault}");
    }
    let no_graph = Scenario::parse("duration = \"1s\"\n[topology]\n", "t", Path::new(""), &[], &graphml(""));
    assert!(no_graph.unwrap_err().to_string().contains("write graphml = \"network.graphml\""));
}

#[test]
fn other_xml_and_other_files_are_refused() {
    for (text, words) in [
        ("<svg/>", "<svg> is no GraphML"),
        ("<graphml/>", "there is no graph in it"),
        ("", "not XML"),
        ("PK\u{3}\u{4}", "not XML"),
        ("<!DOCTYPE x [<!ENTITY a \"b\">]><graphml/>", "not XML"),
    ] {
        let shown = shown(first(&One(text.into()), LINK));
        assert!(shown.contains(words), "{words}\n{shown}");
    }
}

#[test]
fn the_shipped_network_has_the_delays_of_its_coordinates() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/six-lakes.toml");
    let scenario = Scenario::load(&path, &[]).unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!((scenario.nodes.len(), scenario.links.len()), (6, 7));
    let link = |name: &str| scenario.links.iter().find(|link| link.name.value == name).unwrap();
    // Geneva and Como are 230 km apart: 1.15 ms.
    let length = link("Geneva--Como").forward.delay.initial().millis();
    assert!((length - 1.15).abs() < 0.01, "{length}");
    assert_eq!(link("Constance--Tampere").forward.delay.initial(), Span::from_millis(10));
    let doubled = &link("Siofok-Balaton--Ohrid").forward.rate;
    assert_eq!(*doubled, Capacity::Constant(Rate::from_mbps(310.0)));
    assert_eq!(link("Como--Constance").forward.rate, Capacity::Constant(Rate::from_mbps(622.08)));
}
