//! Targets of flows, and which of them an exit allows.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// Host and port, as in `example.org:443`, `192.0.2.1:80` or `[2001:db8::1]:80`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// A name or an address, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("expected host and port such as \"example.org:443\", found \"{text}\"");
        let (host, port) = text.rsplit_once(':').ok_or_else(expected)?;
        let port = port.parse().ok().filter(|port| *port > 0).ok_or_else(expected)?;
        let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_address = inner.is_some_and(|host| host.parse::<std::net::Ipv6Addr>().is_ok());
        let is_name = !host.is_empty()
            && host.len() <= 253
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'));
        match inner {
            Some(inner) if is_address => Ok(Self { host: inner.to_owned(), port }),
            None if is_name => Ok(Self { host: host.to_owned(), port }),
            _ => Err(expected()),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

/// Which hosts a rule allows.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Hosts {
    Any,
    Name(String),
    /// Addresses that agree with this one in as many leading bits.
    Network(IpAddr, u8),
}

/// A rule of an exit, such as `example.org:443`, `10.0.0.0/8:80-90`, `127.0.0.1:*` or `*:443`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    hosts: Hosts,
    ports: (u16, u16),
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            format!(
                "expected hosts and ports such as \"example.org:443\", \"10.0.0.0/8:80-90\" or \"127.0.0.1:*\", found \"{text}\""
            )
        };
        let (hosts, ports) = text.rsplit_once(':').ok_or_else(expected)?;
        let port = |text: &str| text.parse::<u16>().ok();
        let ports = match ports.split_once('-') {
            None if ports == "*" => Some((1, u16::MAX)),
            None => port(ports).map(|port| (port, port)),
            Some((first, last)) => port(first).zip(port(last)).filter(|(first, last)| first <= last),
        };
        let hosts = parse_hosts(hosts);
        Ok(Self { hosts: hosts.ok_or_else(expected)?, ports: ports.ok_or_else(expected)? })
    }
}

fn parse_hosts(text: &str) -> Option<Hosts> {
    if text == "*" {
        return Some(Hosts::Any);
    }
    let bare = text.strip_prefix('[').map_or(text, |text| text.trim_end_matches(']'));
    let (address, bits) = bare.split_once('/').map_or((bare, None), |(address, bits)| (address, Some(bits)));
    if let Ok(address) = address.trim_end_matches(']').parse::<IpAddr>() {
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Some(most), |bits| bits.parse().ok().filter(|bits| *bits <= most))?;
        return Some(Hosts::Network(address, bits));
    }
    let target: Target = format!("{text}:1").parse().ok()?;
    Some(Hosts::Name(target.host.to_ascii_lowercase()))
}

impl Rule {
    /// True if the rule applies to a target as it is written: no name is resolved, so that a network applies to addresses only.
    pub fn names(&self, target: &Target) -> bool {
        self.applies(target, target.host.parse().ok().map(|address: IpAddr| address.to_canonical()))
    }

    fn allows(&self, target: &Target, address: IpAddr) -> bool {
        self.applies(target, Some(address))
    }

    fn applies(&self, target: &Target, address: Option<IpAddr>) -> bool {
        let is_port = (self.ports.0..=self.ports.1).contains(&target.port);
        is_port
            && match &self.hosts {
                Hosts::Any => true,
                Hosts::Name(name) => target.host.eq_ignore_ascii_case(name),
                Hosts::Network(network, bits) => {
                    address.is_some_and(|address| is_in_network(address, *network, *bits))
                }
            }
    }
}

fn is_in_network(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    let number = |address: IpAddr| match address {
        IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
        IpAddr::V6(address) => address.to_bits(),
    };
    let differing = number(address) ^ number(network);
    address.is_ipv4() == network.is_ipv4() && differing.leading_zeros() >= u32::from(bits)
}

/// Those of the addresses of a target that the rules allow. A rule with a name allows whatever the name resolves to.
pub fn allowed(rules: &[Rule], target: &Target, addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let canonical = |address: &SocketAddr| address.ip().to_canonical();
    let is_allowed = |address: &&SocketAddr| rules.iter().any(|rule| rule.allows(target, canonical(address)));
    addresses.iter().filter(is_allowed).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_allowed(rules: &[&str], target: &str, address: &str) -> bool {
        let rules: Vec<Rule> = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        !allowed(&rules, &target.parse().unwrap(), &[address.parse().unwrap()]).is_empty()
    }

    #[test]
    fn targets_are_read_and_written() {
        for text in ["example.org:443", "192.0.2.1:80", "[2001:db8::1]:80"] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
        for text in
            ["", "example.org", "example.org:0", "example.org:70000", ":80", "a b:80", "[x]:80", "::1:80"]
        {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }

    #[test]
    fn rules_allow_names_networks_and_ports() {
        assert!(is_allowed(&["example.org:443"], "Example.org:443", "192.0.2.1:443"));
        assert!(!is_allowed(&["example.org:443"], "example.org:80", "192.0.2.1:80"));
        assert!(!is_allowed(&["example.org:443"], "www.example.org:443", "192.0.2.1:443"));
        assert!(is_allowed(&["10.0.0.0/8:80-90"], "inside:85", "10.200.1.1:85"));
        assert!(!is_allowed(&["10.0.0.0/8:80-90"], "inside:91", "10.200.1.1:91"));
        assert!(!is_allowed(&["10.0.0.0/8:80-90"], "outside:85", "11.0.0.1:85"));
        assert!(is_allowed(&["[2001:db8::/32]:*"], "name:1", "[2001:db8:1::1]:1"));
        assert!(is_allowed(&["127.0.0.1:*"], "localhost:1", "[::ffff:127.0.0.1]:1"), "a mapped address");
        assert!(!is_allowed(&[], "example.org:443", "192.0.2.1:443"));
        assert!(is_allowed(&["0.0.0.0/0:80"], "name:80", "192.0.2.1:80"));
    }

    #[test]
    fn rules_name_targets_without_a_look_up() {
        let names = |rule: &str, target: &str| rule.parse::<Rule>().unwrap().names(&target.parse().unwrap());
        assert!(names("*:443", "example.org:443") && names("Example.org:*", "example.org:80"));
        assert!(names("10.0.0.0/8:80", "10.1.2.3:80") && names("[2001:db8::/32]:80", "[2001:db8::1]:80"));
        assert!(!names("10.0.0.0/8:80", "example.org:80") && !names("*:443", "example.org:80"));
    }

    #[test]
    fn malformed_rules_are_refused() {
        for rule in ["", "example.org", "10.0.0.0/33:80", "host:90-80", "host:x", "a b:80"] {
            assert!(rule.parse::<Rule>().is_err(), "{rule}");
        }
    }
}
