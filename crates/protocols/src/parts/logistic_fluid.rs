//! Logistic growth as differential equations, shared by LGC and LGCC, which differ in the carrying capacity.

use super::ack_clock;
use super::logistic::LogisticForm;
use super::marking::{ALPHA, INTERVAL, IntervalName, per_second};
use super::send_rate::{CONTROL, Control, INITIAL_WINDOW};
use super::step_size::StepSize;
use millpond_law::Settings;
use millpond_law::fluid::{
    Allocation, LoopFacts, Marginal, Number, PriceSum, SenderInput, State, exp, greatest, least,
};
use millpond_law::key::Interval;

/// The settings of a sender.
#[derive(Clone, Copy)]
pub(crate) struct LogisticGrowth {
    form: LogisticForm,
    /// Whether the rate jumps to the equilibrium of (4) or (14), as in (15), instead of moving there.
    jumps: bool,
    /// Whether the steps of (14) move the share z of the carrying capacity instead of the rate: x = k z.
    follows_capacity: bool,
    step_size: StepSize,
    alpha: f64,
    interval: Interval<IntervalName>,
    control: Control,
    /// In packets.
    initial_window: f64,
    /// The least rate is a packet in this time, in seconds; zero: the initial window per base RTT.
    probe_interval: f64,
    /// The window also holds what a loop that its own links limit sends in this time, in seconds.
    service_gap: f64,
}

/// A sender of one loop, its carrying capacity given.
pub(crate) struct Grower {
    growth: LogisticGrowth,
    /// In bits.
    packet: f64,
    /// The least rate, in bit/s.
    floor: f64,
    /// The initial rate, in bit/s.
    initial: f64,
    /// The smallest ln z: that of the least rate, if the loop's links are the carrying capacity.
    least_log_share: f64,
    chained: bool,
}

/// The target of a sender.
#[derive(Clone, Copy)]
pub(crate) struct Aim<T> {
    /// The carrying capacity, which marks reduce.
    pub(crate) capacity: T,
    /// Upper bound on the target in bit/s, which marks do not reduce; infinite if there is none.
    pub(crate) most: T,
    /// The price of the path in nats, which reduces the carrying capacity like marks, without smoothing; none without.
    pub(crate) price: Option<T>,
    /// Whether the loop's own links are the carrying capacity.
    pub(crate) is_limited_by_links: bool,
}

impl<T: Number> Aim<T> {
    /// A target with a carrying capacity alone.
    pub(crate) fn at(capacity: T) -> Self {
        Self { capacity, most: T::from(f64::INFINITY), price: None, is_limited_by_links: true }
    }
}

impl<T: Number> Aim<T> {
    /// The marking probability with the price of the path: `1 - (1 - p) e^-n`.
    fn marked(&self, marking: T) -> T {
        self.price.map_or(marking, |price| -(-marking + 1.0) * exp(-price) + 1.0)
    }
}

/// Names of [`Grower::guards`].
pub(crate) const GUARDS: [&str; 3] = [
    "distance from the target less g1",
    "distance from the target less g2",
    "deflated capacity less the bound",
];

impl LogisticGrowth {
    pub(crate) fn read(settings: &Settings, form: LogisticForm, jumps: bool) -> Self {
        Self {
            form,
            jumps,
            follows_capacity: false,
            step_size: StepSize::read(settings),
            alpha: settings.get(ALPHA),
            interval: settings.get(INTERVAL),
            control: settings.get(CONTROL),
            initial_window: settings.get(INITIAL_WINDOW),
            probe_interval: 0.0,
            service_gap: 0.0,
        }
    }

    /// The same settings with this least rate and window; both in seconds.
    pub(crate) fn with_gaps(self, probe_interval: f64, service_gap: f64) -> Self {
        Self { probe_interval, service_gap, ..self }
    }

    /// The same settings with steps that move the share z of the carrying capacity if `follows`: x = k z.
    pub(crate) fn following_capacity(self, follows: bool) -> Self {
        Self { follows_capacity: follows, ..self }
    }

    pub(crate) fn sender(&self, facts: &LoopFacts) -> Grower {
        const LARGEST_FLOOR: f64 = 0.99;
        let initial = self.initial_window * facts.packet / facts.base_rtt;
        let probing = facts.packet / self.probe_interval.max(facts.base_rtt);
        let floor = if self.probe_interval > 0.0 { probing } else { initial };
        let least_share = (floor / (facts.capacity * facts.weight)).min(LARGEST_FLOOR);
        Grower {
            growth: *self,
            packet: facts.packet,
            floor,
            initial,
            least_log_share: libm::log(least_share),
            chained: facts.chained,
        }
    }

    /// `U'(x) = ln(k / x) / eta`, for prices `-ln(1 - p)` in nats.
    pub(crate) fn marginal(&self, capacity: f64) -> Box<dyn Marginal> {
        Box::new(Logistic { capacity, exponent: self.form.exponent() })
    }

