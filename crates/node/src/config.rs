//! The file of a node, `node.toml`.

use crate::carrier::Carrier;
use crate::connections::Connections;
use crate::identity::{Identity, PublicKey};
use crate::node::{Neighbour, NodeConfig};
use crate::target::{Rule, Target};
use crate::weight::Weight;
use millpond_law::{Settings, Value};
use millpond_protocols::Registry;
use millpond_units::{Bytes, Rate, Span, nearest};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use toml::Spanned;

/// The least MTU: that of IPv6, and enough for the 1200 bytes of QUIC.
const LEAST_MTU: u64 = 1280;
/// The largest MTU: what a UDP datagram may have.
const MOST_MTU: u64 = 65_000;
/// Headers of IP and UDP.
const OVERHEAD_V4: u64 = 28;
const OVERHEAD_V6: u64 = 48;

/// How long a busy node leaves its sockets alone: by default, and at most.
const COALESCE: Span = Span::from_micros(500);
const LONGEST_COALESCE: Span = Span::from_millis(10);

/// The longest times for which data is held, and by which hosts are late. Memory and queues grow with them.
const LONGEST_HOLD: Span = Span::from_millis(10_000);
const LONGEST_SLACK: Span = Span::from_millis(1000);

/// The largest buffers: of a stream, and of an accepted socket. The least that a socket needs.
const MOST_BUFFER: Bytes = Bytes::new(1_000_000_000);
const LEAST_RECEIVE_BUFFER: Bytes = Bytes::new(4000);

/// An error in a file: one line that says what is wrong and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file.
    pub file: PathBuf,
    /// The line, if the error has one.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  {}", self.message, self.file.display())?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

impl std::error::Error for ConfigError {}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It accepts TCP connections and sends their data to the next node.
    Enter,
    /// It passes flows on.
    Relay,
    /// It connects flows to their targets.
    Exit,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// A JSON object in each line.
    Json,
}

/// A port that is forwarded to one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    /// Where the enter accepts connections.
    pub listen: SocketAddr,
    /// The target at the exit.
    pub target: Target,
    /// Weight of its flows in loops that they share.
    pub weight: Weight,
}

/// A whole configuration.
#[derive(Clone)]
pub struct Config {
    /// What the node does.
    pub role: Role,
    /// Where it receives datagrams.
    pub listen: SocketAddr,
    /// The core.
    pub node: NodeConfig,
    /// Forwarded ports.
    pub forwards: Vec<Forward>,
    /// Where the enter serves SOCKS version 5.
    pub socks5: Option<SocketAddr>,
    /// Where the enter accepts the method CONNECT of HTTP.
    pub http_connect: Option<SocketAddr>,
    /// Weights of flows by their targets: the first rule that a target matches.
    pub weights: Vec<(Rule, Weight)>,
    /// What the exit allows.
    pub allow: Vec<Rule>,
    /// Where metrics and health are served.
    pub status: Option<SocketAddr>,
    /// Receive buffer of accepted sockets.
    pub receive_buffer: Bytes,
    /// Where the capacity of the outgoing link is read while the node runs.
    pub capacity_source: Option<CapacitySource>,
    /// Why there is no capacity at that source now. A node starts nevertheless, because the source may come later.
    pub capacity_fault: Option<ConfigError>,
    /// A busy node looks at its sockets at most once in this time.
    pub coalesce: Span,
    /// How log lines are written.
    pub log: LogFormat,
}

