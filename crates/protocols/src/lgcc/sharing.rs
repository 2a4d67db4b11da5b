//! Division of a downstream loop's rate among the incoming loops that share it: the virtual queue of section VI-A.

use super::params::{Params, Weights};
use millpond_law::Sharing;

/// Smallest share of a carrying capacity that marks leave; the echoed rate is divided by it.
const LEAST_DEFLATION: f64 = 1e-6;

/// The share of one incoming loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LoopShare {
    /// Share of the downstream loop's rate.
    pub(super) share: f64,
    /// Marking probability of its packets.
    pub(super) marking: f64,
    /// Share of a carrying capacity that these marks leave, `(1 - marking)^eta`.
    pub(super) deflation: f64,
}

impl LoopShare {
    /// The share of the incoming loop with this position among those that share.
    pub(super) fn of(params: &Params, sharing: &Sharing) -> Self {
        let (share, deflation) = match params.weights {
            Weights::Capacity => (sharing.weight, sharing.largest),
            // Shares as rates: nothing is left for marks to signal.
            Weights::Rate => return Self { share: sharing.max_min, marking: 0.0, deflation: 1.0 },
            Weights::Price => {
                let share = share_by_price(sharing);
                (share, share)
            }
        };
        // Eq. (22) with the number of flows of the largest weight that would fill the downstream loop.
        let marking = params.bases.equilibrium_marking(1.0 / deflation.max(LEAST_DEFLATION));
        let marking = if deflation < LEAST_DEFLATION { 1.0 } else { marking };
        Self { share, marking, deflation: deflation.max(LEAST_DEFLATION) }
    }
}

/// Equilibrium of Eq. (11) with one marking probability for all: `1 - x/k = p/w`, where the sum of x is k. A loop with a
/// negative result gets zero. The others then exceed k; the relay's queues correct this excess.
fn share_by_price(sharing: &Sharing) -> f64 {
    let others = f64::from(sharing.members) - 1.0;
    (1.0 - others / (sharing.weight * sharing.inverses)).max(0.0)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::lgcc::params::PARAMETERS;
    use millpond_law::{Settings, Value};

    /// The sharing of loops with these weights, from the position of the first of them.
    pub(in crate::lgcc) fn sharing(weights: &[f64]) -> Sharing {
        let sum: f64 = weights.iter().sum();
        Sharing {
            members: weights.len() as u32,
            weight: weights[0] / sum,
            largest: weights.iter().copied().fold(0.0, f64::max) / sum,
            inverses: weights.iter().map(|weight| sum / weight).sum(),
            max_min: weights[0] / sum,
        }
    }

    /// The shares of loops with these weights.
    fn parts(weights: &[f64], reading: &'static str) -> Vec<LoopShare> {
        let settings = Settings::check(PARAMETERS, [("weights", Value::text(reading))]).unwrap();
        let params = Params::read(&settings);
        let first = |index: usize| {
            let mut turned = weights.to_vec();
            turned.rotate_left(index);
            LoopShare::of(&params, &sharing(&turned))
        };
        (0..weights.len()).map(first).collect()
    }

    #[test]
    fn capacities_by_weight_give_shares_by_weight_under_one_marking_probability() {
        for weights in [&[1.0, 1.0, 2.0][..], &[1.0, 2.0, 3.0], &[1.0, 1.0, 1.0, 5.0], &[7.0]] {
            let (parts, sum) = (parts(weights, "capacity"), weights.iter().sum::<f64>());
            for (share, weight) in parts.iter().zip(weights) {
                assert!((share.share - weight / sum).abs() < 1e-12);
                assert_eq!((share.marking, share.deflation), (parts[0].marking, parts[0].deflation));
            }
            let largest = weights.iter().copied().fold(0.0, f64::max);
            assert!((parts[0].deflation - largest / sum).abs() < 1e-12);
        }
    }

    #[test]
    fn eq_11_gives_proportional_shares_to_two_and_not_to_three() {
        let shares =
            |weights: &[f64]| parts(weights, "price").iter().map(|share| share.share).collect::<Vec<_>>();
        let cases: [(&[f64], &[f64]); 5] = [
            (&[3.0, 1.0], &[0.75, 0.25]),
            (&[1.0, 1.0, 1.0], &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]),
            (&[1.0, 1.0, 2.0], &[0.2, 0.2, 0.6]),
            // -1/11, 5/11 and 7/11: one gets zero, the others together more than the whole.
            (&[1.0, 2.0, 3.0], &[0.0, 5.0 / 11.0, 7.0 / 11.0]),
            (&[1.0, 1.0, 1.0, 5.0], &[0.0625, 0.0625, 0.0625, 0.8125]),
        ];
        // The paper has 0.25, 0.25, 0.5; then a sixth, a third and a half; then an eighth each and five eighths.
        for (weights, expected) in cases {
            let shares = shares(weights);
            assert!(
                shares.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12),
                "{weights:?}: {shares:?}"
            );
        }
    }

    #[test]
    fn shares_as_rates_need_no_marks() {
        for share in parts(&[1.0, 2.0, 5.0], "rate") {
            assert_eq!((share.marking, share.deflation), (0.0, 1.0));
        }
        let shares: Vec<f64> = parts(&[1.0, 2.0, 5.0], "rate").iter().map(|share| share.share).collect();
        assert_eq!(shares, [0.125, 0.25, 0.625]);
    }

    #[test]
    fn every_share_is_the_capacity_deflated_by_its_marks() {
        for (weights, reading) in
            [(&[1.0, 1.0][..], "capacity"), (&[1.0, 4.0], "capacity"), (&[1.0, 1.0, 2.0], "price")]
        {
            for share in parts(weights, reading) {
                let eta = 10_f64.ln() / 5_f64.ln();
                assert!(((1.0 - share.marking).powf(eta) - share.deflation).abs() < 1e-9, "{share:?}");
            }
        }
    }
}
