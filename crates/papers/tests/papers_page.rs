//! Tests of `papers/README.md`: its lists are those of the recipes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers fail as tests do")]

use millpond_papers::{Library, Recipe};
use millpond_results::World;

const PAGE: &str = include_str!("../../../papers/README.md");

/// The recipes that the page lists on the line after this one.
fn listed_after(end_of_line: &str) -> Vec<String> {
    let mut lines = PAGE.lines().skip_while(|line| !line.ends_with(end_of_line));
    let list = lines.nth(1).unwrap_or_else(|| panic!("no list after {end_of_line:?}"));
    list.trim_end_matches('.').split(", ").map(|name| name.trim_matches('`').to_owned()).collect()
}

/// The names of the shipped recipes with a property, in alphabetic order.
fn recipes_with(property: impl Fn(&Recipe) -> bool) -> Vec<String> {
    let library = Library::builtin().unwrap();
    let recipes = library.select(None).unwrap().into_iter().map(|selected| selected.recipe);
    let mut names: Vec<_> =
        recipes.filter(|recipe| property(recipe)).map(|recipe| recipe.name.clone()).collect();
    names.sort();
    names
}

/// Whether packets are simulated in a case that has hosts without a processing time.
fn has_periodic_hosts(recipe: &Recipe) -> bool {
    let simulates_packets = recipe.cases.iter().any(|case| case.world == World::Packets);
    let jitter = recipe.scenario.as_ref().and_then(|scenario| scenario.get("hosts")?.get("jitter"));
    let in_cases = recipe.cases.iter().filter_map(|case| case.set.get("hosts.jitter"));
    simulates_packets && jitter.into_iter().chain(in_cases).any(|jitter| jitter.as_str() == Some("0s"))
}

#[test]
fn the_page_lists_the_recipes_with_periodic_hosts() {
    assert_eq!(listed_after("and says so:"), recipes_with(has_periodic_hosts));
}

#[test]
fn the_page_lists_the_recipes_whose_quick_check_has_several_seeds() {
    assert_eq!(listed_after("also in the quick check:"), recipes_with(|recipe| recipe.quick.seeds > 1));
}
