//! Values and bounds of rows: how they are written in a recipe, and printed.

use millpond_papers::{AcceptedRange, PaperValue};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct Row {
    paper: PaperValue,
}

fn paper(text: &str) -> Result<String, String> {
    let row: Result<Row, _> = toml::from_str(&format!("paper = {text}"));
    row.map(|row| row.paper.to_string()).map_err(|fault| fault.message().to_owned())
}

#[test]
fn a_value_is_a_number_a_range_an_expression_or_an_order() {
    for (text, printed) in [
        ("7", "7"),
        ("[0.88, 0.934]", "0.88 to 0.934"),
        ("'20 * ln(2) / 0.05'", "277.26"),
        ("['1 / 2', 0.75]", "0.5 to 0.75"),
        ("{ order = '<', than = 'ABC' }", "< ABC"),
        ("{ order = '>' }", "> 1"),
        ("{ order = '>=', than = 'ABC', by = 1.5 }", ">= ABC by a factor of 1.5"),
    ] {
        assert_eq!(paper(text).as_deref(), Ok(printed));
    }
}

#[test]
fn anything_else_is_refused() {
    for (text, fault) in [
        ("'it converges fast'", "words belong in `claim`"),
        ("true", "expected a number, a range [low, high]"),
        ("[2, 1]", "a range is [low, high]"),
        ("[1, 2, 3]", "a range is [low, high]"),
        ("{ order = '=', than = 'ABC' }", "unknown variant"),
        ("{ order = '<', than = 'ABC', by = 0.5 }", "at least 1"),
        ("{ order = '<', that = 'ABC' }", "unknown field `that`"),
    ] {
        assert!(paper(text).is_err_and(|message| message.contains(fault)), "{text}: {:?}", paper(text));
    }
}

#[test]
fn bounds_are_printed_with_five_digits() {
    let printed = |low, high| AcceptedRange(low, high).to_string();
    assert_eq!(printed(6.644_958_2, 8.51), "6.645 to 8.51");
    assert_eq!(printed(0.000_123_456_7, 23_750.0), "0.00012346 to 23750");
    assert_eq!(printed(1_234_567.4, f64::INFINITY), "at least 1234567");
    assert_eq!(printed(-0.5, -0.5), "-0.5");
}

#[test]
fn bounds_are_two_numbers() {
    #[derive(Debug, Deserialize)]
    struct Row {
        #[allow(dead_code, reason = "only its errors are read")]
        accept: AcceptedRange,
    }
    let fault = toml::from_str::<Row>("accept = [1]").unwrap_err();
    assert!(fault.message().contains("expected a range [least, greatest]"), "{}", fault.message());
}
