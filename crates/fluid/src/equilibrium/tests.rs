//! Every expected number is from a paper or follows from a formula beside it.

use super::*;
use millpond_law::fluid::Marginal;
use proptest::prelude::*;

/// Weighted alpha-fairness (Mo and Walrand): U' = weight / x^alpha. Alpha = 1 is weighted proportional fairness, U = K log x.
#[derive(Clone, Copy, Debug, PartialEq)]
struct AlphaFair {
    /// The K of K log x.
    weight: f64,
    /// 1: proportional; 2: minimum potential delay; large: near max-min. Positive.
    alpha: f64,
}

impl Marginal for AlphaFair {
    fn marginal(&self, rate: f64) -> f64 {
        self.weight * rate.powf(-self.alpha)
    }

    fn demand(&self, price: f64) -> f64 {
        (self.weight / price).powf(1.0 / self.alpha)
    }
}

/// Exponential back-off: demand = limit · exp(-price / scale), so U' = scale · ln(limit / x).
///
/// Paganini et al. (18) with scale = M tau / alpha. LGCC's logarithmic proportional fairness, Eq. (24), with scale = 1
/// / eta = ln(phi2) / ln(phi1), limit = k, and prices -ln(1 - p), which add if marks combine as 1 - Π(1 - p).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Exponential {
    /// The price that divides the demand by e.
    scale: f64,
    /// The demand at price zero.
    limit: f64,
}

impl Marginal for Exponential {
    fn marginal(&self, rate: f64) -> f64 {
        self.scale * (self.limit / rate).ln()
    }

    fn demand(&self, price: f64) -> f64 {
        self.limit * (-price / self.scale).exp()
    }
}

fn network(capacities: &[f64], paths: &[&[usize]]) -> AllocationProblem {
    let flows = paths.iter().map(|path| FlowClass { path: path.to_vec(), count: 1.0 }).collect();
    AllocationProblem { capacities: capacities.to_vec(), flows }
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance * expected.abs().max(1e-9),
        "found {found}, expected {expected}"
    );
}

fn all_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        close(*found, *expected, tolerance);
    }
}

mod max_min {
    use super::*;

    /// CLTCP, Fig. 9 and 10: links of 120, 60 and 120 Mb/s. Flow 1 crosses all, one more flow crosses each. Flows 1 and
    /// 3 get 30 Mb/s, flows 2 and 4 90 Mb/s, and r = (90, 30, 90).
    #[test]
    fn cltcp_parking_lot() {
        let net = network(&[120.0, 60.0, 120.0], &[&[0, 1, 2], &[0], &[1], &[2]]);
        let fair = water_filling(&net, &[FlowLimit::default(); 4]).unwrap();
        all_close(&fair.rates, &[30.0, 90.0, 30.0, 90.0], 1e-12);
        all_close(&fair.prices, &[90.0, 30.0, 90.0], 1e-12);
        assert_eq!(fair.bottlenecks, [0, 1, 2]);
        assert_eq!(fair.uniqueness, Uniqueness::Unique);
    }

    /// 10 Mb/s for weights 1 and 2 and a flow with a limit of 1 Mb/s: 3, 6 and 1 Mb/s.
    #[test]
    fn max_min_rates_respect_weights_and_limits() {
        let net = network(&[10.0], &[&[0], &[0], &[0]]);
        let share = |weight, max_rate| FlowLimit { weight, max_rate };
        let fair = water_filling(&net, &[share(1.0, 1e9), share(2.0, 1e9), share(1.0, 1.0)]).unwrap();
        all_close(&fair.rates, &[3.0, 6.0, 1.0], 1e-12);
    }

    /// ACP, Table I, at 99 % of 155 and 80 Mb/s: ten users on the first link alone, seventy on both. They get 7.425 and
    /// 1.131 Mb/s, which equal the fair shares p of the two links.
    #[test]
    fn acp_table_one() {
        let mut net = network(&[0.99 * 155.0, 0.99 * 80.0], &[&[0], &[0, 1], &[0, 1], &[0, 1]]);
        for (flow, count) in net.flows.iter_mut().zip([10.0, 50.0, 10.0, 10.0]) {
            flow.count = count;
        }
        let fair = water_filling(&net, &[FlowLimit::default(); 4]).unwrap();
        all_close(&fair.rates, &[7.425, 1.131_428_6, 1.131_428_6, 1.131_428_6], 1e-6);
        all_close(&fair.prices, &[7.425, 1.131_428_6], 1e-6);
    }

