//! The numbers that laws compute with.

use super::elementary;
use num_dual::{Dual64, DualNum, DualStruct};

/// A real number, or a dual number: a value with its derivative.
///
/// `x * 2.0` and `x < 2.0` compile, `2.0 * x` does not. `T::from(2.0)` is a constant; `x.re()` is the value. Laws call the
/// functions [`exp`], [`exp_m1`], [`ln`] and [`ln_1p`] of this module, not the methods of the same names: these depend on the
/// mathematical library of the platform, and are slower for many flows.
pub trait Number: DualNum<f64> + DualStruct<Self, f64, Real = f64> + Copy + Send + Sync {
    /// The function with this value and this derivative at the present value of the argument.
    #[must_use]
    fn mapped(self, value: f64, derivative: f64) -> Self;
}

impl Number for f64 {
    #[inline]
    fn mapped(self, value: f64, _derivative: f64) -> Self {
        value
    }
}

impl Number for Dual64 {
    #[inline]
    fn mapped(self, value: f64, derivative: f64) -> Self {
        Self::new(value, self.eps * derivative)
    }
}

/// `e^x`, with an error below two units in the last place.
#[inline]
pub fn exp<T: Number>(x: T) -> T {
    let value = elementary::exp(x.re());
    x.mapped(value, value)
}

/// `e^x - 1`, with an error below two units in the last place.
#[inline]
pub fn exp_m1<T: Number>(x: T) -> T {
    let value = elementary::exp_m1(x.re());
    x.mapped(value, value + 1.0)
}

/// `ln x`, with an error below two units in the last place.
#[inline]
pub fn ln<T: Number>(x: T) -> T {
    let re = x.re();
    x.mapped(elementary::ln(re), 1.0 / re)
}

/// `ln(1 + x)`, with an error below two units in the last place.
#[inline]
pub fn ln_1p<T: Number>(x: T) -> T {
    let re = x.re();
    x.mapped(elementary::ln_1p(re), 1.0 / (1.0 + re))
}

/// The smaller of two numbers, with its derivative.
#[inline]
pub fn least<T: Number>(a: T, b: T) -> T {
    if b < a { b } else { a }
}

/// The larger of two numbers, with its derivative.
#[inline]
pub fn greatest<T: Number>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

/// `[x]^+`: the larger of `x` and zero.
#[inline]
pub fn positive<T: Number>(x: T) -> T {
    greatest(x, T::zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minimum_and_maximum_keep_the_derivative_of_the_selected_number() {
        let (x, c) = (Dual64::from(2.0).derivative(), Dual64::from(3.0));
        assert_eq!((least(x, c).eps, greatest(x, c).eps), (1.0, 0.0));
        assert_eq!((positive(x).eps, positive(-x).eps, positive(-1.0)), (1.0, 0.0, 0.0));
    }

    #[test]
    fn functions_have_their_derivatives() {
        let slope = |function: fn(Dual64) -> Dual64, x: f64| function(Dual64::from(x).derivative()).eps;
        assert_eq!((slope(ln, 4.0), slope(ln_1p, 3.0)), (0.25, 0.25));
        for x in [-3.0, 0.1, 2.0] {
            // The derivative of e^x - 1 is a sum with 1, which loses the last bit.
            assert!((slope(exp, x) - exp(x)).abs() == 0.0 && (slope(exp_m1, x) / exp(x) - 1.0).abs() < 1e-15);
        }
    }
}
