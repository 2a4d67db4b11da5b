//! The link that the drawing, the numbers and the figures of both worlds show.

use millpond_results::Summary;
use millpond_scenario::{Hop, Scenario};
use std::collections::BTreeMap;

/// The direction of a link whose mean capacity, divided by the number of flows that cross it, is least; of equal ones the
/// first. It depends on the scenario alone, so that it is the same in both worlds, whatever the laws of the flows reach.
pub(crate) fn bottleneck(scenario: &Scenario) -> Option<Hop> {
    let mut crossing: BTreeMap<(usize, bool), u32> = BTreeMap::new();
    for group in &scenario.flows {
        let path = |flow: u32| group.path(flow as usize).iter();
        for hop in (0..group.count).flat_map(path) {
            *crossing.entry((hop.link, !hop.forward)).or_default() += 1;
        }
    }
    let share = |(&(link, is_backward), &flows): (&(usize, bool), &u32)| {
        let capacity = &scenario.links.get(link)?.direction(!is_backward).rate;
        let mean = capacity.schedule().mean(scenario.duration);
        Some((mean.as_f64() / f64::from(flows), Hop { link, forward: !is_backward }))
    };
    crossing.iter().filter_map(share).min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, hop)| hop)
}

/// The position of the bottleneck of `scenario` among the links of one of its runs.
pub(crate) fn position(scenario: &Scenario, summary: &Summary) -> Option<usize> {
    let hop = bottleneck(scenario)?;
    let link = scenario.links.get(hop.link)?;
    let [from, to] = [scenario.tail(hop), scenario.head(hop)];
    let direction = format!("{} -> {}", scenario.nodes.get(from)?, scenario.nodes.get(to)?);
    summary.links.iter().position(|one| one.name == link.name.value && one.direction == direction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Job, Task};
    use crate::requests::Edited;
    use crate::shipped;
    use millpond_protocols::Registry;

    fn scenario(text: &str) -> Scenario {
        let edited = Edited { text: text.to_owned(), overrides: Vec::new() };
        let job = Job { task: Task::Check, edited, folder: std::env::temp_dir(), width: 0 };
        job.scenario(&Registry::builtin()).unwrap()
    }

    /// Of 155 and 100 Mbit/s with 20 flows each the latter; of three equal links with two flows each the first; of links of
    /// 1 Gbit/s in a tree that to the root, which three flows share.
    #[test]
    fn the_bottleneck_has_the_least_capacity_per_flow() {
        let of = |name: &str| {
            let text = shipped::scenarios().into_iter().find(|one| one.name == name).unwrap().text;
            let scenario = scenario(&text);
            let Hop { link, forward } = bottleneck(&scenario).unwrap();
            (scenario.links[link].name.value.clone(), forward)
        };
        assert_eq!(of("two-bottlenecks"), ("L2".to_owned(), true));
        assert_eq!(of("parking-lot").0, "hop1");
        assert_eq!(of("dumbbell").0, "bottleneck");
        let text = shipped::scenarios().into_iter().find(|one| one.name == "incast").unwrap().text;
        let tree = scenario(&text);
        let hop = bottleneck(&tree).unwrap();
        let crossing = |group: &millpond_scenario::FlowGroup| {
            (0..group.count).filter(|flow| group.path(*flow as usize).contains(&hop)).count()
        };
        assert!(tree.flows.iter().map(crossing).sum::<usize>() > 1, "{hop:?}");
    }
}
