//! Shares under a chosen utility function, against closed forms.

use crate::common::scenario;
use millpond_plan::fluid;
use millpond_protocols::Registry;
use millpond_theory::AnalysisError;
use millpond_theory::equilibrium::{AlphaFair, GroupWeight, allocate_by_utility};

/// Three links of 100 Mbit/s: a long flow over all, a short one over each. The shares depend on the network alone, not on
/// relays or discrete decisions.
fn parking_lot(protocol: &str) -> String {
    format!(
        r#"title = "t"
duration = "10s"
[parking-lot]
hops = 3
link = {{ rate = "100Mbps", delay = "10ms", buffer = "1bdp" }}
access = {{ rate = "1Gbps", delay = "1ms" }}
[[flows]]
name = "long"
protocol = "{protocol}"
path = "long"
[[flows]]
name = "cross"
protocol = "{protocol}"
path = "cross"
[protocols.lgcc]
relays = ["R2", "R3"]
"#
    )
}

fn rates(protocol: &str, utility: &str, weights: &[&str]) -> Result<(f64, f64), AnalysisError> {
    let scenario = scenario(&parking_lot(protocol), &[]);
    let plan = fluid::plan(&scenario, &Registry::builtin()).unwrap();
    let weights: Vec<GroupWeight> = weights.iter().map(|text| text.parse().unwrap()).collect();
    let shared = allocate_by_utility(&plan, utility.parse().unwrap(), &weights)?;
    assert!(shared.allocation.certificate.worst() < 1e-8);
    let rate = |group: &str| {
        let of = shared.classes.iter().zip(&shared.allocation.rates);
        let rates: Vec<f64> = of.filter(|(class, _)| class.group == group).map(|(_, rate)| *rate).collect();
        assert!(rates.iter().all(|rate| (rate / rates[0] - 1.0).abs() < 1e-6), "{group}: {rates:?}");
        rates[0]
    };
    Ok((rate("long"), rate("cross")))
}

/// At the optimum the long flow's U' is the sum of three equal prices: (w0 / x0)^a = 3 (w1 / (c - x0))^a, so that
/// x0 = c w0 / (w0 + w1 3^(1/a)).
#[test]
fn the_shares_of_a_parking_lot_are_those_of_the_closed_form() {
    for protocol in ["cltcp", "lgcc", "vcp"] {
        for (alpha, root) in
            [("0.5", 9.0), ("1", 3.0), ("2", 3f64.sqrt()), ("8", 3f64.powf(0.125)), ("inf", 1.0)]
        {
            for (weights, w0, w1) in [(&[][..], 1.0, 1.0), (&["long=2", "cross=0.5"], 2.0, 0.5)] {
                let (long, cross) = rates(protocol, &format!("alpha={alpha}"), weights).unwrap();
                let expected = 100e6 * w0 / (w0 + w1 * root);
                assert!((long / expected - 1.0).abs() < 1e-7, "{protocol} {alpha}: {long}, not {expected}");
                assert!((cross / (100e6 - expected) - 1.0).abs() < 1e-7, "{protocol} {alpha}: {cross}");
            }
        }
    }
}

#[test]
fn a_utility_that_is_not_concave_and_an_unknown_flow_are_refused() {
    let refused = |text: &str| text.parse::<AlphaFair>().unwrap_err();
    assert!(refused("alpha=-1").contains("not concave"), "{}", refused("alpha=-1"));
    assert!(refused("alpha=-inf").contains("not concave"));
    assert!(refused("alpha=0").contains("not strictly concave"));
    assert!(refused("alpha=nan").contains("expected a number"));
    assert!(refused("alpha=300").contains("alpha=inf"));
    assert!(refused("beta=1").contains("expected alpha=NUMBER"));
    assert!(["long", "long=0", "=1"].iter().all(|text| text.parse::<GroupWeight>().is_err()));
    let stranger = rates("cltcp", "alpha=1", &["lnog=2"]).unwrap_err().to_string();
    assert!(stranger.contains("no group of flows is called lnog; there are cross, long"), "{stranger}");
}
