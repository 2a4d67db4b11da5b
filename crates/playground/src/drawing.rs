//! The network as SVG: nodes in columns in the order in which flows cross them, links between them.

use maud::{Markup, html};
use millpond_scenario::{Capacity, Delay, Hop, Link, Scenario};
use std::collections::BTreeMap;

/// More nodes are not drawn one by one.
const MOST_NODES: usize = 60;
/// Distances between columns and rows, in pixels.
const COLUMN: usize = 150;
const ROW: usize = 64;
/// Room around the nodes.
const MARGIN: usize = 60;

/// The drawing. Its classes are `network`, `link`, `bottleneck`, `node`, `node-name` and `link-name`.
pub(crate) fn drawing(scenario: &Scenario) -> String {
    let label = format!(
        "Network of {} nodes and {} links: {}",
        scenario.nodes.len(),
        scenario.links.len(),
        scenario.links.iter().take(20).map(|link| described(scenario, link)).collect::<Vec<_>>().join("; ")
    );
    if scenario.nodes.len() > MOST_NODES {
        return too_large(&label).into_string();
    }
    let places = places(scenario);
    let width = places.iter().map(|place| place.0).max().unwrap_or(0) + MARGIN;
    let height = places.iter().map(|place| place.1).max().unwrap_or(0) + ROW;
    let least = least_rate(scenario);
    html! {
        svg.network xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height)
            role="img" aria-label=(label) {
            @for (index, link) in scenario.links.iter().enumerate() { (drawn_link(link, &places, least == Some(index))) }
            @for (name, (x, y)) in scenario.nodes.iter().zip(&places) {
                circle.node cx=(x) cy=(y) r="9" { title { (name) } }
                text.node-name x=(x) y=(y + 26) text-anchor="middle" font-size="12" { (name) }
            }
        }
    }
    .into_string()
}

fn too_large(label: &str) -> Markup {
    html! {
        svg.network xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 40" width="400" height="40" role="img" aria-label=(label) {
            text.node-name x="8" y="24" font-size="12" { (label.split(':').next().unwrap_or(label)) }
        }
    }
}

fn drawn_link(link: &Link, places: &[(usize, usize)], is_bottleneck: bool) -> Markup {
    let at = |node: usize| places.get(node).copied().unwrap_or_default();
    let (from, to) = (at(link.from), at(link.to));
    let class = if is_bottleneck { "link bottleneck" } else { "link" };
    let (x, y) = ((from.0 + to.0) / 2, (from.1 + to.1) / 2);
    html! {
        line class=(class) x1=(from.0) y1=(from.1) x2=(to.0) y2=(to.1) stroke="currentColor"
            stroke-width=(if is_bottleneck { "3" } else { "1.5" }) data-link=(link.name.value) {
            title { (link.name.value) ", " (properties(link)) }
        }
        text.link-name x=(x) y=(y.saturating_sub(8)) text-anchor="middle" font-size="11" data-link=(link.name.value) {
            (link.name.value)
        }
    }
}

/// `L1 from R1 to R2, 155Mbps, 15ms`.
fn described(scenario: &Scenario, link: &Link) -> String {
    let name = |node: usize| scenario.nodes.get(node).map_or("", String::as_str);
    format!("{} from {} to {}, {}", link.name.value, name(link.from), name(link.to), properties(link))
}

fn properties(link: &Link) -> String {
    let rate = match &link.forward.rate {
        Capacity::Constant(rate) => rate.to_string(),
        Capacity::Steps(_) => "a capacity that changes".to_owned(),
        Capacity::Trace(_) => "the capacity of a trace".to_owned(),
    };
    match &link.forward.delay {
        Delay::Constant(delay) => format!("{rate}, {delay}"),
        Delay::Steps(_) => format!("{rate}, a delay that changes"),
    }
}

/// The link of the least mean rate among those that flows cross.
fn least_rate(scenario: &Scenario) -> Option<usize> {
    let hops = scenario.flows.iter().flat_map(|group| group.paths.iter().flatten());
    let rate = |hop: &millpond_scenario::Hop| {
        let link = scenario.links.get(hop.link)?;
        Some((link.direction(hop.forward).rate.schedule().mean(scenario.duration), hop.link))
    };
    hops.filter_map(rate).min().map(|(_, link)| link)
}