    #[test]
    fn a_flow_without_a_limit_is_an_error_with_its_index() {
        let net = network(&[10.0, f64::INFINITY], &[&[0], &[1]]);
        assert_eq!(
            water_filling(&net, &[FlowLimit::default(); 2]),
            Err(NoEquilibrium::Unlimited { flow: 1 })
        );
        let net = network(&[0.0], &[&[0]]);
        assert_eq!(water_filling(&net, &[FlowLimit::default()]), Err(NoEquilibrium::NoCapacity { link: 0 }));
    }

    /// All flows of one link also cross the other link, and both are full: Paganini et al., before Fig. 1.
    #[test]
    fn two_equal_links_in_a_row_are_not_of_full_rank() {
        let net = network(&[10.0, 10.0], &[&[0, 1], &[0, 1]]);
        let fair = water_filling(&net, &[FlowLimit::default(); 2]).unwrap();
        all_close(&fair.rates, &[5.0, 5.0], 1e-12);
        assert_eq!(fair.uniqueness, Uniqueness::Prices { rank: 1, bottlenecks: 2, links: vec![0, 1] });
    }
}

mod utilities {
    use super::*;

    fn proportional(weight: f64) -> AlphaFair {
        AlphaFair { weight, alpha: 1.0 }
    }

    fn parking_lot(links: usize) -> AllocationProblem {
        let mut paths = vec![(0..links).collect::<Vec<_>>()];
        paths.extend((0..links).map(|link| vec![link]));
        let flows = paths.into_iter().map(|path| FlowClass { path, count: 1.0 }).collect();
        AllocationProblem { capacities: vec![1000.0; links], flows }
    }

    /// Paganini et al., U = K log x, three links of c0 = 1000: 250/750, each price 4K/(3 c0), long price 0.08.
    #[test]
    fn three_link_parking_lot() {
        let found = maximize(&parking_lot(3), &[proportional(20.0); 4]).unwrap();
        all_close(&found.rates, &[250.0, 750.0, 750.0, 750.0], 1e-10);
        all_close(&found.prices, &[80.0 / 3000.0; 3], 1e-10);
        assert_eq!(found.bottlenecks, [0, 1, 2]);
        assert!(found.certificate.gap < 1e-12, "{:?}", found.certificate);
        let mut weights = [proportional(20.0); 4];
        weights[0] = proportional(40.0);
        let found = maximize(&parking_lot(3), &weights).unwrap();
        all_close(&found.rates, &[400.0, 600.0, 600.0, 600.0], 1e-10);
    }

    /// Dual law (18), one link, xmax = c0 = 1000, alpha = .9, RTT 40..200 ms.
    #[test]
    fn the_dual_law_with_mixed_round_trips_has_its_closed_form() {
        let net = AllocationProblem {
            capacities: vec![1000.0],
            flows: vec![FlowClass { path: vec![0], count: 1.0 }; 5],
        };
        let law = |rtt: f64| Exponential { scale: rtt / 0.9, limit: 1000.0 };
        let found = maximize(&net, &[0.04, 0.08, 0.12, 0.16, 0.2].map(law)).unwrap();
        close(found.prices[0], 0.210_900, 3e-6);
        all_close(&found.rates, &[8.693, 93.236, 205.616, 305.346, 387.109], 5e-5);
        // Identical sources: q = (M tau / alpha) ln(N xmax / c0).
        let net = AllocationProblem {
            capacities: vec![1000.0],
            flows: vec![FlowClass { path: vec![0], count: 8.0 }],
        };
        let found = maximize(&net, &[Exponential { scale: 0.1, limit: 500.0 }]).unwrap();
        close(found.prices[0], 0.1 * 4f64.ln(), 1e-12);
        close(found.rates[0], 125.0, 1e-12);
    }

