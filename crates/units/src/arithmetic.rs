//! Arithmetic expressions: `20 * ln(2) / 0.05`.
//!
//! ```text
//!   sum     = product { ("+" | "-") product }
//!   product = sign { ("*" | "/") sign }
//!   sign    = "-" sign | power
//!   power   = atom [ "^" sign ]
//!   atom    = number | "pi" | function "(" sum ")" | "(" sum ")"
//! ```

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::f64::consts::PI;

/// The function of a name.
fn function(name: &str) -> Option<fn(f64) -> f64> {
    match name {
        "ln" => Some(libm::log),
        "log" => Some(libm::log10),
        "log2" => Some(libm::log2),
        "exp" => Some(libm::exp),
        "sqrt" => Some(libm::sqrt),
        _ => None,
    }
}

/// The value of an expression of numbers, `+ - * / ^`, parentheses, `ln`, `log` (base 10), `log2`, `exp`, `sqrt` and
/// `pi`.
///
/// # Errors
/// The text is not an expression, or its value is not finite.
pub fn evaluate(text: &str) -> Result<f64, String> {
    let mut parser = Parser { rest: text.trim_start(), depth: 0 };
    let value = parser.sum()?;
    if !parser.rest.is_empty() {
        return Err(format!("an operator is expected at \"{}\"", parser.rest));
    }
    if value.is_finite() { Ok(value) } else { Err(format!("the value of \"{text}\" is not finite")) }
}

/// Most operands that are within each other: parentheses, signs and exponents. Each of them takes memory of the stack.
const MOST_NESTED: u32 = 100;

/// The part of the text that is not read yet, without leading spaces.
struct Parser<'a> {
    rest: &'a str,
    /// Number of operands around this part.
    depth: u32,
}

impl Parser<'_> {
    fn takes(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        loop {
            if self.takes("+") {
                value += self.product()?;
            } else if self.takes("-") {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.sign()?;
        loop {
            if self.takes("*") {
                value *= self.sign()?;
            } else if self.takes("/") {
                value /= self.sign()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn sign(&mut self) -> Result<f64, String> {
        if self.depth == MOST_NESTED {
            return Err(format!(
                "more than {MOST_NESTED} parentheses, signs or exponents are within each other"
            ));
        }
        self.depth += 1;
        let value = if self.takes("-") { -self.sign()? } else { self.power()? };
        self.depth -= 1;
        Ok(value)
    }

    fn power(&mut self) -> Result<f64, String> {
        let base = self.atom()?;
        if self.takes("^") { Ok(libm::pow(base, self.sign()?)) } else { Ok(base) }
    }

    fn atom(&mut self) -> Result<f64, String> {
        if self.takes("(") {
            return self.closed();
        }
        let is_letter = |c: char| c.is_ascii_alphanumeric();
        if self.rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let end = self.rest.find(|c| !is_letter(c)).unwrap_or(self.rest.len());
            let (name, rest) = self.rest.split_at(end);
            self.rest = rest.trim_start();
            if name == "pi" {
                return Ok(PI);
            }
            let Some(function) = function(name) else { return Err(format!("unknown name \"{name}\"")) };
            return if self.takes("(") { Ok(function(self.closed()?)) } else { Err(format!("{name}(..)")) };
        }
        self.number()
    }

    /// A sum and the parenthesis that closes it.
    fn closed(&mut self) -> Result<f64, String> {
        let value = self.sum()?;
        if self.takes(")") { Ok(value) } else { Err("\")\" is missing".into()) }
    }

    /// A number, also `.5` and `1e-3`.
    fn number(&mut self) -> Result<f64, String> {
        let mut end = 0;
        for (index, c) in self.rest.char_indices() {
            let is_exponent_sign = matches!(c, '+' | '-') && self.rest[..index].ends_with(['e', 'E']);
            if !(c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E') || is_exponent_sign) {
                break;
            }
            end = index + c.len_utf8();
        }
        let (digits, rest) = self.rest.split_at(end);
        let value = digits.parse().map_err(|_| match self.rest {
            "" => "a number is expected at the end".to_owned(),
            rest => format!("a number is expected at \"{rest}\""),
        })?;
        self.rest = rest.trim_start();
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::evaluate;

    #[test]
    fn operators_bind_as_in_algebra() {
        for (text, value) in [
            ("2 + 3 * 4", 14.0),
            ("(2 + 3) * 4", 20.0),
            ("8 / 4 / 2", 1.0),
            ("7 - 2 - 1", 4.0),
            ("2 ^ 3 ^ 2", 512.0),
            ("-2 ^ 2", -4.0),
            ("2 ^ -1", 0.5),
            ("1 - 3 ^ (-ln(2) / ln(4))", 1.0 - f64::sqrt(1.0 / 3.0)),
            (" 20*ln(2)/.05 ", 277.258_872_223_978_1),
            ("sqrt(2) * exp(0) + log2(8) - log(100)", std::f64::consts::SQRT_2 + 1.0),
            ("pi/2", std::f64::consts::FRAC_PI_2),
            ("1e-3 * 2E+1", 0.02),
        ] {
            assert!((evaluate(text).unwrap() - value).abs() < 1e-12, "{text}: {:?}", evaluate(text));
        }
    }

    #[test]
    fn text_that_is_no_expression_is_refused() {
        for (text, fault) in [
            ("", "a number is expected"),
            ("it converges fast", "unknown name \"it\""),
            ("20 packets", "an operator is expected at \"packets\""),
            ("12 / ", "a number is expected at the end"),
            ("2 *", "a number is expected"),
            ("(1 + 2", "\")\" is missing"),
            ("ln 2", "ln(..)"),
            ("1 / 0", "not finite"),
            ("7.2.1", "a number is expected"),
        ] {
            assert!(
                evaluate(text).is_err_and(|message| message.contains(fault)),
                "{text}: {:?}",
                evaluate(text)
            );
        }
    }

    #[test]
    fn deeply_nested_text_is_refused_and_a_long_one_is_not() {
        let nested = |open: &str, close: &str, times| open.repeat(times) + "1" + &close.repeat(times);
        for (open, close) in [("(", ")"), ("-", ""), ("1^", ""), ("exp(", ")")] {
            assert!(evaluate(&nested(open, close, 90)).is_ok() || open == "exp(", "{open}");
            let fault = evaluate(&nested(open, close, 100_000)).unwrap_err();
            assert!(fault.contains("within each other"), "{fault}");
        }
        assert_eq!(evaluate(&nested("1 + ", " * 1", 100_000)), Ok(100_001.0));
    }
}
