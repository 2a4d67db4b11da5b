//! The frontier of a trace: its limit, the reference and the protocols.

use crate::capacity::Capacity;
use crate::error::Error;
use crate::guide::guided_utilization;
use crate::law::{GeneratedLink, greatest_utilization};
use crate::measured::{Measurement, ProtocolPoint, measure, packet_time};
use crate::one_factor::{FactorPoint, one_factor};
use millpond_lab::ComparisonCase;
use millpond_protocols::Registry;
use millpond_results::Watch;
use millpond_scenario::trace::{RateProcess, Trace};
use millpond_stats::quantile_of_curve;
use millpond_units::Span;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// The share of bytes that may wait longer than the delay: it is the 95th percentile.
pub const LATE: f64 = 0.05;
/// Delays at which the limit is computed, in seconds.
const DELAYS: [f64; 11] = [0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5];
/// Shortest and longest base round-trip time.
const RTTS: (Span, Span) = (Span::from_millis(1), Span::from_millis(500));
/// Shortest and longest part of a trace, in round trips and as a time.
const DURATION: (u64, Span) = (20, Span::from_millis(3_600_000));
/// The first part of a run is not measured: at most this time, and at most a tenth of the run.
const LEFT_OUT: Span = Span::from_millis(2000);

/// A link with the trace of its capacity.
#[derive(Clone, Debug)]
pub enum TracedLink {
    /// A trace that was generated: its random process is known.
    Generated(Box<RateProcess>),
    /// A trace whose random process is not known.
    Recorded(Trace),
}

impl TracedLink {
    fn trace(&self) -> &Trace {
        match self {
            Self::Generated(process) => &process.trace,
            Self::Recorded(trace) => trace,
        }
    }
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct FrontierRequest {
    /// The name of the trace.
    pub name: String,
    /// The link.
    pub link: TracedLink,
    /// The content of the trace as a file, for the runs.
    pub file: Vec<u8>,
    /// The base round-trip time.
    pub rtt: Span,
    /// The part of the trace that is used, from its beginning; all of it if it is shorter.
    pub duration: Span,
    /// The buffer of the link, as a scenario writes it.
    pub buffer: String,
    /// The protocols.
    pub protocols: Vec<String>,
    /// Delays at which the limit is computed too, and which protocols with a target get.
    pub targets: Vec<Span>,
}

/// A request that was checked.
pub struct FrontierPlan {
    request: FrontierRequest,
    from: Span,
    to: Span,
    cases: Vec<ComparisonCase>,
}

/// What the limit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LimitKind {
    /// No controller without losses exceeds it in the mean over traces of the same random process.
    Bound,
    /// It is computed from the trace itself, for controllers that know two numbers of its past.
    Guide,
}

/// A point of the limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LimitPoint {
    /// The 95th percentile of queueing delay, in milliseconds.
    pub delay_ms: f64,
    /// The greatest utilization, from 0 to 1.
    pub utilization: f64,
}

/// What a controller can reach on a trace, and what protocols reach.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Frontier {
    /// The name of the trace.
    pub trace: String,
    /// Base round-trip time, which is the feedback delay, in seconds.
    pub rtt_s: f64,
    /// Beginning of the measured time, in seconds.
    pub measured_from_s: f64,
    /// End of the measured time, in seconds.
    pub measured_to_s: f64,
    /// Mean capacity in the measured time, in bit/s.
    pub capacity_bps: f64,
    /// The buffer of the link.
    pub buffer: String,
    /// What `limit` is.
    pub kind: LimitKind,
    /// The greatest utilization at each delay, in ascending order.
    pub limit: Vec<LimitPoint>,
    /// The reference: one constant, chosen afterwards.
    pub one_factor: Vec<FactorPoint>,
    /// The protocols, in the order of the request.
    pub protocols: Vec<ProtocolPoint>,
}

impl Frontier {
    /// The warnings of all protocols, each once.
    pub fn warnings(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let all = self.protocols.iter().flat_map(|point| &point.warnings).map(String::as_str);
        all.filter(|warning| seen.insert(*warning)).collect()
    }
}

