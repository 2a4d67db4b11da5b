//! The network as SVG: nodes in columns in the order in which flows cross them, links between them.

use crate::bottleneck::bottleneck;
use maud::{Markup, html};
use millpond_scenario::{Capacity, Delay, Hop, Link, Scenario};
use std::collections::BTreeMap;

/// More nodes are not drawn one by one.
const MOST_NODES: usize = 60;
/// Distances between columns and rows, in pixels.
const COLUMN: usize = 150;
const ROW: usize = 64;
/// Room beside the nodes, and above them for two lines of names.
const MARGIN: usize = 60;
const TOP: usize = 40;
/// The radius of a node, and the distance of its name.
const RADIUS: usize = 9;
const BELOW: usize = 26;

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
    let bottleneck = bottleneck(scenario).map(|hop| hop.link);
    let names = link_names(scenario, &places, bottleneck);
    html! {
        svg.network xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height)
            role="img" aria-label=(label) {
            @for (index, link) in scenario.links.iter().enumerate() { (drawn_link(link, &places, bottleneck == Some(index))) }
            @for (link, (x, y)) in &names {
                text.link-name x=(x) y=(y) text-anchor="middle" font-size="11" data-link=(link) { (link) }
            }
            @for (name, (x, y)) in scenario.nodes.iter().zip(&places) {
                circle.node cx=(x) cy=(y) r=(RADIUS) { title { (name) } }
                text.node-name x=(x) y=(y + BELOW) text-anchor="middle" font-size="12" { (name) }
            }
        }
    }
    .into_string()
}

/// The area that a text or a node covers: from the left to the right end, and from top to bottom.
#[derive(Clone, Copy)]
struct Area {
    x: (f64, f64),
    y: (f64, f64),
}

impl Area {
    /// That of a text whose base line has its middle here, in the size of the page's style sheet.
    fn of_text(text: &str, (x, y): (usize, usize)) -> Self {
        const CHARACTER: f64 = 8.0;
        const ASCENT: f64 = 13.0;
        const DESCENT: f64 = 4.0;
        let half = CHARACTER * text.chars().count() as f64 / 2.0;
        let (x, y) = (x as f64, y as f64);
        Self { x: (x - half, x + half), y: (y - ASCENT, y + DESCENT) }
    }

    fn of_node((x, y): (usize, usize)) -> Self {
        let (x, y, radius) = (x as f64, y as f64, RADIUS as f64);
        Self { x: (x - radius, x + radius), y: (y - radius, y + radius) }
    }

    fn overlaps(&self, other: &Self) -> bool {
        let meet = |one: (f64, f64), other: (f64, f64)| one.0 < other.1 && other.0 < one.1;
        meet(self.x, other.x) && meet(self.y, other.y)
    }
}

/// The names of links with their places, beside the middle of the link or a third of its length, where they cover no other
/// name and no node: first the bottleneck, then short links before long ones, which may pass through nodes. A link without
/// such a place has no name in the drawing.
fn link_names<'s>(
    scenario: &'s Scenario,
    places: &[(usize, usize)],
    bottleneck: Option<usize>,
) -> Vec<(&'s str, (usize, usize))> {
    let at = |node: usize| places.get(node).copied().unwrap_or_default();
    let span = |link: &Link| at(link.from).0.abs_diff(at(link.to).0);
    let mut links: Vec<(usize, &Link)> = scenario.links.iter().enumerate().collect();
    links.sort_by_key(|(index, link)| (bottleneck != Some(*index), span(link)));
    let nodes = scenario.nodes.iter().zip(places);
    let mut covered: Vec<Area> = nodes
        .flat_map(|(name, &(x, y))| [Area::of_node((x, y)), Area::of_text(name, (x, y + BELOW))])
        .collect();
    let place = |(_, link): (usize, &'s Link)| {
        let name = link.name.value.as_str();
        let free = |at: &(usize, usize)| {
            let area = Area::of_text(name, *at);
            area.x.0 >= 0.0 && area.y.0 >= 0.0 && !covered.iter().any(|other| other.overlaps(&area))
        };
        let at = beside(link, places).into_iter().find(free)?;
        covered.push(Area::of_text(name, at));
        Some((name, at))
    };
    links.into_iter().filter_map(place).collect()
}

/// The places for the name of a link, the best one first.
fn beside(link: &Link, places: &[(usize, usize)]) -> Vec<(usize, usize)> {
    const ABOVE: [usize; 2] = [8, 25];
    let at = |node: usize| places.get(node).copied().unwrap_or_default();
    let (from, to) = (at(link.from), at(link.to));
    let along = |part: usize| {
        let between = |from: usize, to: usize| ((6 - part) * from + part * to) / 6;
        (between(from.0, to.0), between(from.1, to.1))
    };
    let above = |(x, y): (usize, usize)| ABOVE.map(|distance| (x, y.saturating_sub(distance)));
    [3, 2, 4].into_iter().map(along).flat_map(above).collect()
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
    html! {
        line class=(class) x1=(from.0) y1=(from.1) x2=(to.0) y2=(to.1) stroke="currentColor"
            stroke-width=(if is_bottleneck { "3" } else { "1.5" }) data-link=(link.name.value) {
            title { (link.name.value) ", " (properties(link)) }
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
        (MARGIN + column * COLUMN, TOP + above + row * ROW)
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

    /// Links of six lakes have names that are longer than the links.
    #[test]
    fn names_of_links_do_not_cover_one_another_or_names_of_nodes() {
        for shipped in shipped::scenarios() {
            let scenario = scenario(&shipped.text);
            let places = places(&scenario);
            let bottleneck = bottleneck(&scenario).map(|hop| hop.link);
            let names = link_names(&scenario, &places, bottleneck);
            let bold = bottleneck.map(|link| scenario.links[link].name.value.as_str());
            assert_eq!(names.first().map(|name| name.0), bold, "{}", shipped.name);
            let mut areas: Vec<Area> = names.iter().map(|(name, at)| Area::of_text(name, *at)).collect();
            for (name, (x, y)) in scenario.nodes.iter().zip(&places) {
                let area = Area::of_text(name, (*x, y + BELOW));
                assert!(areas[..names.len()].iter().all(|other| !other.overlaps(&area)), "{}", shipped.name);
            }
            while let Some(area) = areas.pop() {
                assert!(areas.iter().all(|other| !other.overlaps(&area)), "{}", shipped.name);
            }
        }
        let text = shipped::scenarios().into_iter().find(|one| one.name == "two-bottlenecks").unwrap().text;
        let drawn = drawing(&scenario(&text));
        assert_eq!(drawn.matches("class=\"link-name\"").count(), 2);
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
