//! The header of Pledge. Data packets and acknowledgements carry the same format.
//!
//! ```text
//! 0               1               2               3
//! +---------------+---------------+---------------+---------------+
//! |  offered rate: least of the path [byte/s]; infinite: none     |   big-endian,
//! +---------------+---------------+---------------+---------------+   rates as IEEE 754 binary32
//! |  label of the router that has offered it; zero: none          |
//! +---------------+---------------+---------------+---------------+
//! |  base round-trip time of the flow [ns]; zero: no sample yet   |
//! +---------------+---------------+---------------+---------------+
//! |  rate that the sender follows [byte/s]                        |
//! +---------------+---------------+---------------+---------------+
//! |  label of the router that has offered it; zero: none          |
//! +---------------+---------------+---------------+---------------+
//! |  label of the flow                                            |
//! +---------------+---------------+---------------+---------------+
//! |  sum of the mean waits of the path [ns]                       |
//! +---------------+---------------+---------------+---------------+
//! |  sum of the waits of this packet so far [ns]                  |
//! +---------------+---------------+---------------+---------------+
//! ```

use crate::parts::fields;
use millpond_law::{Header, HeaderId};
use millpond_units::{Rate, Span};
use std::fmt;
use zerocopy::byteorder::network_endian::{F32, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Header number of Pledge.
pub(super) const ID: HeaderId = HeaderId(10);

/// Largest rate that a header can signal, in bytes/s, so that windows of several seconds remain numbers of bytes.
const LARGEST_RATE: f32 = 1e15;

/// The fields of the header.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct PledgeHeader {
    offered: F32,
    offered_by: U32,
    base_rtt: U32,
    followed: F32,
    followed_router: U32,
    flow: U32,
    waits: U32,
    waited: U32,
}

/// A rate and the router that offers it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// In bytes/s.
    pub rate: f64,
    /// Random label of the router, above zero.
    pub router: u32,
}

/// What a router writes into the headers that pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signal {
    rate: f32,
    router: U32,
    /// Mean wait in nanoseconds.
    wait: u32,
}

impl Signal {
    /// This offer, and a mean wait in seconds.
    #[inline]
    pub fn new(offer: Offer, wait: f64) -> Self {
        Self {
            rate: (offer.rate as f32).min(LARGEST_RATE),
            router: offer.router.into(),
            wait: (wait * 1e9 + 0.5) as u32,
        }
    }
}

impl PledgeHeader {
    /// Replaces the least rate that the routers offer; see [`millpond_law::RateField`].
    pub(super) fn replace_rate(header: &mut Header, carry: &mut dyn FnMut(f64) -> f64) {
        let Some(fields) = Self::within(header) else { return };
        if let Some(offered) = valid(fields.offered) {
            fields.offered = ((carry(8.0 * offered) / 8.0) as f32).clamp(0.0, LARGEST_RATE).into();
        }
    }

    /// The view of a Pledge header; none if the header is foreign or too short.
    #[inline]
    pub fn parse(header: &Header) -> Option<Self> {
        header.fields(ID)
    }

    /// The same header for writing.
    #[inline]
    pub(super) fn within(header: &mut Header) -> Option<&mut Self> {
        header.fields_mut(ID)
    }

    /// The header of a data packet at its sender, before any feedback.
    pub fn new(flow: u32) -> Self {
        Self {
            offered: f32::INFINITY.into(),
            offered_by: 0.into(),
            base_rtt: 0.into(),
            followed: 0.0.into(),
            followed_router: 0.into(),
            flow: flow.into(),
            waits: 0.into(),
            waited: 0.into(),
        }
    }

    /// The header of a data packet at its sender, with this base round-trip time and the offer that it follows.
    #[cfg(test)]
    pub(super) fn sent(flow: u32, base_rtt: Span, followed: Option<Offer>) -> Self {
        let mut header = Self::new(flow);
        header.set_base_rtt(base_rtt);
        if let Some(offer) = followed {
            (header.followed, header.followed_router) = ((offer.rate as f32).into(), offer.router.into());
        }
        header
    }

    /// Writes the flow's round-trip time without queues.
    pub fn set_base_rtt(&mut self, base_rtt: Span) {
        self.base_rtt = fields::from_rtt(base_rtt);
    }

    /// From now on the sender follows the offer of this header.
    #[inline]
    pub fn follow(&mut self, received: &Self) {
        (self.followed, self.followed_router) = (received.offered, received.offered_by);
    }

    /// From now on the sender follows no offer.
    pub fn follow_none(&mut self) {
        (self.followed, self.followed_router) = (0.0.into(), 0.into());
    }

    /// The least rate that the routers offer; none if no router has written one, or if it is not a rate.
    #[inline]
    pub fn offer(&self) -> Option<Offer> {
        valid(self.offered).map(|rate| Offer { rate, router: self.offered_by.get() })
    }

    /// The offer that the sender follows; none before its first feedback.
    #[inline]
    pub fn followed(&self) -> Option<Offer> {
        let router = self.followed_router.get();
        valid(self.followed).filter(|_| router != 0).map(|rate| Offer { rate, router })
    }

    /// Whether the sender follows the offer of this router.
    #[inline]
    pub(super) fn follows(&self, router: u32) -> bool {
        self.followed_router.get() == router
    }

    /// The flow's round-trip time without queues; zero before its first sample.
    #[inline]
    pub fn base_rtt(&self) -> Span {
        fields::to_rtt(self.base_rtt)
    }

