//! The numbers that laws compute with.

use num_dual::{DualNum, DualStruct};

/// A real number, or a dual number: a value with its derivative.
///
/// `x * 2.0` and `x < 2.0` compile, `2.0 * x` does not. `T::from(2.0)` is a constant; `x.re()` is the value.
pub trait Number: DualNum<f64> + DualStruct<Self, f64, Real = f64> + Copy + Send + Sync {}

impl<T: DualNum<f64> + Copy + Send + Sync> Number for T {}

/// The smaller of two numbers, with its derivative.
pub fn least<T: Number>(a: T, b: T) -> T {
    if b < a { b } else { a }
}

/// The larger of two numbers, with its derivative.
pub fn greatest<T: Number>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

/// `[x]^+`: the larger of `x` and zero.
pub fn positive<T: Number>(x: T) -> T {
    greatest(x, T::zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_dual::Dual64;

    #[test]
    fn minimum_and_maximum_keep_the_derivative_of_the_selected_number() {
        let (x, c) = (Dual64::from(2.0).derivative(), Dual64::from(3.0));
        assert_eq!((least(x, c).eps, greatest(x, c).eps), (1.0, 0.0));
        assert_eq!((positive(x).eps, positive(-x).eps, positive(-1.0)), (1.0, 0.0, 0.0));
    }
}
