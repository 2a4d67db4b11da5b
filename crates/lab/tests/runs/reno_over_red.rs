//! Every number of `docs/reno-over-red.md`: from the closed forms of the page, or from the output that it shows.

use millpond_fluid::stability::Complex;
use std::collections::BTreeSet;
use std::f64::consts::PI;

const PAGE: &str = include_str!("../../../../docs/reno-over-red.md");
const SCENARIO: &str = include_str!("../../../../scenarios/reno-over-red.toml");

/// Packets per second.
const CAPACITY: f64 = 3750.0;
const MIN_TH: f64 = 150.0;
const MAX_TH: f64 = 700.0;
const MAX_P: f64 = 0.1;

/// The network of the page with some of its values changed.
#[derive(Clone, Copy)]
struct Network {
    flows: f64,
    /// In seconds.
    propagation: f64,
    weight: f64,
}

const SLOW: Network = Network { flows: 60.0, propagation: 0.2, weight: 1.3333e-5 };
const DEFAULT: Network = Network { weight: 0.002, ..SLOW };

/// The equilibrium: queue and window in packets, round-trip time in seconds.
struct Equilibrium {
    queue: f64,
    rtt: f64,
    window: f64,
    probability: f64,
}

impl Network {
    fn slope() -> f64 {
        MAX_P / (MAX_TH - MIN_TH)
    }

    fn pole(&self) -> f64 {
        -(-self.weight).ln_1p() * CAPACITY
    }

    fn equilibrium(&self) -> Equilibrium {
        let at = |queue: f64| {
            let rtt = self.propagation + queue / CAPACITY;
            let window = rtt * CAPACITY / self.flows;
            Equilibrium { queue, rtt, window, probability: 2.0 / window.powi(2) }
        };
        let excess = |queue: f64| MIN_TH + at(queue).probability / Self::slope() - queue;
        at(zero_of(excess, MIN_TH, 1e4))
    }

    /// Hollot and others: opened at the probability.
    fn loop_by_hand(&self, s: Complex<f64>) -> Complex<f64> {
        let (Equilibrium { rtt, .. }, k) = (self.equilibrium(), self.pole());
        let lags = (s + 2.0 * self.flows / (rtt * rtt * CAPACITY)) * (s + 1.0 / rtt) * (s + k);
        (-s * rtt).exp() * (CAPACITY * CAPACITY / (2.0 * self.flows) * Self::slope() * k) / lags
    }

    /// Without approximations: opened at the link.
    fn loop_at_link(&self, s: Complex<f64>) -> Complex<f64> {
        let (Equilibrium { rtt, window, .. }, k) = (self.equilibrium(), self.pole());
        let delay = (-s * self.propagation).exp();
        let one = Complex::new(1.0, 0.0);
        let a = 1.0 / (window * rtt);
        let marks = Complex::from(window * window / (2.0 * rtt) * Self::slope() * k) / (s + k);
        let forces = (one - delay) / (rtt * rtt * CAPACITY) + marks;
        let rate = forces / ((s + (one + delay) * a) * rtt) + window / (rtt * rtt * CAPACITY);
        delay * self.flows / s * rate
    }

    /// The zero of 1 + L near a value, by Newton's method.
    fn root(&self, near: Complex<f64>, of: fn(&Self, Complex<f64>) -> Complex<f64>) -> Complex<f64> {
        const STEP: f64 = 1e-6;
        let value = |s| of(self, s) + 1.0;
        (0..50).fold(near, |s, _| s - value(s) * 2.0 * STEP / (value(s + STEP) - value(s - STEP)))
    }
}

/// The zero of a function that changes its sign between `low` and `high`.
fn zero_of(function: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let sign = function(low).signum();
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if function(middle).signum() == sign { low = middle } else { high = middle }
    }
    low
}

/// The first frequency above `from` at which a function changes its sign.
fn crossing(from: f64, function: impl Fn(f64) -> f64) -> f64 {
    const RATIO: f64 = 1.01;
    let mut low = from;
    while function(low).signum() == function(low * RATIO).signum() {
        low *= RATIO;
    }
    zero_of(function, low, low * RATIO)
}

/// Phase margin in degrees, gain margin, and their frequencies in rad/s.
struct HandMargins {
    phase: (f64, f64),
    gain: (f64, f64),
}