/// The place of each node: its column is the greatest number of hops before it on a path, its row the order in the column.
fn places(scenario: &Scenario) -> Vec<(usize, usize)> {
    let columns = columns(scenario);
    let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
    let row = |column: &usize| {
        let row = rows.entry(*column).or_default();
        *row += 1;
        *row - 1
    };
    let in_column: Vec<usize> = columns.iter().map(row).collect();
    let tallest = rows.values().copied().max().unwrap_or(1);
    let place = |(column, row): (&usize, &usize)| {
        let count = rows.get(column).copied().unwrap_or(1);
        let above = (tallest - count) * ROW / 2;
        (MARGIN + column * COLUMN, ROW / 2 + above + row * ROW)
    };
    columns.iter().zip(&in_column).map(place).collect()
}

/// The columns of all nodes.
fn columns(scenario: &Scenario) -> Vec<usize> {
    let paths = scenario.flows.iter().flat_map(|group| &group.paths);
    let steps: Vec<(usize, usize)> =
        paths.flat_map(|path| path.iter()).filter_map(|hop| ends(scenario, hop)).collect();
    ordered(&steps, scenario.nodes.len()).unwrap_or_else(|| distances(scenario))
}

/// The nodes before and after a hop.
fn ends(scenario: &Scenario, hop: &Hop) -> Option<(usize, usize)> {
    let link = scenario.links.get(hop.link)?;
    Some(if hop.forward { (link.from, link.to) } else { (link.to, link.from) })
}

/// The greatest number of steps that lead to each node; none if some lead back.
fn ordered(steps: &[(usize, usize)], nodes: usize) -> Option<Vec<usize>> {
    let mut columns = vec![0; nodes];
    for _ in 0..=nodes {
        let before = columns.clone();
        for &(from, to) in steps {
            let next = columns.get(from)? + 1;
            let column = columns.get_mut(to)?;
            *column = next.max(*column);
        }
        if columns == before {
            return Some(columns);
        }
    }
    None
}

/// The number of links between each node and the first sender.
fn distances(scenario: &Scenario) -> Vec<usize> {
    let first = scenario
        .flows
        .iter()
        .find_map(|group| ends(scenario, group.path(0).first()?))
        .map_or(0, |ends| ends.0);
    let mut columns = vec![usize::MAX; scenario.nodes.len()];
    let mut reached = vec![first];
    for distance in 0..scenario.nodes.len() {
        let is_new = |node: &usize| columns.get(*node) == Some(&usize::MAX);
        reached.retain(is_new);
        for &node in &reached {
            columns[node] = distance;
        }
        let next = |link: &Link| match (reached.contains(&link.from), reached.contains(&link.to)) {
            (true, false) => Some(link.to),
            (false, true) => Some(link.from),
            _ => None,
        };
        reached = scenario.links.iter().filter_map(next).collect();
    }
    columns.into_iter().map(|column| if column == usize::MAX { 0 } else { column }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Job, Task};
    use crate::requests::Edited;
    use crate::shipped;
    use millpond_protocols::Registry;
    use std::collections::BTreeSet;

    fn scenario(text: &str) -> Scenario {
        let edited = Edited { text: text.to_owned(), overrides: Vec::new() };
        Job { task: Task::Check, edited, folder: std::env::temp_dir(), width: 0 }
            .scenario(&Registry::builtin())
            .unwrap()
    }

    #[test]
    fn every_node_has_a_place_of_its_own_and_every_link_a_line() {
        for shipped in shipped::scenarios() {
            let scenario = scenario(&shipped.text);
            let places = places(&scenario);
            assert_eq!(
                places.iter().collect::<BTreeSet<_>>().len(),
                scenario.nodes.len(),
                "{}",
                shipped.name
            );
            let drawn = drawing(&scenario);
            assert_eq!(drawn.matches("<circle").count(), scenario.nodes.len(), "{}", shipped.name);
            assert_eq!(drawn.matches("<line").count(), scenario.links.len(), "{}", shipped.name);
        }
    }

    #[test]
    fn hops_lead_to_the_right_unless_flows_run_in_both_directions() {
        let one_way = ordered(&[(0, 1), (1, 2), (0, 2)], 3);
        assert_eq!(one_way, Some(vec![0, 1, 2]));
        assert_eq!(ordered(&[(0, 1), (1, 0)], 2), None);
    }

    #[test]
    fn a_large_network_is_a_sentence() {
        let text = "duration = \"1s\"\n[dumbbell]\npairs = 40\nbottleneck = { rate = \"1Mbps\", delay = \"1ms\" }\naccess = { rate = \"1Mbps\", delay = \"1ms\" }\n[[flows]]\nname = \"f\"\nprotocol = \"cubic\"\n";
        let drawn = drawing(&scenario(text));
        assert!(drawn.contains("Network of 82 nodes and 81 links") && !drawn.contains("<circle"), "{drawn}");
    }
}
