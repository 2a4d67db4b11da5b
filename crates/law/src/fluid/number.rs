//! What laws compute with.

use num_dual::{DualNum, DualStruct};

/// A real number, or a dual number that carries its derivative along.
///
/// `x * 2.0` and `x < 2.0` work, `2.0 * x` does not; `T::from(2.0)` is a constant, `x.re()` the value itself.
pub trait Number: DualNum<f64> + DualStruct<Self, f64, Real = f64> + Copy + Send + Sync {}

impl<T: DualNum<f64> + Copy + Send + Sync> Number for T {}

/// The lesser, with its derivative.
pub fn least<T: Number>(a: T, b: T) -> T {
    if b < a { b } else { a }
}

/// The greater, with its derivative.
pub fn greatest<T: Number>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

/// `[x]^+`: `x` or zero.
pub fn positive<T: Number>(x: T) -> T {
    greatest(x, T::zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_dual::Dual64;

    #[test]
    fn the_lesser_and_the_greater_keep_their_derivatives() {
        let (x, c) = (Dual64::from(2.0).derivative(), Dual64::from(3.0));
        assert_eq!((least(x, c).eps, greatest(x, c).eps), (1.0, 0.0));
        assert_eq!((positive(x).eps, positive(-x).eps, positive(-1.0)), (1.0, 0.0, 0.0));
    }
}