impl FrontierPlan {
    /// Checks a request.
    ///
    /// # Errors
    /// A round-trip time or a target outside of its range, a trace that is too short, or an unknown protocol.
    pub fn new(request: FrontierRequest, registry: &Registry) -> Result<Self, Error> {
        let rtt = request.rtt;
        if !(RTTS.0..=RTTS.1).contains(&rtt) {
            return Err(Error::Option(format!("--rtt {rtt}: expected {} to {}", RTTS.0, RTTS.1)));
        }
        let to = request.duration.min(request.link.trace().length);
        if to < rtt * DURATION.0 || to > DURATION.1 {
            return Err(Error::Option(format!(
                "{} of {}: expected {} ({} round trips) to {}",
                to,
                request.name,
                rtt * DURATION.0,
                DURATION.0,
                DURATION.1
            )));
        }
        let from = LEFT_OUT.min(to / 10);
        let trace = request.link.trace();
        if Capacity::of(trace).between(from.secs(), to.secs()) <= 0.0 {
            return Err(Error::Option(format!("{}: it has no capacity in its first {to}", request.name)));
        }
        let measurement = Measurement {
            trace: &request.file,
            rtt,
            from,
            to,
            buffer: &request.buffer,
            targets: &request.targets,
        };
        let cases = measurement.cases(&request.protocols, registry)?;
        Ok(Self { request, from, to, cases })
    }

    /// The number of runs.
    pub fn run_count(&self) -> usize {
        self.cases.len()
    }

    /// Runs the protocols and computes the limit and the reference.
    ///
    /// # Errors
    /// That `watch` stopped the runs.
    pub fn run(&self, registry: &Registry, watch: &dyn Watch) -> Result<Frontier, Error> {
        let mut protocols = measure(&self.cases, registry, watch)?;
        let (rtt, from, to) = (self.request.rtt.secs(), self.from.secs(), self.to.secs());
        let trace = self.request.link.trace();
        let mean = Capacity::of(trace).between(from, to) / (to - from);
        let at = |point: &ProtocolPoint| point.queueing_p95_ms / 1000.0 + packet_time(mean);
        let targets = self.request.targets.iter().map(|target| target.secs());
        let delays = DELAYS.into_iter().chain(targets).chain(protocols.iter().map(at));
        let limit = self.limit(delays.collect());
        for point in &mut protocols {
            let delay = 1000.0 * at(point);
            point.limit = limit.iter().find(|limit| limit.delay_ms >= delay).map(|limit| limit.utilization);
        }
        Ok(Frontier {
            trace: self.request.name.clone(),
            rtt_s: rtt,
            measured_from_s: from,
            measured_to_s: to,
            capacity_bps: mean,
            buffer: self.request.buffer.clone(),
            kind: match self.request.link {
                TracedLink::Generated(_) => LimitKind::Bound,
                TracedLink::Recorded(_) => LimitKind::Guide,
            },
            limit,
            one_factor: one_factor(trace, rtt, (from, to)),
            protocols,
        })
    }

    /// The limit at these delays, as far as it can be computed, in ascending order. What is impossible at a longer delay is
    /// impossible at a shorter one, so each value is at most that of the next one.
    fn limit(&self, mut delays: Vec<f64>) -> Vec<LimitPoint> {
        let longest = match self.request.link {
            TracedLink::Generated(_) => RateProcess::LONGEST,
            TracedLink::Recorded(_) => self.to - self.from,
        };
        delays.retain(|delay| *delay > 0.0 && delay + self.request.rtt.secs() <= longest.secs());
        delays.sort_by(f64::total_cmp);
        delays.dedup();
        let utilization = |delay: &f64| self.utilization(*delay);
        let mut values: Vec<f64> = delays.par_iter().map(utilization).collect();
        for place in (1..values.len()).rev() {
            values[place - 1] = values[place - 1].min(values[place]);
        }
        let point = |(delay, utilization)| LimitPoint { delay_ms: 1000.0 * delay, utilization };
        delays.into_iter().zip(values).map(point).collect()
    }

    fn utilization(&self, delay: f64) -> f64 {
        let rtt = self.request.rtt.secs();
        match &self.request.link {
            TracedLink::Generated(process) => {
                let sample = |time: Span| (time.picos() / process.step.picos().max(1)) as usize;
                let samples = sample(self.from)..sample(self.to).min(process.rates.len());
                greatest_utilization(&GeneratedLink { process, samples }, rtt, delay, LATE)
            }
            TracedLink::Recorded(trace) => {
                guided_utilization(trace, rtt, delay, LATE, (self.from.secs(), self.to.secs()))
            }
        }
    }
}

impl Frontier {
    /// The utilization of the reference at this 95th percentile, linear between its points; none below its least delay.
    pub fn one_factor_at(&self, delay_ms: f64) -> Option<f64> {
        let points = self.one_factor.iter().map(|point| (point.queueing_p95_ms, point.utilization));
        let points: Vec<(f64, f64)> = points.collect();
        let is_above_least = points.first().is_some_and(|first| delay_ms >= first.0);
        quantile_of_curve(&points, delay_ms).filter(|_| is_above_least)
    }
}
