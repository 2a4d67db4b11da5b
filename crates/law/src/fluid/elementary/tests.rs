//! The functions against references with a hundred bits: sums of two doubles and power series.

use super::{exp, exp_m1, ln, ln_1p};
use crate::Random;
use core::f64::consts::{E, LN_2};
use core::ops::{Add, Div, Mul, Neg, Range, Sub};

/// The sum of two doubles, of which the second is at most half a unit in the last place of the first.
#[derive(Clone, Copy, Debug)]
struct Double(f64, f64);

impl Double {
    /// ln 2 to 107 bits.
    const LN_2: Self = Self(LN_2, 2.319_046_813_846_3e-17);

    fn of_sum(a: f64, b: f64) -> Self {
        let sum = a + b;
        let added = sum - a;
        Self(sum, (a - (sum - added)) + (b - added))
    }

    /// The same times 2^k, for a result that is a normal number.
    fn scaled(self, k: i32) -> Self {
        Self(scaled(self.0, k), scaled(self.1, k))
    }

    fn of_product(a: f64, b: f64) -> Self {
        let product = a * b;
        Self(product, a.mul_add(b, -product))
    }
}

/// `x 2^k`, rounded once: for |k| below 2000, in two factors, because the power alone may be infinite or zero.
fn scaled(x: f64, k: i32) -> f64 {
    let power = |k: i32| f64::from_bits(((1023 + k) as u64) << 52);
    x * power(k / 2) * power(k - k / 2)
}

impl From<f64> for Double {
    fn from(value: f64) -> Self {
        Self(value, 0.0)
    }
}

impl Neg for Double {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }
}

impl Add for Double {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (sum, low) = (Self::of_sum(self.0, other.0), Self::of_sum(self.1, other.1));
        let sum = Self::of_sum(sum.0, sum.1 + low.0);
        Self::of_sum(sum.0, sum.1 + low.1)
    }
}

impl Sub for Double {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Double {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let product = Self::of_product(self.0, other.0);
        Self::of_sum(product.0, product.1 + (self.0 * other.1 + self.1 * other.0))
    }
}

impl Div for Double {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let first = self.0 / other.0;
        let rest = self - other * first.into();
        let second = rest.0 / other.0;
        let rest = rest - other * second.into();
        Self::of_sum(first, second) + (rest.0 / other.0).into()
    }
}

/// `e^r - 1` by its power series, for |r| below 0.4: the thirtieth term is below 1e-44.
fn series_exp_m1(r: Double) -> Double {
    let (mut term, mut sum) = (r, r);
    for n in 2..30 {
        term = term * r / f64::from(n).into();
        sum = sum + term;
    }
    sum
}

/// `e^x - 1` as `value` times a power of two, with the exponent.
fn reference_exp(x: f64) -> (Double, i32) {
    let k = (x / LN_2).round();
    let r = Double::from(x) - Double::LN_2 * k.into();
    (series_exp_m1(r) + 1.0.into(), k as i32)
}

fn reference_exp_m1(x: f64) -> Double {
    if x.abs() < 0.3 {
        return series_exp_m1(x.into());
    }
    let (value, k) = reference_exp(x);
    value.scaled(k) - 1.0.into()
}

/// `ln((1 + s) / (1 - s))` by its power series, for |s| below 0.2: the thirtieth term is below 1e-42.
fn series_ln(s: Double) -> Double {
    let (square, mut power, mut sum) = (s * s, s, s);
    for n in 1..30 {
        power = power * square;
        sum = sum + power / f64::from(2 * n + 1).into();
    }
    sum + sum
}

/// ln(1 + x) of a number and what rounding it has lost, for a sum that is a normal number.
fn reference_ln_of(sum: Double) -> Double {
    let k = sum.0.log2().round() as i32;
    let m = sum.scaled(-k);
    series_ln((m - 1.0.into()) / (m + 1.0.into())) + Double::LN_2 * f64::from(k).into()
}

fn reference_ln(x: f64) -> Double {
    if x < f64::MIN_POSITIVE {
        return reference_ln_of(scaled(x, 60).into()) - Double::LN_2 * 60.0.into();
    }
    reference_ln_of(x.into())
}

fn reference_ln_1p(x: f64) -> Double {
    if x.abs() < 0.25 {
        return series_ln(Double::from(x) / (Double::from(x) + 2.0.into()));
    }
    reference_ln_of(Double::of_sum(1.0, x))
}

/// Distance from a reference in units in the last place of the reference.
fn distance(value: f64, exact: Double) -> f64 {
    let magnitude = exact.0.abs();
    let unit = (magnitude.next_up() - magnitude).min(magnitude - magnitude.next_down());
    (((value - exact.0) - exact.1) / unit).abs()
}

/// Random numbers with magnitudes whose logarithm is uniform between powers of two.
fn magnitudes(powers: Range<i32>, count: usize, stream: u64) -> impl Iterator<Item = f64> {
    let mut random = Random::numbered(1, stream);
    (0..count).map(move |_| {
        let power = powers.start + (random.uniform() * f64::from(powers.end - powers.start)) as i32;
        scaled(1.0 + random.uniform(), power)
    })
}

/// The largest distance of a function from its reference over these arguments.
fn worst(
    arguments: impl Iterator<Item = f64>,
    function: fn(f64) -> f64,
    exact: impl Fn(f64) -> Double,
) -> (f64, f64) {
    let of = |x: f64| (distance(function(x), exact(x)), x);
    arguments.map(of).fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a })
}

/// The bound of every error, in units in the last place: half a unit is the last rounding, and the sum before it has at
/// most three more.
const BOUND: f64 = 2.0;

