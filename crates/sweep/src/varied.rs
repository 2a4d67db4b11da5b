//! A key of the scenario and the values that it takes.

use crate::quantity::{NumberWithUnit, Unit};
use std::collections::BTreeSet;

/// A varied key with its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Varied {
    /// The key: `links.L1.rate`.
    pub key: String,
    /// Key and values as they were written.
    pub(crate) text: String,
    pub(crate) values: Values,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    /// These values, as a scenario reads them.
    List(Vec<String>),
    /// Any value of a range, for samples.
    Range(Range),
}

/// The numbers between two ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Range {
    low: f64,
    high: f64,
    unit: Unit,
    /// Whether equal ratios are equally likely, or equally far apart, instead of equal differences.
    logarithmic: bool,
}

/// Most values of one key.
const MOST_VALUES: usize = 10_000;

impl Varied {
    /// Reads `KEY=V1,V2,...`, `KEY=LOW..HIGH:N` (equal differences), `KEY=LOW..HIGH:log:N` (equal ratios), or a range
    /// without N, of which samples are taken. The ends of a range have one unit or units of one kind; whole numbers give
    /// whole numbers. Values of ranges are rounded to four significant digits.
    ///
    /// # Errors
    /// What was expected instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        let usage = "write KEY=VALUE,VALUE,..., KEY=LOW..HIGH:N or KEY=LOW..HIGH:log:N, such as links.L1.rate=10Mbps..1Gbps:log:5";
        let (key, values) = text.split_once('=').ok_or_else(|| format!("{text}: {usage}"))?;
        let (key, values) = (key.trim(), values.trim());
        if key.is_empty() || values.is_empty() {
            return Err(format!("{text}: {usage}"));
        }
        let fault = |fault: String| format!("{text}: {fault}");
        let values = match range_ends(values) {
            None => Values::List(list(values)),
            Some((ends, form)) => {
                let (logarithmic, count) = match form.strip_prefix("log") {
                    Some(rest) => (true, rest.strip_prefix(':').unwrap_or(rest)),
                    None => (false, form),
                };
                let range = Range::parse(ends, logarithmic).map_err(fault)?;
                match count {
                    "" => Values::Range(range),
                    count => {
                        let grid = number_of_values(count).and_then(|count| range.grid(count));
                        Values::List(grid.map_err(fault)?)
                    }
                }
            }
        };
        Self { key: key.to_owned(), text: text.to_owned(), values }.without_repetition(text)
    }

    fn without_repetition(self, text: &str) -> Result<Self, String> {
        if let Values::List(list) = &self.values {
            let mut earlier = BTreeSet::new();
            if let Some(value) = list.iter().find(|value| !earlier.insert(*value)) {
                return Err(format!("{text}: the value {value} occurs twice"));
            }
        }
        Ok(self)
    }

    /// The values of a list; none for a range.
    pub(crate) fn list(&self) -> Option<&[String]> {
        match &self.values {
            Values::List(list) => Some(list),
            Values::Range(_) => None,
        }
    }

    /// The value at a share of the range, or of the list, from 0 to 1.
    pub(crate) fn at(&self, share: f64) -> String {
        match &self.values {
            Values::Range(range) => range.at(share),
            Values::List(list) => {
                // Not negative, and limited to the list.
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let index = (share * list.len() as f64) as usize;
                list.get(index.min(list.len() - 1)).cloned().unwrap_or_default()
            }
        }
    }
}

fn number_of_values(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| (2..=MOST_VALUES).contains(count));
    count.ok_or_else(|| {
        format!("\"{text}\" is no number of values from 2 to {MOST_VALUES}, as in 1Mbps..1Gbps:log:5")
    })
}

/// The ends of a range, and what follows them. A value that begins with a bracket or a quote is no range.
fn range_ends(values: &str) -> Option<((&str, &str), &str)> {
    if values.starts_with(['[', '{', '"', '\'']) {
        return None;
    }
    let (low, rest) = values.split_once("..")?;
    let (high, form) = rest.split_once(':').unwrap_or((rest, ""));
    Some(((low, high), form))
}

/// The values between commas that are not within brackets or quotes.
fn list(values: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let (mut depth, mut quote) = (0_usize, None);
    for c in values.chars() {
        match (quote, c) {
            (Some(end), _) if c == end => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                found.push(String::new());
                continue;
            }
            (None, _) => {}
        }
        if let Some(last) = found.last_mut() {
            last.push(c);
        }
    }
    found.iter().map(|value| value.trim().to_owned()).collect()
}

