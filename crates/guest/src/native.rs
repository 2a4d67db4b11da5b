//! Laws as C functions: the tables of `include/millpond.h`, checked once, then called at every event.
//!
//! All unsafe code of this crate is in this file. Its contract is that of the header: the tables live as long as the
//! process, the callbacks are functions of these types, and they write nothing but their state and their last argument.

#![allow(unsafe_code, reason = "functions of another language")]

use crate::abi::{
    OnPacket, PARAMETERS, RawAck, RawCongestion, RawContext, RawEcho, RawHeader, RawLaw, RawLink, RawPacket,
    RawQueue, RawReceiver, RawSender, RawStart, RawTable, VERSION, ecn_number,
};
use crate::permit::next_tick;
use crate::{Failure, Part, RawPermit, Session};
use millpond_law::{
    Ack, Congestion, Context, Data, Echo, Header, HeaderId, Hooks, Link, PacketKind, PacketView, Permit,
    QueueView, Receiver, RelayView, Sender, Start, Verdict,
};
use millpond_units::{Bytes, Rate, Time};
use std::ffi::{CStr, c_char, c_void};

/// The tables of a law.
#[derive(Clone, Copy, Debug)]
pub struct NativeLaw {
    sender: RawSender,
    link: Option<RawLink>,
    receiver: Option<RawReceiver>,
    error_text: Option<unsafe extern "C" fn(i32) -> *const c_char>,
}

/// Memory of a sender, link or receiver: zeros, aligned to 16 bytes.
#[derive(Debug)]
struct PartMemory(Vec<u128>);

impl PartMemory {
    fn new(bytes: u64) -> Self {
        Self(vec![0; (bytes as usize).div_ceil(size_of::<u128>())])
    }

    fn pointer(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }
}

/// The largest state of a sender, link or receiver.
const MOST_STATE_BYTES: u64 = 1 << 30;

/// Checks the beginning of a table, and the size of the state that it declares.
fn check_table(name: &str, table: RawTable, bytes: usize, state_bytes: u64) -> Result<(), String> {
    if table.version != VERSION {
        return Err(format!(
            "{name} has version {}, expected {VERSION}: compile the law with this version of millpond.h",
            table.version
        ));
    }
    if table.struct_bytes as usize != bytes {
        return Err(format!("{name} has {} bytes, expected {bytes}: set struct_bytes", table.struct_bytes));
    }
    if state_bytes > MOST_STATE_BYTES {
        return Err(format!(
            "{name} declares a state of {state_bytes} bytes, expected at most {MOST_STATE_BYTES}"
        ));
    }
    Ok(())
}

impl NativeLaw {
    /// Copies the tables of a law.
    ///
    /// # Errors
    /// There is none at this address, or a table has another version or size.
    ///
    /// # Safety
    /// `law` is null or points to a `millpond_law` that fulfils the contract of `include/millpond.h`.
    pub unsafe fn read(law: *const RawLaw) -> Result<Self, String> {
        // SAFETY: the caller guarantees that the pointer is null or valid, as for each pointer below.
        let law = unsafe { law.as_ref() }.ok_or("the address of the law is null")?;
        check_table("millpond_law", law.table, size_of::<RawLaw>(), 0)?;
        // SAFETY: as above.
        let sender = *unsafe { law.sender.as_ref() }.ok_or("the law has no sender")?;
        check_table("millpond_sender", sender.table, size_of::<RawSender>(), sender.state_bytes)?;
        // SAFETY: as above.
        let link = unsafe { law.link.as_ref() }.copied();
        if let Some(link) = link {
            check_table("millpond_link", link.table, size_of::<RawLink>(), link.state_bytes)?;
        }
        // SAFETY: as above.
        let receiver = unsafe { law.receiver.as_ref() }.copied();
        if let Some(receiver) = receiver {
            check_table("millpond_receiver", receiver.table, size_of::<RawReceiver>(), receiver.state_bytes)?;
        }
        Ok(Self { sender, link, receiver, error_text: law.error_text })
    }

    /// [`Self::read`] at an address, such as those that `ctypes` and Numba return as numbers.
    ///
    /// # Errors
    /// Those of [`Self::read`]. The address is trusted, as `ctypes` trusts addresses: a wrong one that is not null ends the
    /// process.
    pub fn at(address: usize) -> Result<Self, String> {
        // SAFETY: the contract of the header, which the author of the law accepts by passing the address.
        unsafe { Self::read(std::ptr::with_exposed_provenance(address)) }
    }