fn margins(ratio: impl Fn(Complex<f64>) -> Complex<f64>) -> HandMargins {
    let at = |w: f64| ratio(Complex::new(0.0, w));
    let unit = crossing(0.1, |w| at(w).norm() - 1.0);
    let axis = crossing(unit, |w| at(w).im);
    HandMargins { phase: (180.0 + at(unit).arg().to_degrees(), unit), gain: (-1.0 / at(axis).re, axis) }
}

/// The value of a parameter at which the root that starts at `root` reaches the imaginary axis.
fn critical(
    values: impl Iterator<Item = f64>,
    of: fn(&Network, Complex<f64>) -> Complex<f64>,
    mut root: Complex<f64>,
    network: impl Fn(f64) -> Network,
) -> f64 {
    let begins_stable = root.re < 0.0;
    let mut last: Option<(f64, f64)> = None;
    for value in values {
        root = network(value).root(root, of);
        if let Some((before, growth)) = last
            && (root.re < 0.0) != begins_stable
        {
            return before + (value - before) * growth / (growth - root.re);
        }
        last = Some((value, root.re));
    }
    panic!("the root stays on its side of the axis");
}

fn upwards(from: f64, step: f64) -> impl Iterator<Item = f64> {
    (0..2000).map(move |index| from + step * f64::from(index))
}

/// The numbers of the equilibrium and of the loop by hand.
fn numbers_by_hand() -> Vec<String> {
    let (network, k) = (SLOW, SLOW.pole());
    let Equilibrium { queue, rtt, window, probability } = network.equilibrium();
    let windows = 2.0 * network.flows / (rtt * rtt * CAPACITY);
    let gain = Network::slope() * (rtt * CAPACITY).powi(3) / (2.0 * network.flows).powi(2);
    let found = margins(|s| network.loop_by_hand(s));
    let unit = found.phase.1;
    let lag = |pole: f64| (unit / pole).atan().to_degrees();
    // The crossover at a tenth of the slower other pole: magnitude one there gives the pole of the average.
    let slow = windows / 10.0;
    let others = gain / (1.0 + 0.01_f64).sqrt() / (1.0 + (slow * rtt).powi(2)).sqrt();
    let rule = slow / (others * others - 1.0).sqrt();
    assert!((window * window * probability - 2.0).abs() < 1e-12);
    [
        format!("q0 = {queue:.1} packets"),
        format!("R0 = {:.1} ms", 1e3 * rtt),
        format!("W0 = {window:.2} packets"),
        format!("p0 = {probability:.5}"),
        format!("delay of {:.1} ms", 1e3 * queue / CAPACITY),
        format!("K = {k:.4}` per second"),
        format!("K = {:.2}` per second", DEFAULT.pole()),
        format!("K = {rule:.4}` per second"),
        format!("at {windows:.3} per second (windows), {:.2} per second (queue)", 1.0 / rtt),
        format!("and {k:.4} per second (average)"),
        format!("frequency zero is {gain:.1}"),
        format!("one at {unit:.3} rad/s"),
        format!("less {:.2}° (average), {:.2}° (windows)", lag(k), lag(windows)),
        format!("{:.2}° (queue), {:.2}° (delay)", lag(1.0 / rtt), (unit * rtt).to_degrees()),
        format!("**{:.2}°**", found.phase.0),
        format!("-180° at {:.2} rad/s", found.gain.1),
        format!("**x{:.2}**", found.gain.0),
    ]
    .to_vec()
}

