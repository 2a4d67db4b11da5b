//! ACP's estimate of the number of flows that follow its rate, Eqs. (8) and (9).

use millpond_law::fluid::Number;

/// The error that (8) corrects: `(y - N-hat p) p / (1 + p^2)`. It is about `y / p - N-hat` if p is large in its unit.
pub fn users_error<T: Number>(users: T, rate: T, input: T) -> T {
    (input - users * rate) * rate / (rate * rate + 1.0)
}

/// Eqs. (8) and (9): the estimate N-hat(k+1) from p(k) and y(k) in the same unit. In bytes/s p^2 is so large that the
/// error is multiplied by `1 - gamma` for any p.
pub fn next_users(users: f64, rate: f64, input: f64, gamma: f64) -> f64 {
    (users + users_error(users, rate, input) * gamma).max(1.0)
}
