//! Fairness over short windows, and when each flow reaches its fair share.

use crate::metrics::{converged_from, short_term};
use crate::plan::PlannedFlow;
use crate::results::{Kind, Quartiles, Series, quantity};
use millpond_sim::Network;
use millpond_units::Time;

/// Goodputs of all flows, window after window.
pub(super) struct Windows {
    begin: Time,
    delivered: Vec<u64>,
    ends: Vec<f64>,
    /// For each flow its goodput in each window in bit/s; none where it did not run throughout.
    goodputs: Vec<Vec<Option<f64>>>,
}

impl Windows {
    pub(super) fn new(flows: usize) -> Self {
        Self {
            begin: Time::ZERO,
            delivered: vec![0; flows],
            ends: Vec::new(),
            goodputs: vec![Vec::new(); flows],
        }
    }

    /// A window ends now.
    pub(super) fn close(&mut self, network: &Network, flows: &[PlannedFlow]) {
        let now = network.now();
        let seconds = now.since(self.begin).secs();
        for (index, flow) in flows.iter().enumerate() {
            let view = network.flow(flow.id);
            let delivered = view.delivered().get();
            let bits = (delivered - self.delivered[index]) as f64 * 8.0;
            self.delivered[index] = delivered;
            let throughout = flow.start <= self.begin
                && flow.stop.is_none_or(|stop| stop >= now)
                && view.completed().is_none();
            self.goodputs[index].push(throughout.then_some(bits / seconds));
        }
        self.ends.push(now.secs());
        self.begin = now;
    }

    /// Jain's index in each window: the series of the group `all`.
    pub(super) fn jain(&self) -> Series {
        let index = |window: usize| short_term(self.goodputs.iter().map(|flow| flow[window]));
        Series {
            kind: Kind::Group,
            entity: "all".to_owned(),
            quantity: quantity::JAIN.to_owned(),
            unit: "1".to_owned(),
            times: self.ends.clone(),
            values: (0..self.ends.len()).map(|window| index(window).unwrap_or(f64::NAN)).collect(),
        }
    }

    /// How Jain's index is spread over the windows that end after `from`; all 1 if none compares two flows.
    pub(super) fn quartiles(jain: &Series, from: Time) -> Quartiles {
        let measured =
            jain.times.iter().zip(&jain.values).filter(|(end, value)| **end > from.secs() && !value.is_nan());
        let even = Quartiles { min: 1.0, p25: 1.0, p50: 1.0, p75: 1.0, max: 1.0 };
        crate::metrics::quartiles(measured.map(|(_, value)| *value).collect()).unwrap_or(even)
    }

    /// What each window gives a flow if all that run throughout it share equally what they deliver together; not a
    /// number where fewer than two do.
    pub(super) fn fair_shares(&self) -> Vec<f64> {
        let mean = |window: usize| {
            let shares: Vec<f64> = self.goodputs.iter().filter_map(|flow| flow[window]).collect();
            if shares.len() > 1 { shares.iter().sum::<f64>() / shares.len() as f64 } else { f64::NAN }
        };
        (0..self.ends.len()).map(mean).collect()
    }

    /// From when on flow `index` stays within the fraction `within` of these fair shares.
    pub(super) fn converged(&self, index: usize, start: Time, fair: &[f64], within: f64) -> Option<f64> {
        let values: Vec<f64> = self.goodputs[index].iter().map(|value| value.unwrap_or(f64::NAN)).collect();
        converged_from(start.secs(), &self.ends, &values, fair, within)
    }
}
