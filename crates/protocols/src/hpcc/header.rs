//! The telemetry of HPCC: eight bytes for each link that the packet has passed, at most five. Their number is the length of the header
//! over eight.
//!
//! ```text
//! 0               1               2               3
//! +---------------+---------------+---------------+---------------+
//! |            time [16 ns]                       | busy time     |   once per link,
//! +---------------+---------------+---------------+---------------+   all big-endian
//! |              [16 ns]          | queue: exponent 5, mantissa 11|
//! +---------------+---------------+---------------+---------------+
//! ```
//!
//! Time and busy time count modulo 2^24 (0.27 s). The busy time is the time that the link has spent on sending; its growth over that
//! of the time is the utilization, `txRate / B` of the paper. The queue is the time that the waiting bytes need, `qlen / B`, in
//! nanoseconds: mantissa times two to the exponent. The paper has the same eight bytes per link with txBytes, qLen and a code for the
//! speed B of the link, which these fields do not need. Before them it has two bytes, with the number of links and an identifier of the
//! path. They are counted on the wire only: the type of the header contains its length, and paths are fixed.

use millpond_law::{Header, HeaderId};
use millpond_units::{Span, Time};
use zerocopy::byteorder::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Header number of HPCC.
pub(super) const ID: HeaderId = HeaderId(9);

/// Links that fit into a header.
pub(super) const MOST_LINKS: usize = 5;

/// Picoseconds per unit of time and busy time.
const TICK: u64 = 16_000;

/// Number of values of a 24-bit counter.
pub(super) const WRAP: u32 = 1 << 24;

const MANTISSA_BITS: u32 = 11;

/// What one link appends to a packet when it begins to send it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub struct LinkReport {
    time: [u8; 3],
    busy: [u8; 3],
    queue: U16,
}

/// The lowest 24 bits.
fn counter(ticks: u64) -> [u8; 3] {
    let [.., a, b, c] = ticks.to_be_bytes();
    [a, b, c]
}

fn value([a, b, c]: [u8; 3]) -> u32 {
    u32::from_be_bytes([0, a, b, c])
}

/// The time between two values of a counter that has wrapped at most once.
fn elapsed(from: [u8; 3], to: [u8; 3]) -> Span {
    let ticks = value(to).wrapping_sub(value(from)) % WRAP;
    Span::from_picos(u64::from(ticks) * TICK)
}

/// Nanoseconds as mantissa and exponent, rounded down.
fn to_float(nanos: u64) -> u16 {
    let exponent = (u64::BITS - nanos.leading_zeros()).saturating_sub(MANTISSA_BITS);
    if exponent > 31 {
        return u16::MAX;
    }
    (exponent << MANTISSA_BITS) as u16 | (nanos >> exponent) as u16
}

fn from_float(float: u16) -> u64 {
    let (exponent, mantissa) = (float >> MANTISSA_BITS, float & ((1 << MANTISSA_BITS) - 1));
    u64::from(mantissa) << exponent
}

impl LinkReport {
    /// The report of a link at this time, which has been busy for `busy` in all and needs `queue` for its waiting bytes.
    pub fn new(now: Time, busy: Span, queue: Span) -> Self {
        Self {
            time: counter(now.picos() / TICK),
            busy: counter(busy.picos() / TICK),
            queue: to_float(queue.picos() / 1000).into(),
        }
    }

    /// Time since an earlier report of the same link.
    pub fn since(&self, earlier: &Self) -> Span {
        elapsed(earlier.time, self.time)
    }

    /// Busy time since an earlier report of the same link.
    pub fn busy_since(&self, earlier: &Self) -> Span {
        elapsed(earlier.busy, self.busy)
    }

    /// The time that the link needs for its waiting bytes.
    pub fn queue(&self) -> Span {
        Span::from_picos(from_float(self.queue.get()).saturating_mul(1000))
    }
}

/// The reports of all links of a path, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Telemetry {
    count: usize,
    reports: [LinkReport; MOST_LINKS],
}

