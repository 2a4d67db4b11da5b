//! Exponential function and natural logarithm, with errors below two units in the last place.
//!
//! They consist of sums, products, quotients and bits of doubles, in an order that is fixed here. Their results are therefore
//! the same bits on every platform, whatever mathematical library it has. There are no branches, tables or calls, so that the
//! compiler evaluates several flows of a loop with one instruction.
//!
//! Reductions and polynomials are those of Sun's fdlibm (`e_exp.c`, `e_log.c`, FreeBSD's `msun`). Every function is evaluated
//! for its main range, and other arguments select another result.

#[cfg(test)]
mod tests;

/// ln 2 as a sum of two doubles. The first one has 32 bits, so that its products with exponents are exact.
const LN_2: [f64; 2] = [0.6931471803691238, 1.9082149292705877e-10];

/// 1.5 * 2^52: a sum with it is rounded to a whole number, which is in its last bits.
const TO_WHOLE: f64 = 6_755_399_441_055_744.0;

/// 2^52: the last bits of a sum with it are a whole number from 0 to 2^52.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// Number of bits of the fraction of a double, and the exponent bits of 1.
const FRACTION_BITS: u32 = 52;
const EXPONENT_OF_ONE: u64 = 1023;

/// Below this magnitude `e^x - 1` is `x` within half a unit in the last place.
const TINY: f64 = 1e-17;

/// `x = k ln 2 + r` with the whole number nearest to `x / ln 2`.
struct Reduced {
    /// k as a sum with [`TO_WHOLE`].
    k: f64,
    /// `x - k ln 2` with the first part of ln 2, and `e^r - 1` less this difference.
    high: f64,
    rest: f64,
}

impl Reduced {
    #[inline(always)]
    fn new(x: f64) -> Self {
        const P: [f64; 5] = [
            0.16666666666666602,
            -0.0027777777777015593,
            6.613756321437934e-5,
            -1.6533902205465252e-6,
            4.1381367970572385e-8,
        ];
        let shifted = x * core::f64::consts::LOG2_E + TO_WHOLE;
        let k = shifted - TO_WHOLE;
        let (high, low) = (x - k * LN_2[0], k * LN_2[1]);
        let r = high - low;
        let t = r * r;
        let c = r - t * (P[0] + t * (P[1] + t * (P[2] + t * (P[3] + t * P[4]))));
        Self { k: shifted, high, rest: r * c / (2.0 - c) - low }
    }

    /// k plus a number that makes the sum positive.
    #[inline(always)]
    fn k_plus(&self, more: u64) -> u64 {
        self.k.to_bits().wrapping_sub(TO_WHOLE.to_bits()).wrapping_add(more)
    }
}

/// 2 to the power of an exponent, of which this is the sum with 1023: from 1 to 2046.
#[inline(always)]
fn power_of_two(biased: u64) -> f64 {
    f64::from_bits(biased << FRACTION_BITS)
}

/// The number between these bounds; NaN if it is NaN.
#[inline(always)]
fn bounded(x: f64, lower: f64, upper: f64) -> f64 {
    let x = if x > upper { upper } else { x };
    if x < lower { lower } else { x }
}

/// `e^x`.
#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    // Beyond these bounds the result is infinite or zero.
    let reduced = Reduced::new(bounded(x, -746.0, 710.0));
    let y = 1.0 + (reduced.rest + reduced.high);
    // In two factors, because 2^k alone may be infinite or zero.
    let k = reduced.k_plus(2 * EXPONENT_OF_ONE);
    let half = k >> 1;
    y * power_of_two(half) * power_of_two(k.wrapping_sub(half))
}

/// `e^x - 1`.
#[inline(always)]
pub(super) fn exp_m1(x: f64) -> f64 {
    // Above the upper bound the result is infinite, below the lower one it is -1.
    let reduced = Reduced::new(bounded(x, -40.0, 710.0));
    let fraction = reduced.rest + reduced.high;
    // Half of it, because 2^k may be infinite.
    let half = power_of_two(reduced.k_plus(EXPONENT_OF_ONE - 1));
    let y = (half * fraction + (half - 0.5)) * 2.0;
    if x.abs() < TINY { x } else { y }
}

/// `ln(u 2^-scale) + c` of a normal number `u`.
#[inline(always)]
fn ln_normal(u: f64, scale: f64, c: f64) -> f64 {
    const L: [f64; 7] = [
        0.6666666666666735,
        0.3999999999940942,
        0.2857142874366239,
        0.22222198432149784,
        0.1818357216161805,
        0.15313837699209373,
        0.14798198605106586,
    ];
    const SQRT_HALF: u64 = core::f64::consts::FRAC_1_SQRT_2.to_bits();
    const FRACTION: u64 = (1 << FRACTION_BITS) - 1;
    // u = 2^k m with m from sqrt(1/2) to sqrt(2).
    let bits = u.to_bits().wrapping_add((EXPONENT_OF_ONE << FRACTION_BITS) - SQRT_HALF);
    let exponent = f64::from_bits((bits >> FRACTION_BITS) | WHOLE.to_bits());
    let k = exponent - (WHOLE + EXPONENT_OF_ONE as f64) - scale;
    let f = f64::from_bits((bits & FRACTION) + SQRT_HALF) - 1.0;
    let half_square = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (L[1] + w * (L[3] + w * L[5]));
    let odd = z * (L[0] + w * (L[2] + w * (L[4] + w * L[6])));
    s * (half_square + (even + odd)) + (k * LN_2[1] + c) - half_square + f + k * LN_2[0]
}

/// `ln x`; minus infinity at zero, NaN below.
#[inline(always)]
pub(super) fn ln(x: f64) -> f64 {
    // A subnormal number becomes a normal one.
    const SCALE: f64 = (1_u64 << 54) as f64;
    let is_subnormal = x < f64::MIN_POSITIVE;
    let (u, scale) = if is_subnormal { (x * SCALE, 54.0) } else { (x, 0.0) };
    let y = ln_normal(u, scale, 0.0);
    let at_zero = if x == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    let other = if x > 0.0 { x } else { at_zero };
    if x > 0.0 && x < f64::INFINITY { y } else { other }
}

/// `ln(1 + x)`; minus infinity at -1, NaN below, zero without a sign at zero of either sign.
#[inline(always)]
pub(super) fn ln_1p(x: f64) -> f64 {
    let u = 1.0 + x;
    // What the sum has lost.
    let added = u - 1.0;
    let lost = (1.0 - (u - added)) + (x - added);
    let y = ln_normal(u, 0.0, lost / u);
    let y = if x < f64::INFINITY { y } else { x };
    let at_minus_one = if x == -1.0 { f64::NEG_INFINITY } else { f64::NAN };
    if x > -1.0 { y } else { at_minus_one }
}