    /// A sender with these parameters.
    pub fn sender(&self, setting: NativeSetting) -> NativeSender {
        NativeSender {
            table: self.sender,
            common: self.common(setting, Part::Sender, self.sender.state_bytes),
            raw: RawPermit::default(),
            permit: idle(),
        }
    }

    /// A router with these parameters, if the law has one.
    pub fn link(&self, setting: NativeSetting) -> Option<NativeLink> {
        let table = self.link?;
        Some(NativeLink { table, common: self.common(setting, Part::Link, table.state_bytes) })
    }

    /// A receiver with these parameters, if the law has one.
    pub fn receiver(&self, setting: NativeSetting) -> Option<NativeReceiver> {
        let table = self.receiver?;
        Some(NativeReceiver { table, common: self.common(setting, Part::Receiver, table.state_bytes) })
    }

    fn common(&self, setting: NativeSetting, part: Part, state_bytes: u64) -> NativePart {
        let NativeSetting { law, parameters, header_id } = setting;
        let context = RawContext { now_s: 0.0, sample: 0.0, parameters };
        let (state, session) = (PartMemory::new(state_bytes), Session::current());
        NativePart {
            law,
            header_id,
            part,
            context,
            state,
            session,
            has_failed: false,
            error_text: self.error_text,
        }
    }
}

/// What all parts of one law have in common in a run.
#[derive(Clone, Copy, Debug)]
pub struct NativeSetting {
    /// Name of the law.
    pub law: &'static str,
    /// Its parameters in the order of their declaration, in SI units.
    pub parameters: [f64; PARAMETERS],
    /// The number of its headers.
    pub header_id: HeaderId,
}

/// State and parameters of one part, and where its failure goes.
struct NativePart {
    law: &'static str,
    /// The number of its headers.
    header_id: HeaderId,
    part: Part,
    context: RawContext,
    state: PartMemory,
    session: Session,
    has_failed: bool,
    error_text: Option<unsafe extern "C" fn(i32) -> *const c_char>,
}

impl NativePart {
    /// State and context of a call.
    #[inline]
    fn prepare(&mut self, cx: &mut Context<'_>) -> (*mut c_void, *const RawContext) {
        (self.context.now_s, self.context.sample) = (cx.now.secs(), cx.random.uniform());
        (self.state.pointer(), &raw const self.context)
    }

    /// Ends the run.
    #[cold]
    fn fail(&mut self, event: &'static str, time: Time, message: String) {
        self.has_failed = true;
        let (law, part) = (self.law, self.part);
        self.session.fail(Failure { law, part, event, time, message, cause: None });
    }

    /// The message of a returned number.
    #[cold]
    fn returned(&self, code: i32) -> String {
        let text = self.error_text.and_then(|text| {
            // SAFETY: the contract of the header: a text that ends with zero and lives as long as the process, or null.
            let text = unsafe { text(code) };
            // SAFETY: as above.
            (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        });
        text.map_or_else(|| format!("returned {code}"), |text| format!("returned {code}: {text}"))
    }
}

/// The permit before the start, and after a failure until the run ends.
fn idle() -> Permit {
    Permit { window: Some(Bytes::new(1)), ..Permit::default() }
}

/// A sender whose callbacks are C functions.
pub struct NativeSender {
    table: RawSender,
    common: NativePart,
    raw: RawPermit,
    permit: Permit,
}

// SAFETY: the contract of the header: callbacks may be called on any thread, one at a time for each state.
unsafe impl Send for NativeSender {}
// SAFETY: as above.
unsafe impl Send for NativeLink {}
// SAFETY: as above.
unsafe impl Send for NativeReceiver {}
// SAFETY: the tables are constant.
unsafe impl Send for NativeLaw {}
// SAFETY: as above.
unsafe impl Sync for NativeLaw {}

impl NativeSender {
    /// Calls a callback, and checks what it permits.
    #[inline]
    fn call(
        &mut self,
        cx: &mut Context<'_>,
        event: &'static str,
        is_timer: bool,
        callback: impl FnOnce(*mut c_void, *const RawContext, *mut RawPermit) -> i32,
    ) {
        if self.common.has_failed {
            return;
        }
        let (state, context) = self.common.prepare(cx);
        let code = callback(state, context, &raw mut self.raw);
        let checked = match code {
            0 => self.raw.check(cx.now, is_timer).map_err(|nonsense| nonsense.to_string()),
            code => Err(self.common.returned(code)),
        };
        match checked {
            Ok(permit) => self.permit = permit,
            Err(message) => {
                self.permit = idle();
                self.common.fail(event, cx.now, message);
            }
        }
    }
}

impl Sender for NativeSender {
    fn on_start(&mut self, cx: &mut Context<'_>, start: &Start) {
        let Some(callback) = self.table.on_start else { return };
        let start = RawStart::from(start);
        // SAFETY: the contract of the header; the arguments live during the call. The same holds for each call below.
        self.call(cx, "on_start", false, |state, cx, permit| unsafe { callback(state, cx, &start, permit) });
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        let Some(callback) = self.table.on_ack else { return };
        let ack = RawAck::of(ack, self.common.header_id);
        // SAFETY: see `on_start`.
        self.call(cx, "on_ack", false, |state, cx, permit| unsafe { callback(state, cx, &ack, permit) });
    }