/// The numbers that the command prints as well, from the closed form of the loop at the link.
fn numbers_of_the_closed_loop() -> Vec<String> {
    let exact = margins(|s| SLOW.loop_at_link(s));
    let of: fn(&Network, Complex<f64>) -> Complex<f64> = Network::loop_at_link;
    let root = SLOW.root(Complex::new(-0.24, 0.48), of);
    let fast = DEFAULT.root(Complex::new(0.75, 4.3), of);
    let longest = critical(upwards(0.2, 0.001), of, root, |propagation| Network { propagation, ..SLOW });
    let fewest = critical(upwards(-60.0, 0.1), of, root, |flows| Network { flows: -flows, ..SLOW });
    let shortest = critical(upwards(-0.2, 0.001), of, fast, |propagation| Network {
        propagation: -propagation,
        ..DEFAULT
    });
    let most = critical(upwards(60.0, 0.1), of, fast, |flows| Network { flows, ..DEFAULT });
    // By hand, from the root near its phase crossover.
    let hand: fn(&Network, Complex<f64>) -> Complex<f64> = Network::loop_by_hand;
    let slow = SLOW.root(Complex::new(-0.2, 0.5), hand);
    let by_hand = critical(upwards(0.2, 0.001), hand, slow, |propagation| Network { propagation, ..SLOW });
    let fewest_by_hand = critical(upwards(-60.0, 0.1), hand, slow, |flows| Network { flows: -flows, ..SLOW });
    let at_full = (SLOW.propagation + MAX_TH / CAPACITY) * CAPACITY / (2.0 / MAX_P).sqrt();
    let few = Network { flows: 10.0, ..SLOW }.root(Complex::new(0.1, 1.2), of);
    let far = Network { propagation: 0.5, ..SLOW }.root(Complex::new(0.1, 0.75), of);
    let cycle = |root: Complex<f64>| {
        let period = 2.0 * PI / root.im;
        format!("oscillates every {period:.2} s, x{:.2} per cycle", (root.re * period).exp())
    };
    [
        format!("x{:.2} ┆     {:.2} │", exact.gain.0, exact.gain.1),
        format!("{:.2}° ┆     {:.2} │", exact.phase.0, exact.phase.1),
        format!("{:.1} ms ┆     {:.2} │", 1e3 * exact.phase.0.to_radians() / exact.phase.1, exact.phase.1),
        format!("crossover is at {:.2} rad/s", exact.phase.1),
        format!("{:.4} ┆           {:.4} │", root.re, root.im).replace(" │", " ┆      13.0 ┆"),
        format!("{:.1} ┆          x{:.4}", 2.0 * PI / root.im, (root.re * 2.0 * PI / root.im).exp()),
        format!("{:.4} ┆           {:.4} ┆", fast.re, fast.im),
        cycle(fast),
        cycle(few),
        cycle(far),
        format!("above RTT {:.1} ms (now 200 ms)", 1e3 * longest),
        // Flows are whole: the limits are the greatest and the least number that is stable.
        format!("above flows {} (now 60), and below flows {} (now 60)", at_full.floor(), -fewest.floor()),
        format!("below RTT {:.1} ms (now 200 ms), and above flows {} (now 60)", -1e3 * shortest, most.ceil()),
        format!("`T = {:.0}` ms or below {} flows", 1e3 * by_hand, -fewest_by_hand.floor()),
        format!("above {:.1} ms or below {}.", 1e3 * longest, -fewest.floor()),
        format!("Above {} flows", at_full.floor()),
        format!("at {:.3} Hz ({:.4} rad/s)", fast.im / (2.0 * PI), fast.im),
    ]
    .to_vec()
}

#[test]
fn the_page_has_the_numbers_of_the_closed_forms() {
    let page = PAGE.replace('\n', " ");
    for number in numbers_by_hand().into_iter().chain(numbers_of_the_closed_loop()) {
        assert!(page.contains(&number), "the page does not contain \"{number}\"");
    }
}

/// The numbers of a text that have a decimal point.
fn decimals(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
    words.map(|word| word.trim_matches('.')).filter(|word| word.contains('.')).collect()
}

#[test]
fn every_decimal_number_in_the_text_is_computed_printed_or_a_value_of_the_scenario() {
    let parts: Vec<&str> = PAGE.split("```").collect();
    let prose: String = parts.iter().step_by(2).copied().collect();
    // A test of the command compares these with its output.
    let printed: String = parts.iter().filter(|part| part.starts_with("console")).copied().collect();
    let computed = [numbers_by_hand(), numbers_of_the_closed_loop()].concat().join(" ");
    let known: BTreeSet<&str> = [&printed, &computed, SCENARIO, "0.002 0.000013333"]
        .into_iter()
        .flat_map(|text| decimals(text))
        .collect();
    let unknown: Vec<&str> = decimals(&prose).into_iter().filter(|number| !known.contains(number)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
