//! One flow whose pacing rate is set from outside, step by step: the core of the Gymnasium environments.
//!
//! ```text
//!   step(rate) --> Control <--> AgentSender in the network: paces at the rate, counts what is acknowledged
//!        \--> network.run_to(end of the step) --> what the step has delivered, its delay and its losses
//! ```

use crate::error::{Failure, guest_error};
use crate::guest;
use crate::scenario::Scenario;
use millpond_guest::Session;
use millpond_law::{
    Ack, Card, Congestion, Context, Needs, Permit, Protocol, QueueChoice, Sender, SettingError, Settings,
    Start,
};
use millpond_plan::packets::{PacketPlan, plan};
use millpond_units::{Bytes, Rate, Span, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the environment sets, and what the sender has counted since the last step.
#[derive(Clone, Copy, Debug, Default)]
struct AgentCounts {
    rate: Rate,
    acked: Bytes,
    acked_packets: u64,
    marked_packets: u64,
    lost: Bytes,
    smoothed_rtt: Span,
    min_rtt: Span,
    /// The sum of the samples of the round-trip time since the last step, in seconds, and their number.
    rtt_sum: f64,
    rtt_samples: u32,
}

#[derive(Debug)]
struct AgentControl {
    counts: Mutex<AgentCounts>,
    /// The length of a step.
    step: Span,
}

impl AgentControl {
    fn counts(&self) -> MutexGuard<'_, AgentCounts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    /// The control of the senders that are built on this thread.
    static CURRENT: RefCell<Option<Arc<AgentControl>>> = const { RefCell::new(None) };
}

/// The protocol of the controlled flow.
struct Agent;

static CARD: Card = Card {
    name: "agent",
    title: "Agent",
    summary: "paces at the rate that an environment sets",
    source: "docs/gymnasium.md",
    needs: Needs::NONE,
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: &[],
};

impl Protocol for Agent {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sender(&self, _settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        let control = CURRENT.with_borrow(Clone::clone);
        let absent = || SettingError::new("agent", "only millpond.gymnasium runs this protocol");
        Ok(Box::new(AgentSender { control: control.ok_or_else(absent)?, wake: None, pace: None }))
    }
}

/// Paces at the rate of the control, which it reads at the beginning of each step.
struct AgentSender {
    control: Arc<AgentControl>,
    wake: Option<Time>,
    pace: Option<Rate>,
}

impl AgentSender {
    /// Reads the rate, and wakes just after the next step has ended, when the environment has set the next rate.
    fn read(&mut self, now: Time) {
        let step = self.control.step.picos();
        let next = (now.picos() / step + 1).saturating_mul(step);
        self.wake = Some(Time::from_picos(next.saturating_add(1)));
        self.pace = Some(self.control.counts().rate.max(Rate::from_bps(1)));
    }
}

impl Sender for AgentSender {
    fn on_start(&mut self, cx: &mut Context<'_>, _start: &Start) {
        self.read(cx.now);
    }

    fn on_ack(&mut self, _cx: &mut Context<'_>, ack: &Ack) {
        let mut counts = self.control.counts();
        counts.acked += ack.bytes;
        counts.acked_packets += ack.packets;
        counts.marked_packets += ack.ce_packets;
        (counts.smoothed_rtt, counts.min_rtt) = (ack.smoothed_rtt, ack.min_rtt);
        if let Some(rtt) = ack.rtt {
            counts.rtt_sum += rtt.secs();
            counts.rtt_samples += 1;
        }
    }

    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        if congestion.cause == millpond_law::Cause::Loss {
            let mut counts = self.control.counts();
            counts.lost += congestion.bytes;
        }
    }

    fn on_timer(&mut self, cx: &mut Context<'_>) {
        self.read(cx.now);
    }

    fn permit(&self) -> Permit {
        Permit { pace: self.pace, wake: self.wake, ..Permit::default() }
    }
}

/// A network with one controlled flow.
#[pyclass(frozen, module = "millpond._core")]
pub struct LinkControl {
    state: Mutex<Running>,
    control: Arc<AgentControl>,
    session: Session,
    /// Index of the controlled flow.
    flow: usize,
    duration: Time,
}

/// The network and the time up to which it has run.
struct Running {
    plan: PacketPlan,
    now: Time,
}

