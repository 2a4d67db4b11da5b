//! The key `base`: a recipe extends the scenario, the recurrence and the stages of another one in its folder.

use super::fault::Fault;
use super::node::SpannedValue;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Returns the text of the recipe with a given name in the same folder, if there is one.
pub(crate) type Siblings<'a, 'i> = &'a dyn Fn(&str) -> Option<&'i str>;

/// The key with the name of the base.
const BASE: &str = "base";
/// The keys that are inherited from the base.
const SHARED: [&str; 3] = ["scenario", "recurrence", "stages"];

/// Merges the keys of the `base` of a recipe into it. Tables are merged key by key; other values of the recipe replace
/// those of the base.
///
/// # Errors
/// The base does not exist, cannot be parsed, or has a base itself.
pub(super) fn merge_base<'i>(document: &mut DeTable<'i>, siblings: Siblings<'_, 'i>) -> Result<(), Fault> {
    let Some(base) = document.get(BASE) else { return Ok(()) };
    let span = base.span();
    let fault = |message: String| Fault::at(span.clone(), message);
    let name = base.get_ref().as_str().ok_or_else(|| fault("base is the name of a recipe".into()))?;
    let text = siblings(name).ok_or_else(|| fault(format!("no recipe \"{name}\" in this folder")))?;
    let parsed = DeTable::parse(text).map_err(|error| fault(format!("{name}: {}", error.message())))?;
    let mut parsed = parsed.into_inner();
    if parsed.contains_key(BASE) {
        return Err(fault(format!("{name} has a base itself; use that one")));
    }
    for key in SHARED {
        let Some(mut lower) = parsed.remove(key) else { continue };
        set_spans(&mut lower, &span);
        let lower = match document.remove(key) {
            Some(upper) => merge(lower, upper),
            None => lower,
        };
        document.insert(Spanned::new(span.clone(), key.into()), lower);
    }
    Ok(())
}

/// Sets the byte range of every value in `node` to `span`, the one of the key `base`, so that errors point at it.
fn set_spans(node: &mut SpannedValue<'_>, span: &Range<usize>) {
    let inner = match std::mem::replace(node.get_mut(), DeValue::Boolean(false)) {
        DeValue::Array(items) => {
            DeValue::Array(items.into_iter().map(|item| with_spans(item, span)).collect())
        }
        DeValue::Table(fields) => {
            let field = |(key, value): (Spanned<_>, _)| {
                (Spanned::new(span.clone(), key.into_inner()), with_spans(value, span))
            };
            DeValue::Table(fields.into_iter().map(field).collect())
        }
        plain => plain,
    };
    *node = Spanned::new(span.clone(), inner);
}

fn with_spans<'i>(mut node: SpannedValue<'i>, span: &Range<usize>) -> SpannedValue<'i> {
    set_spans(&mut node, span);
    node
}

/// `upper` merged over `lower`: tables key by key, other values replaced.
fn merge<'i>(lower: SpannedValue<'i>, upper: SpannedValue<'i>) -> SpannedValue<'i> {
    let span = upper.span();
    match (lower.into_inner(), upper.into_inner()) {
        (DeValue::Table(mut lower), DeValue::Table(upper)) => {
            for (key, value) in upper {
                let value = match lower.remove(key.get_ref().as_ref()) {
                    Some(below) => merge(below, value),
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
    fn the_scenario_of_a_recipe_is_merged_over_that_of_its_base() {
        let read = table("base = 'fig5'\n[scenario]\nduration = '3s'\nmeasure = { every = '2ms' }").unwrap();
        let long = "base = 'fig5'\n[scenario]\nduration = '3s'\nmeasure = { from = '2s', every = '2ms' }\n\
                    [[scenario.links]]\nname = 'a'\n[[scenario.links]]\nname = 'b'";
        assert_eq!(read, long.parse().unwrap());
    }

    #[test]
    fn an_invalid_base_is_reported_at_its_key() {
        for (text, message) in [
            ("title = 't'\nbase = 'fig7'", "no recipe \"fig7\" in this folder"),
            ("title = 't'\nbase = 'fig6'", "fig6 has a base itself"),
            ("title = 't'\nbase = 5", "base is the name of a recipe"),
        ] {
            let fault = table(text).unwrap_err();
            assert!(fault.contains("line 2, column 8") && fault.contains(message), "{fault}");
        }
    }
}
