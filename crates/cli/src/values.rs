//! Values of options, checked as they are read: a complaint says what was expected.

/// A seed.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}, such as 1", u64::MAX))
}

/// How many seeds.
pub(crate) fn seeds(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| (1..=10_000).contains(number));
    number.ok_or_else(|| "expected a whole number from 1 to 10000, such as 5".to_owned())
}

/// One name of a list.
pub(crate) fn name(text: &str) -> Result<String, String> {
    let name = text.trim();
    let expected =
        "expected names with commas between them, such as lgcc,cubic; `millpond protocols` lists them";
    if name.is_empty() { Err(expected.to_owned()) } else { Ok(name.to_owned()) }
}

/// How many values on each side of a map.
pub(crate) fn points(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (2..=500).contains(number));
    number.ok_or_else(|| "expected a whole number from 2 to 500, such as 40".to_owned())
}
