//! Protocols of the house under the limits.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use millpond_frontier::{Frontier, FrontierPlan, FrontierRequest, LimitKind, TracedLink};
use millpond_protocols::Registry;
use millpond_results::Unwatched;
use millpond_scenario::trace::{TraceRecipe, preset};
use millpond_units::Span;

const PROTOCOLS: [&str; 8] = ["pledge", "abc", "xcp", "rcp", "acp", "copa", "swift", "lgcc"];

/// The request for a generated trace, as bound or, as if it were recorded, as guide.
fn request(name: &str, kind: LimitKind, rtt: u64, protocols: &[&str]) -> FrontierRequest {
    let process = TraceRecipe::new(preset(name).unwrap(), Span::from_secs(20.0), 7).process().unwrap();
    let file = process.trace.to_csv().into_bytes();
    FrontierRequest {
        name: name.to_owned(),
        link: match kind {
            LimitKind::Bound => TracedLink::Generated(Box::new(process)),
            LimitKind::Guide => TracedLink::Recorded(process.trace),
        },
        file,
        rtt: Span::from_millis(rtt),
        duration: Span::from_secs(20.0),
        buffer: "1s".to_owned(),
        protocols: protocols.iter().map(|name| (*name).to_owned()).collect(),
        targets: [20, 100].map(Span::from_millis).to_vec(),
    }
}

fn frontier(name: &str, kind: LimitKind, rtt: u64, protocols: &[&str]) -> Frontier {
    let registry = Registry::builtin();
    FrontierPlan::new(request(name, kind, rtt, protocols), &registry)
        .unwrap()
        .run(&registry, &Unwatched)
        .unwrap()
}

/// The bound holds in the mean over traces; half a point is for chance on one trace.
#[test]
fn no_protocol_without_losses_is_above_the_bound_of_a_generated_trace() {
    for (preset, rtt) in [("lte-fading", 100), ("wifi-restaurant-poor", 200), ("lte-walking", 50)] {
        let found = frontier(preset, LimitKind::Bound, rtt, &PROTOCOLS);
        let judged = found.protocols.iter().filter(|point| point.loss == 0.0 && point.limit.is_some());
        let judged: Vec<_> = judged.collect();
        assert!(judged.len() >= 5, "{preset}: {:?}", found.protocols);
        for point in judged {
            assert!(point.utilization <= point.limit.unwrap() + 0.005, "{preset}: {point:?}");
        }
    }
}

/// The reference sends what one constant permits; it knows no more than the controllers of the bound.
#[test]
fn the_reference_of_one_factor_is_below_the_bound() {
    for preset in ["lte-fading", "wifi-restaurant-poor"] {
        let found = frontier(preset, LimitKind::Bound, 200, &["xcp"]);
        for limit in &found.limit {
            if let Some(reference) = found.one_factor_at(limit.delay_ms - 1.0) {
                assert!(reference <= limit.utilization + 0.005, "{preset}: {limit:?}, {reference}");
            }
        }
        assert!(found.one_factor_at(200.0).unwrap() > 0.8, "{:?}", found.one_factor);
    }
}

#[test]
fn the_limit_rises_with_the_delay_and_equal_requests_have_equal_results() {
    for kind in [LimitKind::Bound, LimitKind::Guide] {
        let found = frontier("lte-fading", kind, 100, &["pledge"]);
        assert_eq!(found, frontier("lte-fading", kind, 100, &["pledge"]));
        assert!(found.limit.windows(2).all(|pair| pair[0].utilization <= pair[1].utilization));
        let least = found.limit.first().unwrap().utilization;
        assert!((0.3..0.99).contains(&least), "{least}");
        let labels: Vec<&str> = found.protocols.iter().map(|point| point.label.as_str()).collect();
        assert_eq!(labels, ["pledge@20ms", "pledge@100ms"]);
    }
}

/// The first two seconds are left out, but at most a tenth of the run.
#[test]
fn the_limit_of_a_protocol_is_that_at_its_delay_and_the_service_time_of_a_packet() {
    let found = frontier("lte-fading", LimitKind::Bound, 100, &["xcp", "copa"]);
    assert_eq!((found.measured_from_s, found.measured_to_s), (2.0, 20.0));
    for point in &found.protocols {
        let delay = point.queueing_p95_ms + 1000.0 * 1500.0 * 8.0 / found.capacity_bps;
        let at_delay = found.limit.iter().find(|limit| (limit.delay_ms - delay).abs() < 1e-9);
        assert_eq!(at_delay.map(|limit| limit.utilization), point.limit, "{point:?}");
    }
    let mut request = request("lte-fading", LimitKind::Bound, 100, &["xcp"]);
    request.duration = Span::from_secs(5.0);
    let registry = Registry::builtin();
    let short = FrontierPlan::new(request, &registry).unwrap().run(&registry, &Unwatched).unwrap();
    assert_eq!((short.measured_from_s, short.measured_to_s), (0.5, 5.0));
}

/// Swift is designed for round-trip times of microseconds: here its window falls to its minimum.
#[test]
fn a_protocol_outside_of_its_range_has_a_warning_and_others_have_none() {
    let found = frontier("lte-fading", LimitKind::Bound, 100, &["swift", "xcp"]);
    let warnings = found.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("swift: the base round-trip time is 100.000 ms"), "{warnings:?}");
    assert_eq!(found.protocols[0].warnings, warnings);
    assert!(found.protocols[0].utilization < 0.05 && found.protocols[1].utilization > 0.5, "{found:?}");
}