impl Range {
    fn parse((low, high): (&str, &str), logarithmic: bool) -> Result<Self, String> {
        let end = |text: &str| {
            NumberWithUnit::parse(text).ok_or_else(|| format!("\"{}\" is no number with a unit", text.trim()))
        };
        let (low, high) = (end(low)?, end(high)?);
        let unit = match (low.unit, high.unit) {
            (Unit::Count, Unit::One) | (Unit::One, Unit::Count) => Unit::One,
            (low, high) if low == high => low,
            (Unit::Count | Unit::One, unit) if low.number == 0.0 => unit,
            (Unit::Count | Unit::One, _) | (_, Unit::Count | Unit::One) => {
                return Err("one end of the range has a unit, and the other has none".to_owned());
            }
            _ => return Err("the ends of the range have different units".to_owned()),
        };
        let (low, high) = (low.number, high.number);
        if low >= high {
            return Err("write the lower end of the range first".to_owned());
        }
        if logarithmic && low <= 0.0 {
            return Err("a range with equal ratios begins above zero".to_owned());
        }
        Ok(Self { low, high, unit, logarithmic })
    }

    /// This many values, the ends included.
    ///
    /// # Errors
    /// Some of them are equal when they are rounded.
    fn grid(&self, count: usize) -> Result<Vec<String>, String> {
        const MOST_LISTED: usize = 10;
        let mut values: Vec<String> =
            (0..count).map(|index| self.at(index as f64 / (count - 1) as f64)).collect();
        values.dedup();
        let different = values.len();
        if different == count {
            return Ok(values);
        }
        let rounded = if self.unit == Unit::Count { "whole numbers" } else { "four significant digits" };
        let list = match different {
            ..=MOST_LISTED => format!(", or these as a list: {}", values.join(",")),
            _ => String::new(),
        };
        Err(format!(
            "{count} values of this range, rounded to {rounded}, have only {different} different ones; write fewer{list}"
        ))
    }

    /// The value at a share of the range.
    fn at(&self, share: f64) -> String {
        let number = if self.logarithmic {
            self.low * (self.high / self.low).powf(share)
        } else {
            self.low + (self.high - self.low) * share
        };
        NumberWithUnit { number, unit: self.unit.clone() }.text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        Varied::parse(text).unwrap().list().unwrap().to_vec()
    }

    #[test]
    fn lists_and_ranges() {
        assert_eq!(values("flows.a.count=1,10,100"), ["1", "10", "100"]);
        assert_eq!(values("l=10Mbps..1Gbps:log:5"), ["10Mbps", "31.62Mbps", "100Mbps", "316.2Mbps", "1Gbps"]);
        assert_eq!(values("d=0ms..10ms:3"), ["0s", "5ms", "10ms"]);
        assert_eq!(values("d=0..10ms:3"), ["0s", "5ms", "10ms"]);
        assert_eq!(values("n=1..10:log:4"), ["1", "2", "5", "10"]);
        assert_eq!(values("x=1.0..2:3"), ["1.0", "1.5", "2.0"]);
        assert_eq!(values("b=1bdp..4bdp:log:3"), ["1bdp", "2bdp", "4bdp"]);
        assert_eq!(values("p=[\"A\", \"B\"],[\"A\", \"C\"]"), ["[\"A\", \"B\"]", "[\"A\", \"C\"]"]);
        assert_eq!(values("t=\"a,b\",c"), ["\"a,b\"", "c"]);
    }

    #[test]
    fn a_range_without_a_number_of_values_is_for_samples() {
        let varied = Varied::parse("l=1Mbps..100Mbps:log").unwrap();
        assert_eq!(varied.list(), None);
        assert_eq!([0.0, 0.5, 1.0].map(|share| varied.at(share)), ["1Mbps", "10Mbps", "100Mbps"]);
        assert_eq!(Varied::parse("l=a,b").unwrap().at(0.99), "b");
    }

    #[test]
    fn each_mistake_has_a_message() {
        for (text, part) in [
            ("links", "write KEY=VALUE"),
            ("=5", "write KEY=VALUE"),
            ("l=", "write KEY=VALUE"),
            ("l=1Mbps..5ms:3", "different units"),
            ("l=1Mbps..x:3", "\"x\" is no number"),
            ("l=1..40Mbps:3", "one end of the range has a unit"),
            ("l=0..40Mbps:log:3", "above zero"),
            ("l=5..1:3", "lower end"),
            ("l=0..1:log:3", "above zero"),
            ("l=1..9:1", "\"1\" is no number of values"),
            ("l=1..9:logs:3", "\"s:3\" is no number of values"),
            ("l=a,a", "occurs twice"),
            ("n=1..4:7", "7 values of this range, rounded to whole numbers, have only 4 different ones"),
            ("n=1..4:7", "write fewer, or these as a list: 1,2,3,4"),
            ("n=1..10:log:8", "or these as a list: 1,2,3,4,5,7,10"),
            ("n=1..20:100", "only 20 different ones; write fewer"),
            ("l=10000Mbps..10001Mbps:3", "rounded to four significant digits, have only 1 different"),
        ] {
            let fault = Varied::parse(text).unwrap_err();
            assert!(fault.contains(part), "{text}: {fault}");
        }
    }
}
