//! The message for a name that does not exist.

/// The message for an unknown name: the names that exist, and the nearest of them.
pub fn unknown<'a>(name: &str, kind: &str, names: impl IntoIterator<Item = &'a String>) -> String {
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    let near = millpond_units::nearest(name, names.iter().copied());
    let hint = near.map_or(String::new(), |near| format!(" (did you mean \"{near}\"?)"));
    format!("no {kind} \"{name}\"; there are: {}{hint}", names.join(", "))
}
