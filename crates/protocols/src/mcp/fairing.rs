//! When a flow asks for fairing, and for how long (section IV-D).

/// Eq. (2): the least load over the greatest.
pub fn fairness(loads: &[f64]) -> f64 {
    let (least, most) =
        loads.iter().fold((f64::MAX, f64::MIN), |(low, high), &load| (low.min(load), high.max(load)));
    least / most
}

/// Eq. (12): what the fairness is at least after increase-decrease cycle number `cycle`, from what it was before it.
pub fn fairness_bound(before: f64, cycle: u32) -> f64 {
    before + (1.0 - before) / (2.0 + libm::pow(0.5, f64::from(cycle.max(1) - 1)))
}

/// A request for fairing, made for so many increase-decrease cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    halvings: u64,
    left: u64,
    /// Has the rate grown additively, as in the fairing mode, since it last fell?
    grew: bool,
}

impl Request {
    /// A flow that starts asks; `halvings` of a rate that grew additively end it.
    pub(super) const fn new(halvings: u64) -> Self {
        Self { halvings, left: halvings, grew: false }
    }

    /// One that has been going on: so many halvings are left.
    pub(super) const fn resumed(halvings: u64, left: u64, grew: bool) -> Self {
        Self { halvings, left, grew }
    }

    /// Has the rate grown additively since it last fell?
    pub(super) const fn grew(&self) -> bool {
        self.grew
    }

    /// Is it being made?
    pub(super) const fn is_made(&self) -> bool {
        self.left > 0
    }

    /// Halvings still to come.
    pub(super) const fn left(&self) -> u64 {
        self.left
    }

    /// The flow asks anew.
    pub(super) const fn renew(&mut self) {
        *self = Self::new(self.halvings);
    }

    /// The rate grew additively in the fairing mode.
    pub(super) const fn on_increase(&mut self) {
        self.grew = true;
    }

    /// The rate was halved: that is a cycle only if it had grown (section IV-D1: scaling does not count).
    pub(super) const fn on_halving(&mut self) {
        self.left = self.left.saturating_sub(self.grew as u64);
        self.grew = false;
    }

    /// The rate was stepped back.
    pub(super) const fn on_step_back(&mut self) {
        self.grew = false;
    }
}

/// Whether an application uses its rate, from decision to decision (section IV-D2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Demand {
    /// Since the last decision the flow was short of data, or was not.
    short: bool,
    busy: bool,
    /// It has been short of data for a whole interval, and the network has not slowed it down since.
    low: bool,
}

/// What an interval between decisions shows of the demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// The rate was not used up: it need not grow.
    Unused,
    /// The rate was used up.
    Used,
    /// It was used up, for the first time since the application willingly sent less.
    Raised,
}

impl Demand {
    /// An acknowledgement finds the flow short of data, or not.
    pub(super) const fn note(&mut self, short_of_data: bool) {
        if short_of_data {
            self.short = true;
        } else {
            self.busy = true;
        }
    }

    /// An interval ends.
    pub(super) const fn end_interval(&mut self) -> Shows {
        let Self { short, busy, low } = *self;
        *self = Self { short: false, busy: false, low: low || short && !busy };
        match (short, busy && low) {
            (true, _) => Shows::Unused,
            (false, false) => Shows::Used,
            (false, true) => {
                self.low = false;
                Shows::Raised
            }
        }
    }

    /// The network slows the flow down: what it lacks from now on is not its own choice.
    pub(super) const fn on_decrease(&mut self) {
        self.low = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_halvings_after_increases_end_a_request_and_others_do_not_count() {
        let mut request = Request::new(7);
        for left in (0..7).rev() {
            assert!(request.is_made());
            request.on_halving();
            request.on_increase();
            request.on_step_back();
            request.on_halving();
            request.on_increase();
            request.on_increase();
            request.on_halving();
            assert_eq!(request.left(), left);
        }
        assert!(!request.is_made());
        request.renew();
        assert_eq!(request.left(), 7);
    }

    fn interval(demand: &mut Demand, notes: &[bool]) -> Shows {
        notes.iter().for_each(|short| demand.note(*short));
        demand.end_interval()
    }

    #[test]
    fn a_demand_rises_when_a_whole_interval_without_need_is_followed_by_one_of_need() {
        let mut demand = Demand::default();
        assert_eq!(interval(&mut demand, &[false]), Shows::Used);
        assert_eq!(interval(&mut demand, &[true, true]), Shows::Unused);
        assert_eq!(interval(&mut demand, &[true, false]), Shows::Unused);
        assert_eq!(interval(&mut demand, &[]), Shows::Used);
        assert_eq!(interval(&mut demand, &[false, false]), Shows::Raised);
        assert_eq!(interval(&mut demand, &[false, false]), Shows::Used);
    }

    #[test]
    fn a_flow_that_the_network_slowed_down_has_not_raised_its_demand() {
        let mut demand = Demand::default();
        interval(&mut demand, &[true]);
        demand.on_decrease();
        assert_eq!(interval(&mut demand, &[false]), Shows::Used);
    }
}
