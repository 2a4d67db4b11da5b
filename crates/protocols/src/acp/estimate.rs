//! ACP's estimate of how many flows follow its rate, Eqs. (8) and (9).

use millpond_law::fluid::Number;

/// The error that (8) mends: `(y - N-hat p) p / (1 + p^2)`, which is `y / p - N-hat` unless p is next to nothing in
/// its unit.
pub fn users_error<T: Number>(users: T, rate: T, input: T) -> T {
    (input - users * rate) * rate / (rate * rate + 1.0)
}

/// Eqs. (8) and (9): the estimate N-hat(k+1) from p(k) and y(k), which are of one unit. In bytes/s p^2 is so large that
/// the error shrinks by `1 - gamma`, whatever p is.
pub fn next_users(users: f64, rate: f64, input: f64, gamma: f64) -> f64 {
    (users + users_error(users, rate, input) * gamma).max(1.0)
}
