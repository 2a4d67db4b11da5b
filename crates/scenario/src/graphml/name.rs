//! From labels such as "Washington, DC" to names that a scenario can write without quotes.

use std::collections::BTreeMap;

/// The label with every run of other characters than letters, digits and underscores as one hyphen.
fn plain(label: &str) -> String {
    let words = label.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// A name for each node, from its label or else its id; nodes that share a label have their ids appended.
/// `Err` is the indices of two nodes that would still share a name.
pub(super) fn names(nodes: &[(&str, Option<&str>)]) -> Result<Vec<String>, (usize, usize)> {
    let own = |&(id, label): &(&str, Option<&str>)| {
        label.map(plain).filter(|name| !name.is_empty()).unwrap_or_else(|| plain(id))
    };
    let mut holders: BTreeMap<String, usize> = BTreeMap::new();
    for node in nodes {
        *holders.entry(own(node)).or_default() += 1;
    }
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let mut names = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        let name = own(node);
        let shared = holders.get(&name).is_some_and(|&holders| holders > 1);
        let name = if shared { format!("{name}-{}", plain(node.0)) } else { name };
        if let Some(other) = taken.insert(name.clone(), number) {
            return Err((other, number));
        }
        names.push(name);
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_names_and_nodes_that_share_a_label_have_their_ids_appended() {
        let nodes = [
            ("0", Some("Washington, DC")),
            ("n 1", None),
            ("2", Some("Oslo")),
            ("3", Some("Oslo")),
            ("4", Some("  ")),
            ("5", Some("São_Paulo")),
        ];
        let expected = ["Washington-DC", "n-1", "Oslo-2", "Oslo-3", "4", "São_Paulo"];
        assert_eq!(names(&nodes).unwrap(), expected);
        assert_eq!(names(&[("a", Some("b")), ("b", None), ("x", Some("b, b"))]), Err((1, 2)));
    }
}
