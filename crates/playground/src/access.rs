//! Who may use the server: a page with the token, from this machine, under one of its own names.

use std::fmt;

/// A secret of 128 random bits, in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token(String);

impl Token {
    /// A new token from the operating system's random numbers.
    ///
    /// # Errors
    /// The system has none.
    pub(crate) fn new() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Whether a text is the token. The time does not depend on where they differ.
    pub(crate) fn is(&self, text: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let differ = own.iter().zip(text).fold(0, |differ, (one, other)| differ | (one ^ other));
        own.len() == text.len() && differ == 0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether the `Host` of a request names this server. Another name that resolves to this machine is refused, because a page
/// of that name could read the answers.
pub(crate) fn is_own_host(host: &str, port: u16) -> bool {
    ["127.0.0.1", "localhost"].iter().any(|name| host == format!("{name}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_the_token() {
        let token = Token("0123456789abcdef0123456789abcdef".into());
        assert!(token.is(b"0123456789abcdef0123456789abcdef"));
        for wrong in [
            "",
            "0123456789abcdef0123456789abcde",
            "0123456789abcdef0123456789abcdef0",
            "1123456789abcdef0123456789abcdef",
        ] {
            assert!(!token.is(wrong.as_bytes()), "{wrong}");
        }
        assert_ne!(Token::new().unwrap(), Token::new().unwrap());
        assert_eq!(Token::new().unwrap().to_string().len(), 32);
    }

    #[test]
    fn only_names_of_the_loopback_interface_with_the_port_are_own_hosts() {
        assert!(is_own_host("127.0.0.1:8000", 8000) && is_own_host("localhost:8000", 8000));
        for host in
            ["127.0.0.1", "127.0.0.1:8001", "evil.example:8000", "localhost.evil.example:8000", "[::1]:8000"]
        {
            assert!(!is_own_host(host, 8000), "{host}");
        }
    }
}