/// What says the capacity of the outgoing link while a node runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CapacitySource {
    /// A file with a rate, read once a second.
    File(PathBuf),
    /// A program with its arguments: each line of its output is a rate. It starts again a second after its end.
    Command(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NextTable {
    address: Spanned<String>,
    key: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ForwardTable {
    listen: Spanned<String>,
    target: Spanned<String>,
    weight: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WeightTable {
    target: Spanned<String>,
    weight: Spanned<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    role: Spanned<Role>,
    listen: Spanned<String>,
    key: Spanned<String>,
    next: Option<NextTable>,
    #[serde(default)]
    previous: Vec<Spanned<String>>,
    protocol: Option<Spanned<String>>,
    #[serde(default)]
    parameters: BTreeMap<String, Spanned<toml::Value>>,
    #[serde(default)]
    forward: Vec<ForwardTable>,
    #[serde(default)]
    weight: Vec<WeightTable>,
    socks5: Option<Spanned<String>>,
    http_connect: Option<Spanned<String>>,
    #[serde(default)]
    allow: Vec<Spanned<String>>,
    status: Option<Spanned<String>>,
    mtu: Option<Spanned<u64>>,
    hold: Option<Spanned<String>>,
    slack: Option<Spanned<String>>,
    coalesce: Option<Spanned<String>>,
    capacity: Option<Spanned<String>>,
    capacity_file: Option<Spanned<String>>,
    capacity_command: Option<Spanned<Vec<String>>>,
    idle_timeout: Option<Spanned<String>>,
    stream_window: Option<Spanned<String>>,
    receive_buffer: Option<Spanned<String>>,
    max_flows: Option<Spanned<u64>>,
    #[serde(default)]
    log: LogFormat,
    connections: Option<Spanned<Sharing>>,
}

/// How flows are carried to the next neighbour, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Sharing {
    Shared,
    PerFlow,
}

/// A file that is being read.
struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    outside: Outside,
}

impl Reader<'_> {
    fn line(&self, at: usize) -> usize {
        self.text.get(..at).unwrap_or(self.text).matches('\n').count() + 1
    }

    /// The key whose value begins at this place; none if the place is that of a key.
    fn key_before(&self, at: usize) -> Option<&str> {
        let line = self.text.get(..at)?.rsplit('\n').next()?;
        let (key, _) = line.split_once('=')?;
        Some(key.trim()).filter(|key| !key.is_empty())
    }

    /// A fault of the form of the file, in the words of its documentation.
    fn form_error(&self, error: &toml::de::Error) -> ConfigError {
        let message = ["u64", "f64", "a sequence", "a map", "a string"]
            .iter()
            .zip(["a whole number, at least zero", "a number", "a list", "a table", "a text"])
            .fold(error.message().to_owned(), |message, (type_name, words)| {
                message.replace(&format!("expected {type_name}"), &format!("expected {words}"))
            });
        let message = self.with_the_written_key(error, message);
        let key = error.span().and_then(|span| self.key_before(span.start));
        let message = key.map_or_else(|| message.clone(), |key| format!("{key}: {message}"));
        let line = error.span().map(|span| self.line(span.start));
        ConfigError { file: self.path.to_owned(), line, message }
    }

    /// The message with the name of a key that is there twice, and with the nearest of the known keys for a misspelt one.
    fn with_the_written_key(&self, error: &toml::de::Error, message: String) -> String {
        let written = error.span().and_then(|span| self.text.get(span)).unwrap_or_default();
        if message == "duplicate key" {
            return format!("`{written}` is there twice");
        }
        let Some((unknown, known)) = message.split_once(", expected one of ") else { return message };
        let names = known.split(", ").map(|name| name.trim_matches('`'));
        match unknown.starts_with("unknown field").then(|| nearest(written, names)).flatten() {
            Some(near) => format!("{unknown}; did you mean `{near}`? Expected one of {known}"),
            None => message,
        }
    }

    fn error(&self, span: Option<Range<usize>>, key: &str, message: impl fmt::Display) -> ConfigError {
        let line = span.map(|span| self.line(span.start));
        ConfigError { file: self.path.to_owned(), line, message: format!("{key}: {message}") }
    }

    fn parse<T: FromStr<Err: fmt::Display>>(
        &self,
        key: &str,
        text: &Spanned<String>,
    ) -> Result<T, ConfigError> {
        text.get_ref().parse().map_err(|error| self.error(Some(text.span()), key, error))
    }

    fn parse_or<T: FromStr<Err: fmt::Display>>(
        &self,
        key: &str,
        text: Option<&Spanned<String>>,
        default: T,
    ) -> Result<T, ConfigError> {
        text.map_or(Ok(default), |text| self.parse(key, text))
    }

    /// A quantity within these limits, or its default.
    fn within<T: FromStr<Err: fmt::Display> + PartialOrd + fmt::Display>(
        &self,
        key: &str,
        text: Option<&Spanned<String>>,
        default: T,
        limits: RangeInclusive<T>,
    ) -> Result<T, ConfigError> {
        let value = self.parse_or(key, text, default)?;
        if limits.contains(&value) {
            return Ok(value);
        }
        let message = format!("expected a value from {} to {}", limits.start(), limits.end());
        Err(self.error(text.map(Spanned::span), key, message))
    }

    /// An address of this host.
    fn address(&self, key: &str, text: &Spanned<String>) -> Result<SocketAddr, ConfigError> {
        text.get_ref().parse().map_err(|_| {
            let message =
                format!("expected an address such as \"127.0.0.1:8080\", found \"{}\"", text.get_ref());
            self.error(Some(text.span()), key, message)
        })
    }

    fn optional_address(
        &self,
        key: &str,
        text: Option<&Spanned<String>>,
    ) -> Result<Option<SocketAddr>, ConfigError> {
        text.map(|text| self.address(key, text)).transpose()
    }

    /// A path, which is relative to the folder of the file.
    fn relative(&self, text: &Spanned<String>) -> PathBuf {
        self.folder().join(text.get_ref())
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

/// What a configuration needs from outside the file.
#[derive(Clone, Copy)]
pub struct Outside {
    /// The addresses of a name with a port.
    pub resolve: fn(&Target) -> std::io::Result<Vec<SocketAddr>>,
    /// The private key in a file, or a message.
    pub read_key: fn(&Path) -> Result<Identity, String>,
    /// A message if the source has no capacity now.
    pub check_capacity: fn(&CapacitySource) -> Result<(), String>,
}

impl Outside {
    /// The resolver and the file system of this host.
    pub const HOST: Self = Self { resolve, read_key, check_capacity: CapacitySource::check };
}

fn resolve(target: &Target) -> std::io::Result<Vec<SocketAddr>> {
    Ok((target.host.as_str(), target.port).to_socket_addrs()?.collect())
}

impl Config {
    /// Reads and checks a file.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let fault = |message: String| ConfigError { file: path.to_owned(), line: None, message };
        let text = std::fs::read_to_string(path)
            .map_err(|error| fault(format!("cannot read the configuration: {error}")))?;
        Self::parse(path, &text, Outside::HOST)
    }

    /// Checks the text of a file.
    pub fn parse(path: &Path, text: &str, outside: Outside) -> Result<Self, ConfigError> {
        let reader = Reader { path, text, outside };
        let file: File = toml::from_str(text).map_err(|error| reader.form_error(&error))?;
        check_role(&reader, &file)?;
        check_addresses(&reader, &file)?;
        let listen = reader.address("listen", &file.listen)?;
        let node = node_config(&reader, &file, listen)?;
        let weights = file.weight.iter().map(|table| {
            Ok((
                reader.parse("weight.target", &table.target)?,
                weight(&reader, "weight.weight", &table.weight)?,
            ))
        });
        let weights: Vec<(Rule, Weight)> = weights.collect::<Result<_, _>>()?;
        let forwards = file.forward.iter().map(|forward| {
            let listen = reader.address("forward.listen", &forward.listen)?;
            let target = reader.parse("forward.target", &forward.target)?;
            let weight = match &forward.weight {
                Some(written) => weight(&reader, "forward.weight", written)?,
                None => weight_of(&weights, &target),
            };
            Ok(Forward { listen, target, weight })
        });
        let capacity_source = capacity_source(&reader, &file)?;
        Ok(Self {
            role: *file.role.get_ref(),
            listen,
            node,
            forwards: forwards.collect::<Result<_, _>>()?,
            weights,
            socks5: reader.optional_address("socks5", file.socks5.as_ref())?,
            http_connect: reader.optional_address("http_connect", file.http_connect.as_ref())?,
            allow: file.allow.iter().map(|rule| reader.parse("allow", rule)).collect::<Result<_, _>>()?,
            status: reader.optional_address("status", file.status.as_ref())?,
            receive_buffer: reader.within(
                "receive_buffer",
                file.receive_buffer.as_ref(),
                Bytes::new(128 * 1024),
                LEAST_RECEIVE_BUFFER..=MOST_BUFFER,
            )?,
            capacity_fault: capacity_source
                .as_ref()
                .and_then(|source| capacity_fault(&reader, &file, source)),
            capacity_source,
            coalesce: coalesce(&reader, &file)?,
            log: file.log,
        })
    }
}

/// The weight of flows to a target: that of the first rule which it matches, 1 if there is none.
pub fn weight_of(weights: &[(Rule, Weight)], target: &Target) -> Weight {
    weights.iter().find(|(rule, _)| rule.names(target)).map_or_else(Weight::default, |(_, weight)| *weight)
}

fn weight(reader: &Reader<'_>, key: &str, written: &Spanned<f64>) -> Result<Weight, ConfigError> {
    let value = *written.get_ref();
    let fault = || {
        reader.error(Some(written.span()), key, format!("expected a number from 0.01 to 100, found {value}"))
    };
    Weight::new(value).ok_or_else(fault)
}

/// The tables that a role needs, and those that it must not have.
fn check_role(reader: &Reader<'_>, file: &File) -> Result<(), ConfigError> {
    let accepts = !file.forward.is_empty() || file.socks5.is_some() || file.http_connect.is_some();
    let parts = [
        ("next", file.next.is_some(), [true, true, false]),
        ("previous", !file.previous.is_empty(), [false, true, true]),
        ("forward, socks5 or http_connect", accepts, [true, false, false]),
        ("allow", !file.allow.is_empty(), [false, false, true]),
    ];
    let (place, role) = match file.role.get_ref() {
        Role::Enter => (0, "enter"),
        Role::Relay => (1, "relay"),
        Role::Exit => (2, "exit"),
    };
    for (key, is_given, roles) in parts {
        let span = Some(file.role.span());
        match (is_given, roles[place]) {
            (false, true) => {
                return Err(reader.error(
                    span,
                    "role",
                    format!("an {role} needs `{key}`").replace("an relay", "a relay"),
                ));
            }
            (true, false) => {
                return Err(reader.error(
                    span,
                    "role",
                    format!("an {role} has no `{key}`").replace("an relay", "a relay"),
                ));
            }
            _ => {}
        }
    }
    if let Some(table) = file.weight.first().filter(|_| *file.role.get_ref() != Role::Enter) {
        let message = "only an enter has it: the weight of a flow travels with the flow";
        return Err(reader.error(Some(table.target.span()), "weight", message));
    }
    Ok(())
}

/// Services that accept connections need addresses of their own: an address without a host is that of every host.
fn check_addresses(reader: &Reader<'_>, file: &File) -> Result<(), ConfigError> {
    let named = [("socks5", &file.socks5), ("http_connect", &file.http_connect), ("status", &file.status)];
    let forwards = file.forward.iter().map(|forward| ("forward.listen", &forward.listen));
    let written = named.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?))).chain(forwards);
    let mut known: Vec<(&str, SocketAddr)> = Vec::new();
    for (key, text) in written {
        let address = reader.address(key, text)?;
        if let Some((other, _)) = known.iter().find(|(_, other)| is_same_socket(address, *other)) {
            let message =
                format!("{address} is taken by `{other}`: each service needs an address of its own");
            return Err(reader.error(Some(text.span()), key, message));
        }
        known.push((key, address));
    }
    Ok(())
}