    fn on_congestion(&mut self, cx: &mut Context<'_>, congestion: &Congestion) {
        let Some(callback) = self.table.on_congestion else { return };
        let congestion = RawCongestion::from(congestion);
        // SAFETY: see `on_start`.
        let call = |state, cx, permit| unsafe { callback(state, cx, &congestion, permit) };
        self.call(cx, "on_congestion", false, call);
    }

    fn on_capacity(&mut self, cx: &mut Context<'_>, capacity: Rate) {
        let Some(callback) = self.table.on_capacity else { return };
        let capacity = capacity.as_f64();
        // SAFETY: see `on_start`.
        let call = |state, cx, permit| unsafe { callback(state, cx, capacity, permit) };
        self.call(cx, "on_capacity", false, call);
    }

    fn on_timer(&mut self, cx: &mut Context<'_>) {
        (self.raw.wake_s, self.permit.wake) = (f64::INFINITY, None);
        let Some(callback) = self.table.on_timer else { return };
        // SAFETY: see `on_start`.
        self.call(cx, "on_timer", true, |state, cx, permit| unsafe { callback(state, cx, permit) });
    }

    fn permit(&self) -> Permit {
        self.permit
    }

    fn stamp(&mut self, cx: &mut Context<'_>, header: &mut Header) {
        let Some(callback) = self.table.header else { return };
        let header_id = self.common.header_id;
        if self.common.has_failed || header_id == HeaderId::NONE {
            return;
        }
        let ((state, context), mut raw) = (self.common.prepare(cx), RawHeader::default());
        // SAFETY: see `on_start`.
        let code = unsafe { callback(state, context, &raw mut raw) };
        match (code, raw.written()) {
            (0, Some([])) => {}
            (0, Some(bytes)) => header.set(header_id, bytes),
            (0, None) => self.common.fail("header", cx.now, format!("a header of {} bytes", raw.length)),
            (code, _) => {
                let message = self.common.returned(code);
                self.common.fail("header", cx.now, message);
            }
        }
    }
}

/// A router whose callbacks are C functions.
pub struct NativeLink {
    table: RawLink,
    common: NativePart,
}

impl NativeLink {
    fn judge(
        &mut self,
        event: &'static str,
        callback: Option<OnPacket>,
        cx: &mut Context<'_>,
        packet: &mut PacketView<'_>,
        queue: &QueueView,
    ) -> Verdict {
        let Some(callback) = callback.filter(|_| !self.common.has_failed) else { return Verdict::Keep };
        let (header_id, queue, mut number) = (self.common.header_id, RawQueue::from(queue), 0);
        let mut raw = RawPacket {
            bytes: packet.bytes.get(),
            is_data: u64::from(packet.kind == PacketKind::Data),
            ecn: ecn_number(*packet.ecn),
            header: RawHeader::of(packet.header, header_id),
        };
        let (state, context) = self.common.prepare(cx);
        // SAFETY: the contract of the header; the arguments live during the call.
        let code = unsafe { callback(state, context, &raw mut raw, &raw const queue, &raw mut number) };
        let verdict = match (code, number) {
            (0, 0) => Ok(Verdict::Keep),
            (0, 1) => Ok(Verdict::Mark),
            (0, 2) => Ok(Verdict::Drop),
            (0, other) => Err(format!("the verdict {other}: expected MILLPOND_KEEP, _MARK or _DROP")),
            (code, _) => Err(self.common.returned(code)),
        };
        match verdict {
            Ok(verdict) => {
                write_back(packet.header, header_id, &raw.header);
                verdict
            }
            Err(message) => {
                self.common.fail(event, cx.now, message);
                Verdict::Keep
            }
        }
    }
}

/// Writes the bytes of a header of `header_id`; its length does not change.
fn write_back(header: &mut Header, header_id: HeaderId, raw: &RawHeader) {
    if header_id != HeaderId::NONE
        && let Some(bytes) = header.of_mut(header_id)
    {
        let length = bytes.len();
        bytes.copy_from_slice(&raw.bytes[..length]);
    }
}

impl Link for NativeLink {
    fn hooks(&self) -> Hooks {
        let RawLink { on_arrival, on_departure, on_tick, .. } = self.table;
        let (arrive, depart) = (on_arrival.is_some(), on_departure.is_some());
        Hooks { arrive, depart, tick: on_tick.is_some(), sojourn: arrive, release: false, flow: false }
    }