    /// ECN form (33)-(35): x = K / q whatever the RTT; c0 = 237500, K = 50.
    #[test]
    fn stages_of_the_ecn_form() {
        let table = [(32.0, 7421.88, 6.7368), (64.0, 3710.94, 13.4737), (512.0, 463.87, 107.7895)];
        for (count, rate, price_ms) in table {
            let net = AllocationProblem {
                capacities: vec![237_500.0],
                flows: vec![FlowClass { path: vec![0], count }],
            };
            let found = maximize(&net, &[proportional(50.0)]).unwrap();
            close(found.rates[0], rate, 1e-5);
            close(found.prices[0] * 1e3, price_ms, 1e-5);
        }
    }

    /// LGCC (8), (22): S equal flows, p* = 1 - S^(-ln phi2 / ln phi1).
    #[test]
    fn lgcc_marking_probabilities() {
        let table = [
            (5.0, 5.0, 0.6753),
            (2.0, 5.0, 0.3840),
            (10.0, 3.0, 0.6667),
            (50.0, 2.0, 0.6920),
            (3.0, 10.0, 0.6667),
        ];
        for (count, phi2, expected) in table {
            let eta = 10f64.ln() / f64::ln(phi2);
            let net =
                AllocationProblem { capacities: vec![1.0], flows: vec![FlowClass { path: vec![0], count }] };
            let found = maximize(&net, &[Exponential { scale: 1.0 / eta, limit: 1.0 }]).unwrap();
            close(marking_probability(found.prices[0]), expected, 2e-4);
        }
    }

    /// Logarithmic proportional fairness over n links in a row: x1 = (1 - x1)^n, whatever phi1 and phi2.
    #[test]
    fn lgcc_product_law() {
        let table = [(1, 0.50000), (2, 0.38197), (3, 0.31767), (4, 0.27551), (5, 0.24512), (10, 0.16492)];
        for (links, expected) in table {
            for eta in [1.0, 10f64.ln() / 5f64.ln()] {
                let mut net = parking_lot(links);
                net.capacities.fill(1.0);
                let laws = vec![Exponential { scale: 1.0 / eta, limit: 1.0 }; links + 1];
                let found = maximize(&net, &laws).unwrap();
                close(found.rates[0], expected, 2e-5);
                let alone = 1.0 - found.rates[1].powf(1.0 / eta);
                close(marking_probability(found.prices[0]), alone, 1e-9);
            }
        }
    }

    /// Mo and Walrand: n links in a row give the long flow x0 with x0^alpha = (1 - x0)^alpha / n.
    #[test]
    fn alpha_fairness_on_a_line() {
        for alpha in [0.1, 0.5, 2.0, 8.0] {
            let found = maximize(&parking_lot(3), &[AlphaFair { weight: 1.0, alpha }; 4]).unwrap();
            let ratio = 3f64.powf(1.0 / alpha);
            close(found.rates[0], 1000.0 / (1.0 + ratio), 1e-9);
        }
    }

    /// LGCC, Theorem 8.3: k_r = w_r k with w = count / largest count gives shares in proportion to w, and p* = 1 - (sum
    /// w)^(-1/eta).
    #[test]
    fn lgcc_weights_scale_the_carrying_capacity() {
        let net = AllocationProblem {
            capacities: vec![1.0],
            flows: vec![FlowClass { path: vec![0], count: 1.0 }; 3],
        };
        let laws = [1.0 / 3.0, 2.0 / 3.0, 1.0].map(|limit| Exponential { scale: 1.0, limit });
        let found = maximize(&net, &laws).unwrap();
        all_close(&found.rates, &[1.0 / 6.0, 2.0 / 6.0, 3.0 / 6.0], 1e-10);
        close(marking_probability(found.prices[0]), 0.5, 1e-10);
    }

    #[test]
    fn a_flow_at_its_own_limit_has_a_price_of_zero() {
        let net = network(&[10.0], &[&[0], &[0]]);
        let law = |limit| Exponential { scale: 1.0, limit };
        let found = maximize(&net, &[law(2.0), law(3.0)]).unwrap();
        all_close(&found.rates, &[2.0, 3.0], 1e-9);
        assert!(found.bottlenecks.is_empty());
    }