    /// The random label of the flow.
    #[inline]
    pub fn flow(&self) -> u32 {
        self.flow.get()
    }

    /// The sum of the mean waits at the routers.
    #[inline]
    pub fn waits(&self) -> Span {
        fields::to_rtt(self.waits)
    }

    /// The sum of the waits of this packet at the routers.
    #[inline]
    pub fn waited(&self) -> Span {
        fields::to_rtt(self.waited)
    }

    /// Writes the offer of a router if it is the least so far, and adds its mean wait and that of this packet.
    #[inline]
    pub fn pass(&mut self, signal: &Signal, own: Span) {
        // A rate that is not a number is replaced, too.
        let keeps = self.offered.get() <= signal.rate;
        if !keeps {
            self.offered = signal.rate.into();
            self.offered_by = signal.router;
        }
        self.waits = sum(self.waits, signal.wait);
        self.waited = sum(self.waited, fields::from_rtt(own).get());
    }

    /// Writes it as a header.
    #[inline]
    pub fn emit(&self, header: &mut Header) {
        header.set_fields(ID, self);
    }
}

/// A sum of waits and one more.
#[inline]
fn sum(waits: U32, nanos: u32) -> U32 {
    waits.get().saturating_add(nanos).into()
}

/// A rate that a header may contain.
#[inline]
fn valid(rate: F32) -> Option<f64> {
    let rate = rate.get();
    (0.0..=LARGEST_RATE).contains(&rate).then_some(f64::from(rate))
}

impl fmt::Display for PledgeHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offer() {
            None => write!(f, "Pledge rate any")?,
            Some(offer) => {
                write!(
                    f,
                    "Pledge rate {} of router {:08x}",
                    Rate::from_bps_f64(offer.rate * 8.0),
                    offer.router
                )?;
            }
        }
        let [base_rtt, waits, waited] = [self.base_rtt(), self.waits(), self.waited()];
        write!(f, " base rtt {base_rtt} waits {waits} waited {waited} flow {:08x}", self.flow())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: [u8; 32] = [
        0x49, 0x74, 0x24, 0x00, // 1e6 byte/s
        0, 0, 0, 9, // router 9
        0x02, 0xfa, 0xf0, 0x80, // 50 ms
        0x49, 0xf4, 0x24, 0x00, // 2e6 byte/s
        0, 0, 0, 7, // router 7
        0xab, 0xcd, 0x00, 0x01, // flow
        0x00, 0x1e, 0x84, 0x80, // 2 ms
        0x00, 0x0f, 0x42, 0x40, // 1 ms
    ];

    #[test]
    fn a_header_of_32_bytes_is_written_and_parsed() {
        let followed = Offer { rate: 2e6, router: 7 };
        let mut written = PledgeHeader::sent(0xabcd_0001, Span::from_millis(50), Some(followed));
        assert_eq!(written.offer(), None);
        written.pass(&Signal::new(Offer { rate: 1e6, router: 9 }, 0.002), Span::from_millis(1));
        let mut header = Header::NONE;
        written.emit(&mut header);
        assert_eq!(header.of(ID), Some(&BYTES[..]));
        let read = PledgeHeader::parse(&Header::new(ID, &BYTES)).unwrap();
        assert_eq!(read.offer(), Some(Offer { rate: 1e6, router: 9 }));
        assert_eq!(read.followed(), Some(Offer { rate: 2e6, router: 7 }));
        assert_eq!((read.base_rtt(), read.waits()), (Span::from_millis(50), Span::from_millis(2)));
        assert_eq!(read.waited(), Span::from_millis(1));
        assert_eq!(
            read.to_string(),
            "Pledge rate 8Mbps of router 00000009 base rtt 50ms waits 2ms waited 1ms flow abcd0001"
        );
    }

    #[test]
    fn the_least_offer_is_kept_with_its_router_and_waits_are_added() {
        let mut header = PledgeHeader::new(1);
        for (rate, router, least) in [(9.0, 1, (9.0, 1)), (5.0, 2, (5.0, 2)), (7.0, 3, (5.0, 2))] {
            header.pass(&Signal::new(Offer { rate, router }, 0.003), Span::from_millis(4));
            assert_eq!(header.offer(), Some(Offer { rate: least.0, router: least.1 }));
        }
        assert_eq!((header.waits(), header.waited()), (Span::from_millis(9), Span::from_millis(12)));
    }

    #[test]
    fn values_that_are_no_rates_are_ignored_and_replaced() {
        for bits in [f32::NAN, f32::NEG_INFINITY, -1.0, 1e30] {
            let mut bytes = BYTES;
            bytes[..4].copy_from_slice(&bits.to_be_bytes());
            let mut read = PledgeHeader::parse(&Header::new(ID, &bytes)).unwrap();
            assert_eq!(read.offer(), None, "{bits}");
            read.pass(&Signal::new(Offer { rate: 5.0, router: 2 }, 0.0), Span::ZERO);
            // A forged rate below zero is the least of the path: its sender follows none.
            let expected = (bits.is_nan() || bits > 0.0).then_some(Offer { rate: 5.0, router: 2 });
            assert_eq!(read.offer(), expected, "{bits}");
        }
        assert_eq!(PledgeHeader::parse(&Header::NONE).map(|_| ()), None);
        assert_eq!(PledgeHeader::parse(&Header::new(ID, &BYTES[..31])).map(|_| ()), None);
        assert_eq!(PledgeHeader::parse(&Header::new(HeaderId(99), &BYTES)).map(|_| ()), None);
    }
}