    fn arrive(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        self.judge("on_arrival", self.table.on_arrival, cx, packet, queue)
    }

    fn depart(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        self.judge("on_departure", self.table.on_departure, cx, packet, queue)
    }

    fn tick(&mut self, cx: &mut Context<'_>, queue: &QueueView) -> Option<Time> {
        let callback = self.table.on_tick.filter(|_| !self.common.has_failed)?;
        let (queue, mut after) = (RawQueue::from(queue), f64::INFINITY);
        let (state, context) = self.common.prepare(cx);
        // SAFETY: the contract of the header; the arguments live during the call.
        let code = unsafe { callback(state, context, &raw const queue, &raw mut after) };
        let next = match code {
            0 => next_tick(cx.now, after).map_err(|nonsense| nonsense.to_string()),
            code => Err(self.common.returned(code)),
        };
        next.unwrap_or_else(|message| {
            self.common.fail("on_tick", cx.now, message);
            None
        })
    }
}

/// A receiver whose callback is a C function.
pub struct NativeReceiver {
    table: RawReceiver,
    common: NativePart,
}

impl Receiver for NativeReceiver {
    fn on_data(&mut self, cx: &mut Context<'_>, data: &Data, _relay: Option<&RelayView>, echo: &mut Echo) {
        echo.header = data.header;
        let Some(callback) = self.table.on_data.filter(|_| !self.common.has_failed) else { return };
        let header_id = self.common.header_id;
        let header = RawHeader::of(&data.header, header_id);
        let packet = RawPacket { bytes: data.bytes.get(), is_data: 1, ecn: ecn_number(data.ecn), header };
        let ((state, context), mut raw) = (self.common.prepare(cx), RawEcho { header, mark: 0 });
        // SAFETY: the contract of the header; the arguments live during the call.
        let code = unsafe { callback(state, context, &raw const packet, &raw mut raw) };
        match (code, raw.header.written()) {
            (0, Some(bytes)) => {
                if header_id != HeaderId::NONE {
                    echo.header = if bytes.is_empty() { Header::NONE } else { Header::new(header_id, bytes) };
                }
                echo.mark = raw.mark != 0;
            }
            (0, None) => {
                self.common.fail("on_data", cx.now, format!("a header of {} bytes", raw.header.length))
            }
            (code, _) => {
                let message = self.common.returned(code);
                self.common.fail("on_data", cx.now, message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::Random;
    use std::ptr::null;

    /// A law that counts acknowledged packets in its state: each adds a packet to its window, and the third one fails.
    mod law {
        use super::*;

        pub(super) unsafe extern "C" fn on_start(
            state: *mut c_void,
            cx: *const RawContext,
            start: *const RawStart,
            permit: *mut RawPermit,
        ) -> i32 {
            let (state, cx) = unsafe { (&mut *state.cast::<u64>(), &*cx) };
            assert_eq!(*state, 0, "a state is zero at first");
            unsafe { (*permit).window_bytes = cx.parameters[1] * (*start).packet_bytes as f64 };
            0
        }

        pub(super) unsafe extern "C" fn on_ack(
            state: *mut c_void,
            _cx: *const RawContext,
            ack: *const RawAck,
            permit: *mut RawPermit,
        ) -> i32 {
            let state = unsafe { &mut *state.cast::<u64>() };
            *state += 1;
            unsafe { (*permit).window_bytes += (*ack).bytes as f64 };
            if *state == 3 { 7 } else { 0 }
        }

        pub(super) unsafe extern "C" fn on_timer(
            _state: *mut c_void,
            _cx: *const RawContext,
            permit: *mut RawPermit,
        ) -> i32 {
            unsafe { (*permit).window_bytes = f64::NAN };
            0
        }

        pub(super) unsafe extern "C" fn error_text(_code: i32) -> *const c_char {
            c"three packets".as_ptr()
        }
    }

    fn table<T>() -> RawTable {
        RawTable { version: VERSION, struct_bytes: size_of::<T>() as u32 }
    }

    fn sender_table() -> RawSender {
        RawSender {
            table: table::<RawSender>(),
            state_bytes: 8,
            on_start: Some(law::on_start),
            on_ack: Some(law::on_ack),
            on_congestion: None,
            on_timer: Some(law::on_timer),
            on_capacity: None,
            header: None,
        }
    }

    fn law_of(sender: &RawSender) -> RawLaw {
        let (link, receiver) = (null(), null());
        RawLaw { table: table::<RawLaw>(), sender, link, receiver, error_text: Some(law::error_text) }
    }

    fn read(law: &RawLaw) -> Result<NativeLaw, String> {
        // SAFETY: the tables of these tests are valid.
        unsafe { NativeLaw::read(law) }
    }

    fn started(session: &Session) -> NativeSender {
        session.enter();
        let mut parameters = [0.0; PARAMETERS];
        parameters[..2].copy_from_slice(&[0.5, 4.0]);
        let setting = NativeSetting { law: "counted", parameters, header_id: HeaderId::NONE };
        read(&law_of(&sender_table())).unwrap().sender(setting)
    }

    fn ack() -> Ack {
        Ack::plain(Bytes::new(1000), millpond_units::Span::from_millis(10), Bytes::ZERO)
    }

    #[test]
    fn callbacks_have_state_and_parameters_and_a_number_ends_the_run_with_its_text() {
        let session = Session::default();
        let mut sender = started(&session);
        let mut random = Random::stream(1, "test");
        let cx = &mut Context { now: Time::from_secs(2.0), random: &mut random };
        sender.on_start(cx, &Start::plain(Bytes::new(1000)));
        assert_eq!(sender.permit().window, Some(Bytes::new(4000)));
        sender.on_ack(cx, &ack());
        sender.on_ack(cx, &ack());
        assert_eq!(sender.permit().window, Some(Bytes::new(6000)));
        assert!(!session.has_failed());
        sender.on_ack(cx, &ack());
        let failure = session.take().unwrap().to_string();
        assert_eq!(failure, "law \"counted\", sender on_ack at 2 s: returned 7: three packets");
        sender.on_ack(cx, &ack());
        assert_eq!(sender.permit(), idle(), "a failed law is not called");
    }

    #[test]
    fn a_window_that_is_not_a_number_ends_the_run() {
        let session = Session::default();
        let mut sender = started(&session);
        let mut random = Random::stream(1, "test");
        sender.on_timer(&mut Context { now: Time::ZERO, random: &mut random });
        assert!(session.take().unwrap().message.starts_with("window_bytes is NaN"));
    }

    #[test]
    fn tables_of_another_version_or_size_are_refused() {
        let old = RawSender { table: RawTable { version: 0, ..table::<RawSender>() }, ..sender_table() };
        assert!(read(&law_of(&old)).unwrap_err().contains("version 0, expected 1"));
        let short =
            RawSender { table: RawTable { struct_bytes: 8, ..table::<RawSender>() }, ..sender_table() };
        assert!(read(&law_of(&short)).unwrap_err().contains("has 8 bytes"));
        let large = RawSender { state_bytes: u64::MAX, ..sender_table() };
        assert!(read(&law_of(&large)).unwrap_err().contains("state"));
        assert!(read(&RawLaw { sender: null(), ..law_of(&old) }).unwrap_err().contains("no sender"));
        // SAFETY: null is permitted.
        assert!(unsafe { NativeLaw::read(null()) }.unwrap_err().contains("null"));
    }
}