impl Telemetry {
    /// The telemetry of a header; none if it is foreign, or has a part of a report.
    pub fn parse(header: &Header) -> Option<Self> {
        let (reports, rest) = header.of(ID)?.as_chunks::<{ size_of::<LinkReport>() }>();
        if !rest.is_empty() || reports.len() > MOST_LINKS {
            return None;
        }
        let mut telemetry = Self { count: reports.len(), ..Self::default() };
        for (report, bytes) in telemetry.reports.iter_mut().zip(reports) {
            *report = LinkReport::read_from_bytes(bytes).ok()?;
        }
        Some(telemetry)
    }

    /// Writes the header of a packet that has passed no link.
    pub fn begin(header: &mut Header) {
        header.set(ID, &[]);
    }

    /// Appends the report of a link, unless the header is full; none if the header is not telemetry.
    pub fn append(header: &mut Header, report: &LinkReport) -> Option<()> {
        if header.of(ID)?.len() % size_of::<LinkReport>() != 0 {
            return None;
        }
        header.extend(ID, report.as_bytes());
        Some(())
    }

    /// The reports.
    pub fn reports(&self) -> &[LinkReport] {
        self.reports.get(..self.count).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_appends_eight_bytes_in_this_order() {
        let mut header = Header::NONE;
        Telemetry::begin(&mut header);
        assert_eq!((header.protocol(), header.bytes()), (ID, &[][..]));
        // 0x010203 * 16 ns, 0x00000a * 16 ns, and 5000 ns = 1250 * 4: exponent 2, mantissa 0x4e2.
        let report = LinkReport::new(
            Time::ZERO + Span::from_picos(0x01_0203 * 16_000),
            Span::from_picos(10 * 16_000),
            Span::from_micros(5),
        );
        assert_eq!(Telemetry::append(&mut header, &report), Some(()));
        assert_eq!(header.bytes(), [1, 2, 3, 0, 0, 10, 0x14, 0xe2]);
        assert_eq!(Telemetry::parse(&header).unwrap().reports(), [report]);
        assert_eq!(report.queue(), Span::from_micros(5));
    }

    #[test]
    fn counters_wrap_and_queues_round_down_by_less_than_a_thousandth() {
        let at = |ticks: u64| {
            let span = Span::from_picos(ticks * TICK);
            LinkReport::new(Time::ZERO + span, span, Span::ZERO)
        };
        let (before, after) = (at(u64::from(WRAP) - 10), at(u64::from(WRAP) + 90));
        assert_eq!(
            (after.since(&before), after.busy_since(&before)),
            (Span::from_picos(100 * TICK), Span::from_picos(100 * TICK))
        );
        for nanos in [0, 1, 2047, 2048, 12_345, 1_000_000, 987_654_321, 3_000_000_000_000] {
            let read = from_float(to_float(nanos));
            assert!(read <= nanos && (nanos - read) * 1000 <= nanos, "{nanos}: {read}");
        }
        assert_eq!(to_float(u64::MAX), u16::MAX);
    }

    #[test]
    fn a_sixth_link_is_not_reported_and_malformed_headers_are_rejected() {
        let mut header = Header::NONE;
        assert_eq!(Telemetry::append(&mut header, &LinkReport::default()), None);
        Telemetry::begin(&mut header);
        for links in [1, 2, 3, 4, 5, 5] {
            assert_eq!(Telemetry::append(&mut header, &LinkReport::default()), Some(()));
            assert_eq!(Telemetry::parse(&header).unwrap().reports().len(), links);
        }
        assert_eq!(header.bytes().len(), 40);
        for bytes in [&[1][..], &[1; 7], &[1; 39]] {
            let mut partial = Header::new(ID, bytes);
            assert_eq!(Telemetry::parse(&partial), None, "{bytes:?}");
            assert_eq!(Telemetry::append(&mut partial, &LinkReport::default()), None, "{bytes:?}");
        }
        assert_eq!(Telemetry::parse(&Header::new(HeaderId(99), &[1; 8])), None);
    }
}