#[pymethods]
impl LinkControl {
    /// A network at time zero, whose flow `group` is controlled in steps of `step_s` seconds and begins at `rate_bps`.
    #[new]
    fn new(scenario: &Scenario, group: &str, step_s: f64, rate_bps: f64) -> PyResult<Self> {
        let step = Span::from_secs(step_s);
        if step.is_zero() {
            return Err(PyValueError::new_err("a step takes longer than zero seconds"));
        }
        let counts = AgentCounts { rate: Rate::from_bps_f64(rate_bps), ..AgentCounts::default() };
        let control = Arc::new(AgentControl { counts: Mutex::new(counts), step });
        let session = Session::default();
        session.enter();
        CURRENT.with_borrow_mut(|current| *current = Some(Arc::clone(&control)));
        let planned = plan(&scenario.resolved, &guest::registry().0.with(&Agent));
        CURRENT.with_borrow_mut(|current| *current = None);
        Session::default().enter();
        let plan = planned.map_err(Failure::from)?;
        let mut flows = plan.flows.iter().enumerate().filter(|(_, flow)| flow.group == group);
        let (Some((flow, _)), None) = (flows.next(), flows.next()) else {
            return Err(Failure::input(format!("the group \"{group}\" needs one flow: set count = 1")).into());
        };
        let duration = Time::from_picos(scenario.resolved.duration.picos());
        Ok(Self { state: Mutex::new(Running { plan, now: Time::ZERO }), control, session, flow, duration })
    }

    /// Runs one step with this pacing rate.
    ///
    /// Returns the time in seconds; acknowledged bytes and packets, marked packets and lost bytes of the step; smoothed and
    /// least round-trip time so far, and mean round-trip time of the step or of none NaN, in seconds; the capacity of the
    /// path in the step, in bits; and whether the run has ended.
    #[expect(clippy::type_complexity, reason = "a tuple of Python")]
    fn step(
        &self,
        py: Python<'_>,
        rate_bps: f64,
    ) -> PyResult<(f64, u64, u64, u64, u64, f64, f64, f64, f64, bool)> {
        {
            let mut counts = self.control.counts();
            let AgentCounts { smoothed_rtt, min_rtt, .. } = *counts;
            let rate = Rate::from_bps_f64(rate_bps);
            *counts = AgentCounts { rate, smoothed_rtt, min_rtt, ..AgentCounts::default() };
        }
        let before = self.running().now;
        let now = Time::from_picos((before.picos() + self.control.step.picos()).min(self.duration.picos()));
        self.run_to(py, now)?;
        if self.session.has_failed()
            && let Some(failure) = self.session.take()
        {
            return Err(guest_error(py, failure));
        }
        let counts = *self.control.counts();
        let mean_rtt = counts.rtt_sum / f64::from(counts.rtt_samples);
        Ok((
            now.secs(),
            counts.acked.get(),
            counts.acked_packets,
            counts.marked_packets,
            counts.lost.get(),
            counts.smoothed_rtt.secs(),
            counts.min_rtt.secs(),
            mean_rtt,
            self.capacity_bits(&self.running().plan, before, now),
            now >= self.duration,
        ))
    }

    /// Mean capacity of the path over the whole run, in bit/s.
    fn mean_capacity_bps(&self) -> f64 {
        self.capacity_bits(&self.running().plan, Time::ZERO, self.duration) / self.duration.secs()
    }

    /// Size of a full packet of the controlled flow, in bytes.
    fn packet_bytes(&self) -> u64 {
        self.running().plan.flows[self.flow].packet.get()
    }
}

/// The simulated time between two looks at Python's signals, within a long step.
const BETWEEN_CHECKS: Span = Span::from_millis(10);

impl LinkControl {
    fn running(&self) -> MutexGuard<'_, Running> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the network while other threads of Python run. Ctrl-C ends it before its time.
    fn run_to(&self, py: Python<'_>, end: Time) -> PyResult<()> {
        loop {
            let has_ended = py.detach(|| {
                let mut running = self.running();
                let next = running.now.picos().saturating_add(BETWEEN_CHECKS.picos());
                running.now = Time::from_picos(next.min(end.picos()));
                let now = running.now;
                running.plan.network.run_to(now);
                now >= end
            });
            py.check_signals()?;
            if has_ended {
                return Ok(());
            }
        }
    }

    /// What the narrowest link of the path can carry in an interval, in bits.
    fn capacity_bits(&self, plan: &PacketPlan, from: Time, to: Time) -> f64 {
        let links = plan.flows[self.flow].links.iter().map(|link| plan.links[*link].id);
        let bits = links.map(|link| plan.network.link(link).capacity_bits(from, to));
        bits.min().unwrap_or(0) as f64
    }
}