    #[test]
    fn a_utility_that_is_not_concave_is_rejected() {
        struct Convex;
        impl Marginal for Convex {
            fn marginal(&self, rate: f64) -> f64 {
                rate
            }

            fn demand(&self, _: f64) -> f64 {
                f64::INFINITY
            }
        }
        struct Linear;
        impl Marginal for Linear {
            fn marginal(&self, _: f64) -> f64 {
                1.0
            }

            fn demand(&self, _: f64) -> f64 {
                f64::INFINITY
            }
        }
        let net = network(&[10.0], &[&[0]]);
        assert!(matches!(maximize(&net, &[Convex]), Err(NoEquilibrium::NotConcave { flow: 0, .. })));
        assert!(matches!(maximize(&net, &[Linear]), Err(NoEquilibrium::NotUnique { flow: 0, .. })));
        let endless = network(&[f64::INFINITY], &[&[0]]);
        assert_eq!(maximize(&endless, &[proportional(1.0)]), Err(NoEquilibrium::Unlimited { flow: 0 }));
    }

    #[test]
    fn two_equal_links_in_a_row_do_not_determine_prices() {
        let net = network(&[10.0, 10.0, 8.0], &[&[0, 1], &[0, 1, 2]]);
        let found = maximize(&net, &[proportional(1.0), proportional(1.0)]).unwrap();
        all_close(&found.rates, &[5.0, 5.0], 1e-6);
        assert!(
            matches!(found.uniqueness, Uniqueness::Prices { rank: 1, bottlenecks: 2, .. }),
            "{:?}",
            found.uniqueness
        );
    }
}

/// Networks of up to eight links and twenty classes, capacities over three decades.
fn networks() -> impl Strategy<Value = AllocationProblem> {
    (1usize..8).prop_flat_map(|links| {
        let capacities =
            prop::collection::vec((0.0..2.0f64).prop_map(|exponent| 10f64.powf(exponent)), links);
        let path =
            prop::collection::btree_set(0..links, 1..=links).prop_map(|path| path.into_iter().collect());
        let flow = (path, 1u8..20).prop_map(|(path, count)| FlowClass { path, count: f64::from(count) });
        (capacities, prop::collection::vec(flow, 1..20))
            .prop_map(|(capacities, flows)| AllocationProblem { capacities, flows })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_shrink_iters: 100, ..ProptestConfig::default() })]

    /// Karush-Kuhn-Tucker: feasible, prices only where full, U'(x) = q.
    #[test]
    fn optimality_conditions_hold(net in networks(), alpha in 0.3..2.0f64, weights in prop::collection::vec(0.1..10.0f64, 20)) {
        let utilities: Vec<AlphaFair> = net.flows.iter().zip(weights).map(|(_, weight)| AlphaFair { weight, alpha }).collect();
        let found = maximize(&net, &utilities).unwrap();
        prop_assert!(found.certificate.gap < 1e-7, "{:?}", found.certificate);
        prop_assert!(found.certificate.imbalance < 1e-7);
        for (index, flow) in net.flows.iter().enumerate() {
            let price = net.path_price(flow, &found.prices);
            let marginal = utilities[index].marginal(found.rates[index]);
            prop_assert!((price / marginal - 1.0).abs() < 1e-5, "U' = {marginal}, q = {price}");
        }
        for (link, price) in found.prices.iter().enumerate() {
            prop_assert!(*price >= 0.0);
            let users = net.flows.iter().filter(|flow| flow.path.contains(&link));
            let least = users.map(|flow| net.path_price(flow, &found.prices)).fold(f64::INFINITY, f64::min);
            let slack = 1.0 - found.loads[link] / net.capacities[link];
            prop_assert!(*price == 0.0 || price / least * slack < 1e-7, "link {link} charges {price} and is not full: {slack}");
        }
    }

    /// Bertsekas and Gallager: under max-min fairness every flow has a full link on which no flow has more per weight.
    #[test]
    fn every_flow_has_a_bottleneck(net in networks(), weights in prop::collection::vec(0.1..10.0f64, 20)) {
        let limits: Vec<FlowLimit> = net.flows.iter().zip(weights).map(|(_, weight)| FlowLimit { weight, ..FlowLimit::default() }).collect();
        let found = water_filling(&net, &limits).unwrap();
        let level: Vec<f64> = found.rates.iter().zip(&limits).map(|(rate, limit)| rate / limit.weight).collect();
        prop_assert!(found.certificate.imbalance < 1e-9);
        for (index, flow) in net.flows.iter().enumerate() {
            let bottleneck = flow.path.iter().any(|link| {
                let full = found.loads[*link] > net.capacities[*link] * (1.0 - 1e-9);
                let others = net.flows.iter().enumerate().filter(|(_, other)| other.path.contains(link));
                full && others.map(|(other, _)| level[other]).all(|other| other <= level[index] * (1.0 + 1e-9))
            });
            prop_assert!(bottleneck, "flow {index} has none");
        }
    }
}

