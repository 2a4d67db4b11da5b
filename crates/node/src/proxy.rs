//! How applications name the target of a connection: SOCKS version 5 (RFC 1928) and the method CONNECT of HTTP (RFC 9110,
//! section 9.3.6). Only bytes: no socket.

use crate::flow::Abort;
use crate::target::Target;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The largest request of either protocol.
pub const MOST_REQUEST: usize = 8192;

/// The protocol that applications use at a port of the enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proxy {
    /// SOCKS version 5 without authentication; `greeted`: its method was chosen.
    Socks5 {
        /// The method was chosen.
        greeted: bool,
    },
    /// HTTP CONNECT.
    HttpConnect,
}

/// What follows from the bytes that have come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// More bytes must come.
    More,
    /// `reply` must be sent, and `consumed` bytes are done; the protocol goes on.
    Reply {
        /// The next state.
        next: Proxy,
        /// What to send.
        reply: Vec<u8>,
        /// Bytes of the request that were used.
        consumed: usize,
    },
    /// The target is known; the bytes after `consumed` are data.
    Open {
        /// The target.
        target: Target,
        /// Bytes of the request that were used.
        consumed: usize,
    },
    /// The request is refused with this reply.
    Refuse(Vec<u8>),
}

impl Proxy {
    /// Processes what has come.
    pub fn step(self, bytes: &[u8]) -> Step {
        match self {
            Self::Socks5 { greeted: false } => greeting(bytes),
            Self::Socks5 { greeted: true } => socks_request(bytes),
            Self::HttpConnect => http_request(bytes),
        }
    }

    /// What the application is sent when the exit is connected.
    pub fn success(self) -> Vec<u8> {
        match self {
            Self::Socks5 { .. } => socks_reply(0),
            Self::HttpConnect => b"HTTP/1.1 200 Connection established\r\n\r\n".to_vec(),
        }
    }

    /// What the application is sent when the flow has failed before that.
    pub fn failure(self, reason: Abort) -> Vec<u8> {
        let (socks, status) = match reason {
            Abort::NotAllowed => (2, "403 Forbidden"),
            Abort::NotConnected => (5, "502 Bad Gateway"),
            _ => (1, "503 Service Unavailable"),
        };
        match self {
            Self::Socks5 { .. } => socks_reply(socks),
            Self::HttpConnect => http_reply(status, &reason.to_string()),
        }
    }
}