    /// Section VI-D: `U'(x) = -log_phi1(x / k)` is the price `-log_phi2(1 - p)`.
    pub(crate) fn allocation(&self, capacity: f64) -> Allocation {
        match self.control {
            Control::Rate => {
                Allocation::Utility { marginal: self.marginal(capacity), prices: PriceSum::Marked }
            }
            Control::Window | Control::PacedWindow => Allocation::Numeric {
                reason: "windows beyond the bandwidth-delay product form the queue, so marks depend on that product, too",
            },
        }
    }
}

impl Grower {
    /// The marking probability; the rate, or ln z if it follows the carrying capacity, unless the law jumps; and the lags between marks and estimate. Lags of a
    /// probability need no bounds.
    pub(crate) fn states(&self) -> Vec<State> {
        let share = |name| State::new(name, "1", 0.0);
        let least = self.least_log_share;
        let first = (least + libm::log(self.initial / self.floor)).clamp(least, 0.0);
        let rate = match self.growth.follows_capacity {
            true => State::new("logarithm of the share", "1", first).within(least, 0.0),
            false => {
                State::new("rate", "bit/s", self.initial.max(self.floor)).within(self.floor, f64::INFINITY)
            }
        };
        let rate = (!self.growth.jumps).then_some(rate);
        let marking = share("marking probability").within(0.0, 1.0);
        let lags = ["share of marks counted", "share of marks in force"].map(share);
        std::iter::once(marking).chain(rate).chain(lags.into_iter().take(self.lags())).collect()
    }

    fn is_paced(&self) -> bool {
        self.growth.control == Control::Rate
    }

    /// Number of lags of half an interval between marks and the estimate. Marks are counted for one interval, and a
    /// pace derived from them is constant for another. A window acts immediately, and a round ends with the feedback of
    /// its own packets; for other intervals, packet runs show a remaining delay of half an interval (lgcc/stability).
    pub(crate) fn lags(&self) -> usize {
        match self.growth.interval {
            _ if self.is_paced() => 2,
            Interval::Word(IntervalName::Round) => 0,
            _ => 1,
        }
    }

    /// Line 8 of Algorithm 1: returns `p' = alpha (m - p)` per interval; marks m pass the lags.
    pub(crate) fn smoothed<T: Number>(
        &self,
        mut marks: T,
        (estimate, lags): (T, &[T]),
        input: &SenderInput<'_, T>,
        dlags: &mut [T],
    ) -> T {
        let LogisticGrowth { alpha, interval, .. } = &self.growth;
        let pace = per_second(*interval, input, self.packet);
        for (lag, dlag) in lags.iter().zip(dlags) {
            *dlag = (marks - *lag) * pace * 2.0;
            marks = *lag;
        }
        (marks - estimate) * pace * *alpha
    }

    /// Line 8 of Algorithm 1, a loss counting as a mark. Line 19: `x' = gamma x growth` per interval.
    pub(crate) fn derivative<T: Number>(
        &self,
        x: &[T],
        aim: Aim<T>,
        input: &SenderInput<'_, T>,
        dx: &mut [T],
    ) {
        let marks = input.marked + input.lost - input.marked * input.lost;
        let lags = x.len() - self.lags();
        dx[0] = self.smoothed(marks, (x[0], &x[lags..]), input, &mut dx[lags..]);
        if !self.growth.jumps {
            let growth = self.growth_rate(x, aim, input);
            dx[1] = if self.growth.follows_capacity { growth } else { x[1] * growth };
        }
    }

    /// Eq. (14): `x' / x` in 1/s. With a share of the carrying capacity it is `(ln z)'`, the same for a constant k.
    fn growth_rate<T: Number>(&self, x: &[T], aim: Aim<T>, input: &SenderInput<'_, T>) -> T {
        let LogisticGrowth { form, step_size, interval, .. } = &self.growth;
        let pace = per_second(*interval, input, self.packet);
        let ((k, marking), rate) = (self.bound(x, aim), self.law_rate(x, aim));
        let gamma = step_size.at(rate, form.equilibrium(k, marking));
        gamma * form.growth(rate, k, marking) * pace
    }

    /// The rate that (14) moves, in bit/s: x, or k z.
    fn law_rate<T: Number>(&self, x: &[T], aim: Aim<T>) -> T {
        if self.growth.follows_capacity { aim.capacity * exp(x[1]) } else { x[1] }
    }

    /// The carrying capacity and the marking probability that give the target; an upper bound below it applies without
    /// marks.
    fn bound<T: Number>(&self, x: &[T], aim: Aim<T>) -> (T, T) {
        if self.is_bound(x, aim) { (aim.most, T::zero()) } else { (aim.capacity, aim.marked(x[0])) }
    }

    fn is_bound<T: Number>(&self, x: &[T], aim: Aim<T>) -> bool {
        aim.most < f64::INFINITY && self.growth.form.equilibrium(aim.capacity, aim.marked(x[0])) > aim.most
    }