fn is_same_socket(one: SocketAddr, other: SocketAddr) -> bool {
    let (is_any, is_equal) =
        (one.ip().is_unspecified() || other.ip().is_unspecified(), one.ip() == other.ip());
    // Port 0: the system chooses one.
    let is_same_port = one.port() == other.port() && one.port() > 0;
    is_same_port && one.is_ipv4() == other.is_ipv4() && (is_any || is_equal)
}

/// The configured capacity of the outgoing link.
fn configured_capacity(reader: &Reader<'_>, file: &File) -> Result<Option<Rate>, ConfigError> {
    let Some(text) = &file.capacity else { return Ok(None) };
    let capacity: Rate = reader.parse("capacity", text)?;
    if capacity.is_zero() {
        return Err(reader.error(Some(text.span()), "capacity", "expected a rate above zero"));
    }
    Ok(Some(capacity))
}

fn node_config(reader: &Reader<'_>, file: &File, listen: SocketAddr) -> Result<NodeConfig, ConfigError> {
    let (protocol, settings) = law(reader, file)?;
    let capacity = configured_capacity(reader, file)?;
    let carrier = Carrier { interface: capacity, ..Carrier::QUIC };
    let span = file.protocol.as_ref().map(Spanned::span);
    carrier.check(protocol, &settings).map_err(|refusal| reader.error(span, "protocol", refusal))?;
    let most_flows = file.max_flows.as_ref().map_or(1000, |flows| *flows.get_ref());
    if !(1..=100_000).contains(&most_flows) {
        let span = file.max_flows.as_ref().map(Spanned::span);
        return Err(reader.error(span, "max_flows", "expected a number from 1 to 100000"));
    }
    let idle_timeout =
        reader.parse_or("idle_timeout", file.idle_timeout.as_ref(), Span::from_millis(3000))?;
    if !(Span::from_millis(500)..=Span::from_millis(600_000)).contains(&idle_timeout) {
        let span = file.idle_timeout.as_ref().map(Spanned::span);
        return Err(reader.error(span, "idle_timeout", "expected a time from 500ms to 10min"));
    }
    let shortest = Span::from_picos(1);
    let hold = reader.within("hold", file.hold.as_ref(), Span::from_millis(20), shortest..=LONGEST_HOLD)?;
    let slack =
        reader.within("slack", file.slack.as_ref(), Span::from_millis(1), Span::ZERO..=LONGEST_SLACK)?;
    Ok(NodeConfig {
        identity: identity(reader, &file.key)?,
        next: file.next.as_ref().map(|next| neighbour(reader, next)).transpose()?,
        previous: file.previous.iter().map(|key| reader.parse("previous", key)).collect::<Result<_, _>>()?,
        protocol,
        settings,
        packet: mtu(reader, file)?,
        overhead: Bytes::new(if listen.is_ipv4() { OVERHEAD_V4 } else { OVERHEAD_V6 }),
        hold,
        slack: slack + coalesce(reader, file)? * 2,
        capacity,
        idle_timeout,
        stream_window: stream_window(reader, file)?,
        most_flows: usize::try_from(most_flows).unwrap_or(usize::MAX),
        connections: connections(reader, file)?,
        seed: 1,
    })
}

