//! How far a live run agrees with the packet run of the same scenario, and with its fluid run.

use millpond_results::{LiveFacts, Run, bottleneck};

/// Utilizations that differ by more do not agree.
pub const UTILIZATION: f64 = 0.02;

/// Shares of a flow in the goodput of all flows agree if they differ by at most this.
pub const SHARE: f64 = 0.05;

/// One quantity in the three worlds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InWorlds {
    /// In the packet run.
    pub packets: f64,
    /// In the fluid run, if there is one.
    pub fluid: Option<f64>,
    /// In the live run.
    pub live: f64,
}

impl InWorlds {
    fn of(quantity: impl Fn(&Run) -> f64, [packets, live]: [&Run; 2], fluid: Option<&Run>) -> Self {
        Self { packets: quantity(packets), fluid: fluid.map(&quantity), live: quantity(live) }
    }

    /// By how much the live run differs from the packet run.
    pub fn difference(&self) -> f64 {
        (self.live - self.packets).abs()
    }
}

/// A live run beside the packet run of the same scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveAgreement {
    /// The label of the live run.
    pub label: String,
    /// Utilization of the bottleneck.
    pub utilization: InWorlds,
    /// Mean queueing delay of all packets from source to destination, in milliseconds.
    pub queueing_ms: InWorlds,
    /// The flow whose share in the goodput of all flows differs most, and this share.
    pub share: (String, InWorlds),
    /// The 99th percentile of the lateness of departures and of wake-ups, whichever is larger, in milliseconds.
    pub late_ms: Option<f64>,
    /// Why the live run cannot be trusted; empty if it can.
    pub distrust: Vec<String>,
}

impl LiveAgreement {
    /// The agreement of these runs.
    #[must_use]
    pub fn of(label: &str, packets: &Run, fluid: Option<&Run>, live: &Run) -> Self {
        let pair = [packets, live];
        let link = bottleneck(&packets.summary, std::slice::from_ref(packets));
        let utilization = |run: &Run| {
            link.and_then(|link| run.summary.links.get(link)).map_or(f64::NAN, |link| link.utilization)
        };
        let shares = (0..packets.summary.flows.len()).map(|flow| {
            let share = InWorlds::of(|run| share(run, flow), pair, fluid);
            (packets.summary.flows[flow].name.clone(), share)
        });
        let greatest = shares.max_by(|one, other| one.1.difference().total_cmp(&other.1.difference()));
        let facts = live.summary.live.clone().unwrap_or_default();
        Self {
            label: label.to_owned(),
            utilization: InWorlds::of(utilization, pair, fluid),
            queueing_ms: InWorlds::of(|run| run.summary.queueing_ms.mean, pair, fluid),
            share: greatest.unwrap_or_default(),
            late_ms: facts.late_ms(),
            distrust: live.summary.distrust(),
        }
    }

    /// The quantities that do not agree.
    #[must_use]
    pub fn disagreements(&self) -> Vec<&'static str> {
        let queueing = LiveFacts::queueing_tolerance_ms(self.queueing_ms.packets);
        let agree = |found: &InWorlds, limit: f64| found.difference() <= limit;
        [
            ("utilization", agree(&self.utilization, UTILIZATION)),
            ("queueing", agree(&self.queueing_ms, queueing)),
            ("shares", agree(&self.share.1, SHARE)),
        ]
        .into_iter()
        .filter_map(|(name, agrees)| (!agrees).then_some(name))
        .collect()
    }

    /// What a table says: that all agrees, what does not, or that the live run cannot be trusted.
    #[must_use]
    pub fn verdict(&self) -> String {
        if !self.distrust.is_empty() {
            return "untrustworthy".to_owned();
        }
        let different = self.disagreements();
        if different.is_empty() { "agrees".to_owned() } else { format!("not {}", different.join(", ")) }
    }
}

/// The share of a flow in the goodput of all flows; zero if nothing was delivered.
fn share(run: &Run, flow: usize) -> f64 {
    let goodput = |flow: &millpond_results::Flow| flow.goodput_bps;
    let all: f64 = run.summary.flows.iter().map(goodput).sum();
    let own = run.summary.flows.get(flow).map_or(0.0, goodput);
    if all > 0.0 { own / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::{Flow, Link, Milliseconds, Summary};

    fn run(utilization: f64, queueing: f64, goodputs: [f64; 2], live: bool) -> Run {
        let flow = |goodput_bps| Flow { goodput_bps, ..Flow::default() };
        let facts = LiveFacts { shortest_rtt_ms: Some(20.0), ..LiveFacts::default() };
        let summary = Summary {
            links: vec![Link { utilization, ..Link::default() }],
            queueing_ms: Milliseconds { mean: queueing, ..Milliseconds::default() },
            flows: goodputs.map(flow).to_vec(),
            live: live.then_some(facts),
            ..Summary::default()
        };
        Run { summary, ..Run::default() }
    }

    fn verdict(utilization: f64, queueing: f64, goodputs: [f64; 2]) -> String {
        let live = run(utilization, queueing, goodputs, true);
        LiveAgreement::of("x", &run(0.9, 20.0, [5e6, 5e6], false), None, &live).verdict()
    }

    #[test]
    fn runs_agree_within_the_limits_and_not_beyond() {
        assert_eq!(verdict(0.919, 21.9, [5.4e6, 4.6e6]), "agrees");
        assert_eq!(verdict(0.879, 20.0, [5e6, 5e6]), "not utilization");
        assert_eq!(verdict(0.9, 22.1, [5e6, 5e6]), "not queueing");
        assert_eq!(verdict(0.9, 17.9, [5.6e6, 4.4e6]), "not queueing, shares");
    }

    #[test]
    fn a_short_queue_may_differ_by_a_millisecond() {
        let live = |queueing| run(0.9, queueing, [5e6, 5e6], true);
        let packets = run(0.9, 0.5, [5e6, 5e6], false);
        assert_eq!(LiveAgreement::of("x", &packets, None, &live(1.4)).verdict(), "agrees");
        assert_eq!(LiveAgreement::of("x", &packets, None, &live(1.6)).verdict(), "not queueing");
    }

    #[test]
    fn what_cannot_be_trusted_neither_agrees_nor_differs() {
        let mut live = run(0.1, 20.0, [5e6, 5e6], true);
        live.summary.live.as_mut().unwrap().overruns = 1;
        let packets = run(0.9, 20.0, [5e6, 5e6], false);
        assert_eq!(LiveAgreement::of("x", &packets, Some(&packets), &live).verdict(), "untrustworthy");
    }
}