    /// x'; if the law jumps, for a constant carrying capacity and price.
    fn slope<T: Number>(&self, x: &[T], aim: Aim<T>, input: &SenderInput<'_, T>) -> T {
        let LogisticGrowth { form, jumps, alpha, interval, .. } = &self.growth;
        if !jumps {
            return self.law_rate(x, aim) * self.growth_rate(x, aim, input);
        }
        let pace = per_second(*interval, input, self.packet);
        let (k, marking) = self.bound(x, aim);
        let moves = if self.is_bound(x, aim) { T::zero() } else { (x[x.len() - 1] - x[0]) * pace * *alpha };
        -form.equilibrium(k, marking) * moves * form.exponent() / (-x[0] + 1.0)
    }

    /// The law's x, in bit/s.
    fn own_rate<T: Number>(&self, x: &[T], aim: Aim<T>) -> T {
        let (k, marking) = self.bound(x, aim);
        if self.growth.jumps {
            greatest(self.growth.form.equilibrium(k, marking), T::from(self.floor))
        } else if self.growth.follows_capacity {
            greatest(least(self.law_rate(x, aim), aim.most), T::from(self.floor))
        } else {
            x[1]
        }
    }

    /// The sending rate: x; or for a window W of x times the base RTT T, the rate of its acknowledgement clock. The RTT
    /// input is one base RTT old.
    ///
    /// In a chain it is W / RTT alone: there x' follows the downstream rate without a state between, so that with W'
    /// each of its jumps would appear in this rate, loop by loop (LGCC's ERRATA.md, "A window's growth in a chain").
    pub(crate) fn rate<T: Number>(&self, x: &[T], aim: Aim<T>, input: &SenderInput<'_, T>) -> T {
        let rate = self.own_rate(x, aim);
        match self.growth.control {
            Control::Rate => rate,
            Control::PacedWindow if self.growth.service_gap > 0.0 => least(rate, self.clocked(x, aim, input)),
            Control::Window | Control::PacedWindow if self.chained => self.clocked(x, aim, input),
            Control::Window | Control::PacedWindow => {
                let slope = self.slope(x, aim, input);
                let stays = rate <= T::from(self.floor) && slope < T::zero();
                let grows = if stays { T::zero() } else { slope };
                let (window, grows) = (rate * input.base_rtt, grows * input.base_rtt);
                ack_clock::rate(window, grows, input.rtt(), input.base_rtt)
            }
        }
    }

    /// W / RTT: the rate of a window that holds x times the base RTT and what the law sends in a gap of service.
    pub(crate) fn clocked<T: Number>(&self, x: &[T], aim: Aim<T>, input: &SenderInput<'_, T>) -> T {
        let rate = self.own_rate(x, aim);
        let gap = if aim.is_limited_by_links { self.growth.service_gap } else { 0.0 };
        let by_law =
            if self.growth.follows_capacity && !self.growth.jumps { self.law_rate(x, aim) } else { rate };
        if gap == 0.0 {
            rate / input.rtt() * input.base_rtt
        } else {
            (rate * input.base_rtt + by_law * gap) / input.rtt()
        }
    }

    /// The pacing rate less that of the window, of which the smaller one limits a paced sender with a gap of service.
    pub(crate) fn pacing_guard<T: Number>(&self, x: &[T], aim: Aim<T>, input: &SenderInput<'_, T>) -> T {
        match self.growth.service_gap > 0.0 {
            true => self.own_rate(x, aim) - self.clocked(x, aim, input),
            false => T::one(),
        }
    }

    pub(crate) fn guards<T: Number>(&self, x: &[T], aim: Aim<T>, guards: &mut [T]) {
        let (k, marking) = self.bound(x, aim);
        let target = self.growth.form.equilibrium(k, marking);
        let distance = (self.own_rate(x, aim) - target).abs() / target;
        let free = self.growth.form.equilibrium(aim.capacity, aim.marked(x[0]));
        guards[2] = if aim.most < f64::INFINITY { free - aim.most } else { -T::one() };
        for (guard, threshold) in guards.iter_mut().zip(self.growth.step_size.thresholds()) {
            *guard = distance - threshold;
        }
    }

    /// Smallest rate, in bit/s.
    pub(crate) fn floor(&self) -> f64 {
        self.floor
    }
}

/// `U'(x) = -ln(x / k) / eta`, for prices `-ln(1 - p)`: `x = k (1 - p)^eta`, at most k.
struct Logistic {
    capacity: f64,
    exponent: f64,
}

impl Marginal for Logistic {
    fn marginal(&self, rate: f64) -> f64 {
        libm::log(self.capacity / rate) / self.exponent
    }

    fn demand(&self, price: f64) -> f64 {
        self.capacity * libm::exp(-price * self.exponent)
    }
}
