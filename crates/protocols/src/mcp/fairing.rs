//! The duration of a flow's request for fairing (section IV-D).

/// Eq. (2): the smallest load over the largest.
pub fn fairness(loads: &[f64]) -> f64 {
    let (least, most) =
        loads.iter().fold((f64::MAX, f64::MIN), |(low, high), &load| (low.min(load), high.max(load)));
    least / most
}

/// Eq. (12): lower bound of the fairness after increase-decrease cycle number `cycle`, from the fairness before it.
pub fn fairness_bound(before: f64, cycle: u32) -> f64 {
    before + (1.0 - before) / (2.0 + libm::pow(0.5, f64::from(cycle.max(1) - 1)))
}

/// A request for fairing, for a number of increase-decrease cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FairingRequest {
    halvings: u64,
    left: u64,
    /// Whether the rate has grown additively, as in the fairing mode, since its last decrease.
    grew: bool,
}

impl FairingRequest {
    /// The request of a flow that starts; `halvings` of a rate that grew additively end it.
    pub(super) const fn new(halvings: u64) -> Self {
        Self { halvings, left: halvings, grew: false }
    }

    /// An earlier request with `left` halvings left.
    pub(super) const fn resumed(halvings: u64, left: u64, grew: bool) -> Self {
        Self { halvings, left, grew }
    }

    /// Whether the rate has grown additively since its last decrease.
    pub(super) const fn grew(&self) -> bool {
        self.grew
    }

    /// Whether the request is signalled.
    pub(super) const fn is_active(&self) -> bool {
        self.left > 0
    }

    /// Number of halvings left.
    pub(super) const fn left(&self) -> u64 {
        self.left
    }

    /// Restarts the request.
    pub(super) const fn restart(&mut self) {
        *self = Self::new(self.halvings);
    }

    /// Records an additive increase in the fairing mode.
    pub(super) const fn on_increase(&mut self) {
        self.grew = true;
    }

    /// Records a halving: it ends a cycle only if the rate had grown (section IV-D1: scaling does not count).
    pub(super) const fn on_halving(&mut self) {
        self.left = self.left.saturating_sub(self.grew as u64);
        self.grew = false;
    }

    /// Records a step back.
    pub(super) const fn on_step_back(&mut self) {
        self.grew = false;
    }
}

/// Use of the rate by the application, from decision to decision (section IV-D2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Demand {
    /// Whether the flow has been application-limited since the last decision.
    short: bool,
    busy: bool,
    /// Whether the flow was application-limited for a whole interval, without a decrease by the network since then.
    low: bool,
}

/// Use of the rate in an interval between decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Usage {
    /// The rate was not fully used and does not have to grow.
    Unused,
    /// The rate was fully used.
    Used,
    /// The rate was fully used, for the first time since the flow was application-limited.
    Raised,
}

impl Demand {
    /// Records whether an acknowledgement found the flow application-limited.
    pub(super) const fn note(&mut self, short_of_data: bool) {
        if short_of_data {
            self.short = true;
        } else {
            self.busy = true;
        }
    }

    /// Ends an interval.
    pub(super) const fn end_interval(&mut self) -> Usage {
        let Self { short, busy, low } = *self;
        *self = Self { short: false, busy: false, low: low || short && !busy };
        match (short, busy && low) {
            (true, _) => Usage::Unused,
            (false, false) => Usage::Used,
            (false, true) => {
                self.low = false;
                Usage::Raised
            }
        }
    }

    /// Records a decrease by the network: from now on the flow is not limited by its application.
    pub(super) const fn on_decrease(&mut self) {
        self.low = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_halvings_after_increases_end_a_request_and_others_do_not_count() {
        let mut request = FairingRequest::new(7);
        for left in (0..7).rev() {
            assert!(request.is_active());
            request.on_halving();
            request.on_increase();
            request.on_step_back();
            request.on_halving();
            request.on_increase();
            request.on_increase();
            request.on_halving();
            assert_eq!(request.left(), left);
        }
        assert!(!request.is_active());
        request.restart();
        assert_eq!(request.left(), 7);
    }

    fn interval(demand: &mut Demand, notes: &[bool]) -> Usage {
        notes.iter().for_each(|short| demand.note(*short));
        demand.end_interval()
    }

    #[test]
    fn a_demand_rises_when_an_application_limited_interval_precedes_a_fully_used_one() {
        let mut demand = Demand::default();
        assert_eq!(interval(&mut demand, &[false]), Usage::Used);
        assert_eq!(interval(&mut demand, &[true, true]), Usage::Unused);
        assert_eq!(interval(&mut demand, &[true, false]), Usage::Unused);
        assert_eq!(interval(&mut demand, &[]), Usage::Used);
        assert_eq!(interval(&mut demand, &[false, false]), Usage::Raised);
        assert_eq!(interval(&mut demand, &[false, false]), Usage::Used);
    }

    #[test]
    fn a_flow_whose_rate_was_decreased_has_not_raised_its_demand() {
        let mut demand = Demand::default();
        interval(&mut demand, &[true]);
        demand.on_decrease();
        assert_eq!(interval(&mut demand, &[false]), Usage::Used);
    }
}
