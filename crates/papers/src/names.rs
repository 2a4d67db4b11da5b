//! Numbers and variables in the names of cases and quantities.

/// Units of one dimension each, with their size in the first of it.
const DIMENSIONS: [&[(&str, f64)]; 3] = [
    &[("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)],
    &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6)],
    &[("B", 1.0), ("KB", 1e3), ("MB", 1e6)],
];

/// The first number of a text, in `unit` if the word after it is a unit of the same dimension: `1 Gbit/s` is 1000 in
/// Mbit/s. A fraction such as `1/5` is a number.
pub fn first_number(text: &str, unit: &str) -> Option<f64> {
    let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let (index, number) = words.iter().enumerate().find_map(|(index, word)| Some((index, number(word)?)))?;
    let written = words.get(index + 1).copied().unwrap_or_default();
    Some(number * factor(written, unit).unwrap_or(1.0))
}

fn number(word: &str) -> Option<f64> {
    match word.split_once('/') {
        Some((over, under)) => Some(over.parse::<f64>().ok()? / under.parse::<f64>().ok()?),
        None => word.parse().ok().filter(|_| word.starts_with(|first: char| first.is_ascii_digit())),
    }
}

/// The factor from a unit to another one of the same dimension.
fn factor(from: &str, to: &str) -> Option<f64> {
    DIMENSIONS.iter().find_map(|units| {
        let size = |name: &str| units.iter().find(|(unit, _)| *unit == name).map(|(_, size)| size);
        Some(size(from)? / size(to)?)
    })
}

/// The parts of a case's name, divided by commas, that do not begin with a digit: `LGCC` of `LGCC, 2, 50 ms`.
pub fn without_numbers(case: &str) -> String {
    let parts = case.split(", ").filter(|part| !part.starts_with(|first: char| first.is_ascii_digit()));
    parts.collect::<Vec<_>>().join(", ")
}

/// The part of a text that differs from what is written: from its first variable `{name}` to its last one.
pub fn variable_part<'t>(written: &str, text: &'t str) -> &'t str {
    let Some((before, after)) = around_variables(written) else { return "" };
    text.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)).unwrap_or_default()
}

/// A text as it is written, with an ellipsis from its first variable to its last one.
pub fn without_variables(written: &str) -> String {
    around_variables(written)
        .map_or_else(|| written.to_owned(), |(before, after)| format!("{before}…{after}"))
}

/// What is written before the first variable and after the last one; none without variables.
fn around_variables(written: &str) -> Option<(&str, &str)> {
    Some((written.split_once('{')?.0, written.rsplit_once('}')?.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_of_a_text_is_in_the_unit_of_the_axis() {
        let read = [
            ("20 Mbit/s, whole run", "Mbit/s", Some(20.0)),
            ("1 Gbit/s", "Mbit/s", Some(1000.0)),
            ("1 s", "ms", Some(1000.0)),
            ("1/5, whole run", "", Some(0.2)),
            ("LGCC, AT&T, 4", "flows", Some(4.0)),
            ("129 a second", "1/s", Some(129.0)),
            ("median in 50 ms, one flow", "ms", Some(50.0)),
            ("no number", "", None),
        ];
        for (text, unit, expected) in read {
            assert_eq!(first_number(text, unit), expected, "{text}");
        }
    }

    #[test]
    fn names_are_divided_into_their_numbers_variables_and_the_rest() {
        assert_eq!(without_numbers("LGCC, AT&T, 1, 50 ms"), "LGCC, AT&T");
        assert_eq!(without_numbers("20 Mbit/s"), "");
        assert_eq!(
            variable_part("window of users {a}-{b} at {c} s", "window of users 1-10 at 5 s"),
            "1-10 at 5"
        );
        assert_eq!(variable_part("{a} rate", "least rate"), "least");
        assert_eq!(variable_part("rate", "rate"), "");
        assert_eq!(without_variables("window of users {a}-{b} at {c} s"), "window of users … s");
        assert_eq!(without_variables("rate"), "rate");
    }
}