fn assert_within(name: &str, (error, x): (f64, f64)) {
    println!("{name}: {error:.3} units at {x:e}");
    assert!(error < BOUND, "{name} of {x:e}: {error} units");
}

/// Numbers of both signs.
fn signed(magnitudes: impl Iterator<Item = f64>) -> impl Iterator<Item = f64> {
    magnitudes.flat_map(|x| [x, -x])
}

#[test]
fn the_references_have_known_digits() {
    let near = |value: Double, exact: Double| ((value - exact).0 / exact.0).abs() < 1e-30;
    // e and ln 10, of which the second doubles are known.
    assert!(near(reference_exp(1.0).0 * 2.0.into(), Double(E, 1.445_646_891_729_250_2e-16)));
    let ln_10 = Double(core::f64::consts::LN_10, -2.170_756_223_382_249_4e-16);
    assert!(near(reference_ln(10.0), ln_10) && near(reference_ln_1p(9.0), ln_10));
    // Inverse functions of each other.
    for x in [-0.2, 0.01, 3e-9] {
        let y = reference_exp_m1(x);
        assert!(near(series_ln(y / (y + 2.0.into())), x.into()), "{x}");
    }
}

#[test]
fn the_exponential_function_is_within_its_bound_over_the_whole_range() {
    let mut random = crate::Random::numbered(1, 0);
    let uniform = (0..20_000).map(|_| random.uniform() * 1418.0 - 708.4);
    let exact = |x: f64| {
        let (value, k) = reference_exp(x);
        value.scaled(k)
    };
    assert_within("exp", worst(uniform, exp, exact));
    assert_within("exp", worst(signed(magnitudes(-60..9, 20_000, 1)), exp, exact));
    // Where the whole number of the reduction changes.
    let edges = (-2000..2000).map(|n| (f64::from(n) * 0.5 * LN_2).clamp(-708.0, 709.0));
    assert_within("exp", worst(edges, exp, exact));
}

#[test]
fn subnormal_exponentials_are_within_one_unit() {
    // In units of the least subnormal number: half a unit for the rounding, and two units of the value before it.
    for i in 0..3700 {
        let x = -708.4 - 0.01 * f64::from(i);
        let (value, k) = reference_exp(x);
        let exact = scaled(value.0, k + 1074);
        let units = exp(x).to_bits() as f64;
        assert!((units - exact).abs() <= 0.5 + 2.0 * exact * f64::EPSILON, "{x}: {units} {exact}");
    }
}

#[test]
fn exponentials_less_one_are_within_their_bound() {
    assert_within("exp_m1", worst(signed(magnitudes(-1000..9, 40_000, 2)), exp_m1, reference_exp_m1));
    assert_within("exp_m1", worst(signed(magnitudes(-8..6, 40_000, 3)), exp_m1, reference_exp_m1));
}

#[test]
fn logarithms_are_within_their_bound_also_of_subnormal_numbers() {
    assert_within("ln", worst(magnitudes(-1074..1024, 40_000, 4), ln, reference_ln));
    // About one, where the result is small.
    let near_one = signed(magnitudes(-52..-1, 20_000, 5)).map(|x| 1.0 + x);
    assert_within("ln", worst(near_one.filter(|x| *x != 1.0), ln, reference_ln));
    assert_within("ln", worst(magnitudes(-2..2, 20_000, 6), ln, reference_ln));
}

#[test]
fn logarithms_of_one_plus_a_number_are_within_their_bound() {
    assert_within("ln_1p", worst(magnitudes(-1000..1024, 40_000, 7), ln_1p, reference_ln_1p));
    let negative = magnitudes(-60..-1, 40_000, 8).map(|x| -x);
    assert_within("ln_1p", worst(negative, ln_1p, reference_ln_1p));
    // Close to -1, and about one.
    assert_within("ln_1p", worst(magnitudes(-52..-1, 20_000, 9).map(|x| x - 1.0), ln_1p, reference_ln_1p));
    assert_within("ln_1p", worst(signed(magnitudes(-4..0, 20_000, 10)), ln_1p, reference_ln_1p));
}

#[test]
fn special_arguments_have_the_results_of_ieee_754() {
    let (infinity, zero) = (f64::INFINITY, 0.0_f64);
    for function in [exp, exp_m1, ln, ln_1p] {
        assert!(function(f64::NAN).is_nan());
    }
    assert_eq!([exp(infinity), exp(-infinity), exp(zero), exp(-zero)], [infinity, 0.0, 1.0, 1.0]);
    assert_eq!([exp(709.8), exp(-745.2), exp(1e300), exp(-1e300)], [infinity, 0.0, infinity, 0.0]);
    assert_eq!([exp_m1(infinity), exp_m1(-infinity), exp_m1(-1e300)], [infinity, -1.0, -1.0]);
    assert_eq!([ln(infinity), ln(zero), ln(-zero), ln(1.0)], [infinity, -infinity, -infinity, 0.0]);
    assert_eq!([ln_1p(infinity), ln_1p(-1.0)], [infinity, -infinity]);
    for negative in [-5e-324, -1.0, -infinity] {
        assert!(ln(negative).is_nan() && ln_1p(negative - 1.1).is_nan());
    }
    // Subnormal numbers remain.
    for x in [zero, -zero, 5e-324, -5e-324, 1e-310] {
        assert_eq!((exp_m1(x).to_bits(), ln_1p(x)), (x.to_bits(), x));
    }
    assert_eq!((ln(f64::MAX), exp(1e-320)), (709.782712893384, 1.0));
}