/// What a neighbour may send on one stream ahead of what this node has read: a packet at least.
fn stream_window(reader: &Reader<'_>, file: &File) -> Result<Bytes, ConfigError> {
    let written = file.stream_window.as_ref();
    let window = reader.parse_or("stream_window", written, Bytes::new(1 << 20))?;
    let packet = mtu(reader, file)?;
    if !(packet..=MOST_BUFFER).contains(&window) {
        let message = format!("expected a size from a packet of `mtu` = {packet} to {MOST_BUFFER}");
        return Err(reader.error(written.map(Spanned::span), "stream_window", message));
    }
    Ok(window)
}

/// How long a busy node leaves its sockets alone.
fn coalesce(reader: &Reader<'_>, file: &File) -> Result<Span, ConfigError> {
    let written = file.coalesce.as_ref();
    let coalesce = reader.parse_or("coalesce", written, COALESCE)?;
    if coalesce > LONGEST_COALESCE {
        return Err(reader.error(written.map(Spanned::span), "coalesce", "expected a time of at most 10ms"));
    }
    Ok(coalesce)
}

/// How flows are carried. The number of connections depends on the capacity, which must therefore be known.
fn connections(reader: &Reader<'_>, file: &File) -> Result<Connections, ConfigError> {
    let Some(written) = &file.connections else { return Ok(Connections::Shared) };
    let fault = |message| Err(reader.error(Some(written.span()), "connections", message));
    if *file.role.get_ref() == Role::Exit {
        return fault("an exit has none: it does not connect to a next node");
    }
    let sources = [file.capacity.is_some(), file.capacity_file.is_some(), file.capacity_command.is_some()];
    match written.get_ref() {
        Sharing::Shared => Ok(Connections::Shared),
        Sharing::PerFlow if !sources.contains(&true) => fault(
            "\"per-flow\" needs `capacity`, `capacity_file` or `capacity_command`: each connection sends at least a packet \
             per round-trip time, so that the bandwidth-delay product limits their number",
        ),
        Sharing::PerFlow => Ok(Connections::PerFlow),
    }
}

