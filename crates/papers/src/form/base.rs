//! `base = "fig5"`: the scenario, the recurrence and the stages of a recipe in the same folder.

use super::fault::Fault;
use super::node::Node;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The text of the recipe with this name in the same folder, or nothing.
pub(crate) type Siblings<'a, 'i> = &'a dyn Fn(&str) -> Option<&'i str>;

/// The key that names the sibling.
const BASE: &str = "base";
/// What is taken over from it.
const SHARED: [&str; 3] = ["scenario", "recurrence", "stages"];

/// Lays what a recipe gives itself over what its `base` gives: tables key by key, everything else replaced.
///
/// # Errors
/// There is no such recipe, it cannot be read, or it has a base itself.
pub(super) fn lay_under<'i>(document: &mut DeTable<'i>, siblings: Siblings<'_, 'i>) -> Result<(), Fault> {
    let Some(base) = document.get(BASE) else { return Ok(()) };
    let span = base.span();
    let fault = |message: String| Fault::at(span.clone(), message);
    let name = base.get_ref().as_str().ok_or_else(|| fault("base is the name of a recipe".into()))?;
    let text = siblings(name).ok_or_else(|| fault(format!("no recipe \"{name}\" in this folder")))?;
    let parsed = DeTable::parse(text).map_err(|error| fault(format!("{name}: {}", error.message())))?;
    let mut parsed = parsed.into_inner();
    if parsed.contains_key(BASE) {
        return Err(fault(format!("{name} has a base itself: name that one")));
    }
    for key in SHARED {
        let Some(mut lower) = parsed.remove(key) else { continue };
        point_at(&mut lower, &span);
        let lower = match document.remove(key) {
            Some(upper) => over(lower, upper),
            None => lower,
        };
        document.insert(Spanned::new(span.clone(), key.into()), lower);
    }
    Ok(())
}

/// Errors in what comes from the base point at the key that names it.
fn point_at(node: &mut Node<'_>, span: &Range<usize>) {
    let inner = match std::mem::replace(node.get_mut(), DeValue::Boolean(false)) {
        DeValue::Array(items) => DeValue::Array(items.into_iter().map(|item| moved(item, span)).collect()),
        DeValue::Table(fields) => {
            let field = |(key, value): (Spanned<_>, _)| {
                (Spanned::new(span.clone(), key.into_inner()), moved(value, span))
            };
            DeValue::Table(fields.into_iter().map(field).collect())
        }
        plain => plain,
    };
    *node = Spanned::new(span.clone(), inner);
}

fn moved<'i>(mut node: Node<'i>, span: &Range<usize>) -> Node<'i> {
    point_at(&mut node, span);
    node
}

/// `upper` over `lower`.
fn over<'i>(lower: Node<'i>, upper: Node<'i>) -> Node<'i> {
    let span = upper.span();
    match (lower.into_inner(), upper.into_inner()) {
        (DeValue::Table(mut lower), DeValue::Table(upper)) => {
            for (key, value) in upper {
                let value = match lower.remove(key.get_ref().as_ref()) {
                    Some(below) => over(below, value),
                    None => value,
                };
                lower.insert(key, value);
            }
            Spanned::new(span, DeValue::Table(lower))
        }
        (_, upper) => Spanned::new(span, upper),
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use toml::Table;

    const SIBLING: &str = "title = 'sibling'\n[scenario]\nduration = '1s'\nmeasure = { from = '2s', every = '1ms' }\n\
                           [[scenario.links]]\ncolumns = ['name']\nrows = [['a'], ['b']]";

    fn table(text: &str) -> Result<Table, String> {
        let sibling = |name: &str| match name {
            "fig5" => Some(SIBLING),
            "fig6" => Some("base = 'fig5'"),
            _ => None,
        };
        read(text, &sibling).map_err(|fault| fault.show(text))
    }

    #[test]
    fn a_recipe_lays_its_scenario_over_that_of_its_base() {
        let read = table("base = 'fig5'\n[scenario]\nduration = '3s'\nmeasure = { every = '2ms' }").unwrap();
        let long = "base = 'fig5'\n[scenario]\nduration = '3s'\nmeasure = { from = '2s', every = '2ms' }\n\
                    [[scenario.links]]\nname = 'a'\n[[scenario.links]]\nname = 'b'";
        assert_eq!(read, long.parse().unwrap());
    }

    #[test]
    fn a_base_that_cannot_be_is_shown_where_it_is_named() {
        for (text, words) in [
            ("title = 't'\nbase = 'fig7'", "no recipe \"fig7\" in this folder"),
            ("title = 't'\nbase = 'fig6'", "fig6 has a base itself"),
            ("title = 't'\nbase = 5", "base is the name of a recipe"),
        ] {
            let fault = table(text).unwrap_err();
            assert!(fault.contains("line 2, column 8") && fault.contains(words), "{fault}");
        }
    }
}
