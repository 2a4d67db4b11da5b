//! What a link serves: the packet in service, and sums over the packets that have left since the last update.
//!
//! ```text
//!  arrives          began                        next one begins
//!  |--- waited ----|---- service ----|- interruption -|      a packet with others behind it
//!  |------------------- wait -------------------------|
//! ```
//!
//! Sums are whole numbers, since each packet is counted, and become fractions of a window once in an update.

use super::params::{Per, RouterParams};
use millpond_law::QueueView;
use millpond_units::{Span, Time};

/// Bytes whose time is known in whole picoseconds.
const KIB: u64 = 1024;

/// Picoseconds in the unit of a sum of waits: about a nanosecond, so that a thousand packets that have waited for days fit.
const WAIT_UNIT: u64 = 1024;

/// What has departed since the last update.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Departed {
    pub(super) bytes: u64,
    /// What is late and what is in time, in bytes or picoseconds; see [`Per`].
    pub(super) late: u64,
    pub(super) in_time: u64,
    /// Sum of the waits, each times the bytes of its packet.
    waits: u64,
}

impl Departed {
    /// The mean wait of a byte, in seconds.
    #[inline]
    pub(super) fn mean_wait(&self) -> f64 {
        self.waits as f64 / self.bytes as f64 * Span::from_picos(WAIT_UNIT).secs()
    }
}

/// A packet whose service has begun.
#[derive(Clone, Copy, Debug, PartialEq)]
struct InService {
    bytes: u64,
    waited: Span,
    began: Time,
    /// Whether another packet was waiting behind it.
    is_followed: bool,
}

/// The server of a link.
pub(super) struct Service {
    per: Per,
    target: Span,
    in_service: Option<InService>,
    /// A packet has found no room during the present service.
    lacked_room: bool,
    departed: Departed,
    /// Time that 1024 bytes need at the present capacity.
    picos_per_kib: u64,
}

impl Service {
    /// With this capacity at first, in bytes/s.
    pub(super) fn new(params: &RouterParams, capacity: f64) -> Self {
        let mut service = Self {
            per: params.per,
            target: params.target,
            in_service: None,
            lacked_room: false,
            departed: Departed::default(),
            picos_per_kib: 0,
        };
        service.set_capacity(capacity);
        service
    }

    /// From now on the capacity is this one, in bytes/s.
    pub(super) fn set_capacity(&mut self, capacity: f64) {
        self.picos_per_kib = Span::from_secs(KIB as f64 / capacity.max(1.0)).picos();
    }

    /// The time that these bytes need at the present capacity, to within a thousandth of a picosecond for each.
    #[inline]
    fn time_for(&self, bytes: u64) -> Span {
        Span::from_picos(bytes.saturating_mul(self.picos_per_kib) / KIB)
    }

    /// The time without a packet, if one arrives now after the one in service has left.
    pub(super) fn idle_time(&self, now: Time) -> Span {
        self.in_service
            .map_or(Span::ZERO, |served| now.since(served.began).saturating_sub(self.time_for(served.bytes)))
    }

    /// The service of a packet begins, in this queue. The wait of the one before it is known now.
    #[inline]
    pub(super) fn begin(&mut self, now: Time, bytes: u64, queue: &QueueView) {
        if let Some(served) = self.in_service {
            self.count(served, now.since(served.began));
        }
        self.in_service =
            Some(InService { bytes, waited: queue.head_sojourn, began: now, is_followed: queue.packets > 1 });
    }

    /// Counts a packet whose service took so long.
    #[inline]
    fn count(&mut self, served: InService, took: Span) {
        let service = self.time_for(served.bytes);
        let interruption = if served.is_followed { took.saturating_sub(service) } else { Span::ZERO };
        let wait = served.waited + interruption;
        let is_late = wait > self.target;
        let departed = &mut self.departed;
        departed.bytes += served.bytes;
        let weighted = (wait.picos() / WAIT_UNIT).saturating_mul(served.bytes);
        departed.waits = departed.waits.saturating_add(weighted);
        match self.per {
            Per::Byte if is_late => departed.late += served.bytes,
            Per::Byte => departed.in_time += served.bytes,
            Per::Time => {
                let busy = if served.is_followed { took } else { took.min(service) };
                let is_late = is_late | core::mem::take(&mut self.lacked_room);
                let late = if is_late { busy } else { Span::ZERO };
                departed.late += late.picos();
                departed.in_time += (took - late).picos();
            }
        }
    }

    /// A packet finds no room: it, or the service during which it arrives, is late.
    pub(super) fn refuse(&mut self, bytes: u64) {
        match self.per {
            Per::Byte => self.departed.late += bytes,
            Per::Time => self.lacked_room = true,
        }
    }

    /// Bytes that have departed since the last call of [`Self::take_departed`].
    #[inline]
    pub(super) fn departed_bytes(&self) -> u64 {
        self.departed.bytes
    }

    /// What has departed since the last call; none if nothing has.
    pub(super) fn take_departed(&mut self) -> Option<Departed> {
        (self.departed.bytes > 0).then(|| core::mem::take(&mut self.departed))
    }
}