/// Where the capacity is read while the node runs.
fn capacity_source(reader: &Reader<'_>, file: &File) -> Result<Option<CapacitySource>, ConfigError> {
    let Some(command) = &file.capacity_command else {
        let path = file.capacity_file.as_ref().map(|text| reader.relative(text));
        return Ok(path.map(CapacitySource::File));
    };
    let fault = |message| Err(reader.error(Some(command.span()), "capacity_command", message));
    if file.capacity_file.is_some() {
        return fault("expected without `capacity_file`: one of them says the capacity");
    }
    let mut words = command.get_ref().clone();
    match words.first_mut() {
        // A path is relative to the configuration; a name is searched as a shell does.
        Some(program) if program.contains('/') => {
            *program = reader.folder().join(&*program).to_string_lossy().into_owned();
        }
        Some(program) if !program.is_empty() => {}
        _ => return fault("expected a program and its arguments, such as [\"link-rate\", \"wwan0\"]"),
    }
    Ok(Some(CapacitySource::Command(words)))
}

/// Why the source of the capacity has none now.
fn capacity_fault(reader: &Reader<'_>, file: &File, source: &CapacitySource) -> Option<ConfigError> {
    let (key, span) = match source {
        CapacitySource::File(_) => ("capacity_file", file.capacity_file.as_ref().map(Spanned::span)),
        CapacitySource::Command(_) => ("capacity_command", file.capacity_command.as_ref().map(Spanned::span)),
    };
    let message = (reader.outside.check_capacity)(source).err()?;
    Some(reader.error(span, key, message))
}