/// A reply of SOCKS, with an address of zeros: the exit's own address is not known here.
fn socks_reply(code: u8) -> Vec<u8> {
    vec![5, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

fn http_reply(status: &str, text: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}\n", text.len() + 1)
        .into_bytes()
}

fn greeting(bytes: &[u8]) -> Step {
    match bytes {
        [] | [5] => Step::More,
        [5, count, methods @ ..] => {
            let count = usize::from(*count);
            let Some(methods) = methods.get(..count) else { return Step::More };
            if methods.contains(&0) {
                let next = Proxy::Socks5 { greeted: true };
                Step::Reply { next, reply: vec![5, 0], consumed: 2 + count }
            } else {
                Step::Refuse(vec![5, 0xff])
            }
        }
        _ => Step::Refuse(Vec::new()),
    }
}

fn socks_request(bytes: &[u8]) -> Step {
    let [version, command, _, kind, rest @ ..] = bytes else { return Step::More };
    if (*version, *command) != (5, 1) {
        return Step::Refuse(socks_reply(7));
    }
    let (host, rest, used) = match (kind, rest) {
        (1, [a, b, c, d, rest @ ..]) => (Ipv4Addr::new(*a, *b, *c, *d).to_string(), rest, 4),
        (3, [length, rest @ ..]) => {
            let Some((name, rest)) = rest.split_at_checked(usize::from(*length)) else { return Step::More };
            (String::from_utf8_lossy(name).into_owned(), rest, 1 + name.len())
        }
        (4, _) => {
            let Some((address, rest)) = rest.split_first_chunk::<16>() else { return Step::More };
            (format!("[{}]", Ipv6Addr::from(*address)), rest, 16)
        }
        (1 | 3, _) => return Step::More,
        _ => return Step::Refuse(socks_reply(8)),
    };
    let [high, low, ..] = rest else { return Step::More };
    match format!("{host}:{}", u16::from_be_bytes([*high, *low])).parse() {
        Ok(target) => Step::Open { target, consumed: 4 + used + 2 },
        Err(_) => Step::Refuse(socks_reply(1)),
    }
}

fn http_request(bytes: &[u8]) -> Step {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return if bytes.len() < MOST_REQUEST {
            Step::More
        } else {
            Step::Refuse(http_reply("431 Request Header Fields Too Large", "the request is too long"))
        };
    };
    let head = String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned();
    let mut words = head.lines().next().unwrap_or_default().split(' ');
    match (words.next(), words.next(), words.next(), words.next()) {
        (Some("CONNECT"), Some(target), Some("HTTP/1.1" | "HTTP/1.0"), None) => match target.parse() {
            Ok(target) => Step::Open { target, consumed: end + 4 },
            Err(error) => Step::Refuse(http_reply("400 Bad Request", &error)),
        },
        (Some(_), Some(_), Some(_), None) => {
            Step::Refuse(http_reply("405 Method Not Allowed", "only the method CONNECT is served"))
        }
        _ => Step::Refuse(http_reply("400 Bad Request", "expected a request of HTTP")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOCKS: Proxy = Proxy::Socks5 { greeted: true };

    fn open(target: &str, consumed: usize) -> Step {
        Step::Open { target: target.parse().unwrap(), consumed }
    }

    #[test]
    fn socks_chooses_the_method_without_authentication() {
        let step = Proxy::Socks5 { greeted: false }.step(&[5, 2, 1, 0, 9]);
        assert_eq!(step, Step::Reply { next: SOCKS, reply: vec![5, 0], consumed: 4 });
        assert_eq!(Proxy::Socks5 { greeted: false }.step(&[5, 1, 2]), Step::Refuse(vec![5, 0xff]));
        assert_eq!(Proxy::Socks5 { greeted: false }.step(&[5, 2, 0]), Step::More);
        assert_eq!(Proxy::Socks5 { greeted: false }.step(b"GET"), Step::Refuse(Vec::new()));
    }

    #[test]
    fn socks_requests_name_addresses_and_names() {
        let name = [&[5, 1, 0, 3, 11][..], b"example.org", &[1, 187, 99]].concat();
        assert_eq!(SOCKS.step(&name), open("example.org:443", 18));
        for length in 0..18 {
            assert_eq!(SOCKS.step(&name[..length]), Step::More, "{length}");
        }
        assert_eq!(SOCKS.step(&[5, 1, 0, 1, 192, 0, 2, 1, 0, 80]), open("192.0.2.1:80", 10));
        let six = [&[5, 1, 0, 4][..], &Ipv6Addr::LOCALHOST.octets(), &[0, 80]].concat();
        assert_eq!(SOCKS.step(&six), open("[::1]:80", 22));
        assert_eq!(SOCKS.step(&[5, 2, 0, 1]), Step::Refuse(socks_reply(7)), "BIND is not served");
        assert_eq!(SOCKS.step(&[5, 1, 0, 9]), Step::Refuse(socks_reply(8)));
    }

    #[test]
    fn http_connect_names_a_target_and_may_be_followed_by_data() {
        let request = b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\ndata";
        assert_eq!(Proxy::HttpConnect.step(request), open("example.org:443", request.len() - 4));
        assert_eq!(Proxy::HttpConnect.step(&request[..30]), Step::More);
        let refused = |request: &[u8]| match Proxy::HttpConnect.step(request) {
            Step::Refuse(reply) => String::from_utf8(reply).unwrap().lines().next().unwrap().to_owned(),
            step => format!("{step:?}"),
        };
        assert_eq!(refused(b"GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 405 Method Not Allowed");
        assert_eq!(refused(b"CONNECT example.org HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 Bad Request");
        assert_eq!(refused(b"nonsense\r\n\r\n"), "HTTP/1.1 400 Bad Request");
        assert!(refused(&[b'x'; MOST_REQUEST]).starts_with("HTTP/1.1 431"));
    }
}