/// A parking lot of three unit links, wide ones at both ends: a long flow gets w0 / (w0 + w1 3^(1/alpha)).
#[test]
fn alpha_fair_rates_of_a_parking_lot_agree_with_the_closed_form() {
    let flow = |path: Vec<usize>| FlowClass { path, count: 1.0 };
    let mut flows = vec![flow(vec![3, 0, 1, 2, 4])];
    flows.extend((0..3).map(|link| flow(vec![5 + 2 * link, link, 6 + 2 * link])));
    let mut capacities = vec![1.0; 3];
    capacities.resize(11, 10.0);
    let network = AllocationProblem { capacities, flows };
    for alpha in [0.1, 0.5, 1.0, 2.0, 8.0, 32.0] {
        for (w0, w1) in [(1.0, 1.0), (2.0, 0.5), (0.1, 10.0)] {
            let own = |flow| AlphaFair { alpha, weight: f64::powf(if flow == 0 { w0 } else { w1 }, alpha) };
            let found = maximize(&network, &(0..4).map(own).collect::<Vec<_>>()).unwrap();
            close(found.rates[0], w0 / (w0 + w1 * 3f64.powf(1.0 / alpha)), 1e-8);
        }
    }
}

/// Two flows with `U = K log x` over a link of capacity 10 with price p. Each sends x: `D(p) - U(x)` is
/// `2 K (ln(K / p) - ln x) - 2 K + 10 p`, and the flows pay 2 K. A tenth of the link is unused, or too much is sent.
#[test]
fn a_certificate_is_the_duality_gap_and_the_balance_of_the_links() {
    const K: f64 = 4.5;
    let flows = vec![FlowClass { path: vec![0], count: 2.0 }];
    let problem = AllocationProblem { capacities: vec![10.0], flows };
    let utility = [AlphaFair { weight: K, alpha: 1.0 }];
    for (rate, price, imbalance) in [(4.5, 1.0, 0.1), (4.5, 0.95, 0.1), (5.0, 0.9, 0.0), (5.0, 1.0, 0.0)] {
        let found = certify(&problem, &utility, &[rate], &[price]);
        let gap = 2.0 * K * ((K / price).ln() - f64::ln(rate)) - 2.0 * K + 10.0 * price;
        assert!((found.gap - gap / (2.0 * K)).abs() < 1e-9, "{found:?} {gap}");
        assert!((found.imbalance - imbalance).abs() < 1e-12 && found.worst() >= imbalance, "{found:?}");
    }
    // A link that is 10 % too full.
    let found = certify(&problem, &utility, &[5.5], &[K / 5.5]);
    assert!((found.imbalance - 0.1).abs() < 1e-12, "{found:?}");
}

/// A flow of weight 3 over two links that become full together: the price of each is the share per weight.
#[test]
fn links_that_become_full_together_have_the_price_of_the_share_per_weight() {
    let problem = network(&[8.0, 8.0], &[&[0, 1], &[0, 1]]);
    let limits = [1.0, 3.0].map(|weight| FlowLimit { weight, ..FlowLimit::default() });
    let found = water_filling(&problem, &limits).unwrap();
    all_close(&found.rates, &[2.0, 6.0], 1e-12);
    all_close(&found.prices, &[2.0, 2.0], 1e-12);
}