impl CapacitySource {
    /// Whether the file has a rate, or the program can be run.
    fn check(&self) -> Result<(), String> {
        match self {
            Self::File(path) => read_rate(path).map(drop),
            Self::Command(words) => {
                let program = Path::new(words.first().map_or("", String::as_str));
                let has_folder = program.components().nth(1).is_some() || program.is_absolute();
                let folders = std::env::var_os("PATH").unwrap_or_default();
                let is_found = if has_folder {
                    is_program(program)
                } else {
                    std::env::split_paths(&folders).any(|folder| is_program(&folder.join(program)))
                };
                is_found.then_some(()).ok_or_else(|| format!("there is no program {}", program.display()))
            }
        }
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

/// The rate that a file contains.
pub(crate) fn read_rate(path: &Path) -> Result<Rate, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    text.trim().parse().map_err(|error| format!("{}: {error}", path.display()))
}

/// What nodes set where the configuration does not. They have timers: the paced form of the window fills loops without
/// bursts. And the next loop's rate is a limit, so that the marks of each hop are paid once and not at every hop before it
/// (Theorem 8.4, LGCC).
pub const LGCC_DEFAULTS: &[(&str, &str)] = &[("control", "paced-window"), ("backpressure", "minimum")];

/// The protocol with its parameters.
fn law(
    reader: &Reader<'_>,
    file: &File,
) -> Result<(&'static dyn millpond_law::Protocol, Settings), ConfigError> {
    let name = file.protocol.as_ref().map_or("lgcc", |name| name.get_ref());
    let span = file.protocol.as_ref().map(Spanned::span);
    let protocol = Registry::builtin().protocol(name).map_err(|unknown| {
        let nearest =
            unknown.nearest.map_or(".".to_owned(), |nearest| format!("; did you mean \"{nearest}\"?"));
        let message =
            format!("there is no protocol \"{name}\"{nearest} There are: {}", unknown.known.join(", "));
        reader.error(span.clone(), "protocol", message)
    })?;
    let defaults = if name == "lgcc" { LGCC_DEFAULTS } else { &[] };
    let is_open = |(key, _): &&(&str, &str)| !file.parameters.contains_key(*key);
    let mut written: Vec<(&str, Value)> =
        defaults.iter().filter(is_open).map(|(key, word)| (*key, Value::text(word))).collect();
    for (name, value) in &file.parameters {
        written.push((name.as_str(), parameter(reader, name, value)?));
    }
    let settings = Settings::check(protocol.card().parameters, written).map_err(|error| {
        let span = file.parameters.get(&error.name).map(Spanned::span).or(span);
        reader.error(span, "parameters", error)
    })?;
    Ok((protocol, settings))
}

fn parameter(reader: &Reader<'_>, name: &str, value: &Spanned<toml::Value>) -> Result<Value, ConfigError> {
    match value.get_ref() {
        toml::Value::Integer(number) => Ok(Value::Number(*number as f64)),
        toml::Value::Float(number) => Ok(Value::Number(*number)),
        toml::Value::Boolean(flag) => Ok(Value::Flag(*flag)),
        toml::Value::String(text) => Ok(Value::Text(text.clone().into())),
        _ => {
            let key = format!("parameters.{name}");
            Err(reader.error(Some(value.span()), &key, "expected a number, a text or a flag"))
        }
    }
}

fn neighbour(reader: &Reader<'_>, next: &NextTable) -> Result<Neighbour, ConfigError> {
    let fault = |message: String| reader.error(Some(next.address.span()), "next.address", message);
    let target: Target = reader.parse("next.address", &next.address)?;
    let addresses = (reader.outside.resolve)(&target)
        .map_err(|error| fault(format!("cannot resolve \"{target}\": {error}")))?;
    let address = addresses.first().copied().ok_or_else(|| fault(format!("\"{target}\" has no address")))?;
    let key: PublicKey = reader.parse("next.key", &next.key)?;
    Ok(Neighbour { address, key })
}

fn mtu(reader: &Reader<'_>, file: &File) -> Result<Bytes, ConfigError> {
    let mtu = file.mtu.as_ref().map_or(1500, |mtu| *mtu.get_ref());
    if (LEAST_MTU..=MOST_MTU).contains(&mtu) {
        return Ok(Bytes::new(mtu));
    }
    let message =
        format!("expected the size of an IP packet from {LEAST_MTU} to {MOST_MTU} bytes, found {mtu}");
    Err(reader.error(file.mtu.as_ref().map(Spanned::span), "mtu", message))
}

/// The private key of the node.
fn identity(reader: &Reader<'_>, key: &Spanned<String>) -> Result<Identity, ConfigError> {
    let path = reader.relative(key);
    (reader.outside.read_key)(&path).map_err(|message| reader.error(Some(key.span()), "key", message))
}

/// Reads a private key, which nobody else may read.
fn read_key(path: &Path) -> Result<Identity, String> {
    use std::os::unix::fs::MetadataExt;
    let shown = path.display();
    let metadata = std::fs::metadata(path)
        .map_err(|error| format!("cannot read {shown}: {error}; `millpond node keys FILE` makes a key"))?;
    if !metadata.is_file() {
        return Err(format!("{shown} is not a file"));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(format!("{shown} can be read by others; run `chmod 600 {shown}`"));
    }
    let pem = std::fs::read_to_string(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    Identity::read(&pem).map_err(|error| format!("{shown}: {error}"))
}

/// Writes a new private key to a file that must not exist, and returns its public key.
pub fn write_key(path: &Path) -> Result<PublicKey, String> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let pem = crate::identity::generate()?;
    let public = Identity::read(&pem)?.public();
    let fault = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            format!("{} exists already, and no key is replaced: give another name", path.display())
        }
        _ => format!("cannot write {}: {error}", path.display()),
    };
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(fault)?;
    if let Err(error) = file.write_all(pem.as_bytes()).and_then(|()| file.sync_all()) {
        drop(file);
        let _ = std::fs::remove_file(path);
        return Err(fault(error));
    }
    Ok(public)
}
