//! Shares of every protocol beside CUBIC, and among flows of the same protocol of which one joins late. The tables on the
//! protocols' pages must agree with the runs, and the runs with theory where there is one.

use crate::common::{flow, link, series};
use millpond_lab::{CoexistenceRow, CompetingFlows, coexistence};
use millpond_protocols::Registry;
use millpond_results::{Run, Unwatched};
use rayon::prelude::*;
use std::path::Path;
use std::sync::LazyLock;

struct ProtocolShares {
    protocol: &'static str,
    rows: Vec<CoexistenceRow>,
}

static ALL: LazyLock<Vec<ProtocolShares>> = LazyLock::new(|| {
    let registry = Registry::builtin();
    let cards: Vec<_> = registry.protocols().map(|protocol| protocol.card()).collect();
    let of_protocol = |card: &&'static millpond_law::Card| ProtocolShares {
        protocol: card.name,
        rows: rows(card.name, &CompetingFlows::ROWS),
    };
    cards.par_iter().map(of_protocol).collect()
});

fn rows(protocol: &str, competitions: &[CompetingFlows]) -> Vec<CoexistenceRow> {
    let registry = Registry::builtin();
    let card = registry.protocol(protocol).unwrap().card();
    coexistence(card.name, card, competitions, &registry, &Unwatched)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Flows of which the last joins after 30 s, measured over the last 30 s.
fn late(protocol: &str, flows: usize, duration_s: u32) -> Run {
    rows(protocol, &[CompetingFlows::Late { flows, duration_s }]).remove(0).run
}

const fn beside(flows: usize, buffer_bdp: usize) -> CompetingFlows {
    CompetingFlows::Cubic { flows, buffer_bdp }
}

const fn joined(flows: usize) -> CompetingFlows {
    CompetingFlows::Late { flows, duration_s: 90 }
}

impl ProtocolShares {
    fn head(&self) -> String {
        format!("| `{}` | least | greatest | the other | used |", self.protocol)
    }

    fn table(&self) -> String {
        let rows = self.rows.iter().map(|row| format!("| {} |", row.texts().join(" | ")));
        [self.head(), "|---|---|---|---|---|".to_owned()]
            .into_iter()
            .chain(rows)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The protocol's page: the page that has the head of its table.
    fn page(&self) -> Option<String> {
        let folders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocols/src");
        let pages = folders.read_dir().unwrap().map(|folder| folder.unwrap().path().join("README.md"));
        let texts = pages.filter_map(|page| std::fs::read_to_string(page).ok());
        texts.into_iter().find(|text| text.contains(&self.head()))
    }
}

#[test]
fn every_protocol_page_has_its_table_of_shares_beside_other_flows() {
    let stale: Vec<String> = ALL
        .iter()
        .filter(|of_protocol| of_protocol.page().is_none_or(|page| !page.contains(&of_protocol.table())))
        .map(ProtocolShares::table)
        .collect();
    assert!(
        stale.is_empty(),
        "`millpond coexistence NAME --markdown` prints for crates/protocols/src/*/README.md:\n\n{}",
        stale.join("\n\n")
    );
}

#[test]
fn pages_mention_starvation_where_a_flow_has_less_than_a_tenth_of_its_share() {
    for of_protocol in ALL.iter() {
        let starved = |row: &CoexistenceRow| row.least < 0.1 || row.other < 0.1;
        let section = |page: &str| {
            page.split("\n## ").find(|part| part.contains(&of_protocol.head())).map(str::to_lowercase)
        };
        let named =
            of_protocol.page().and_then(|page| section(&page)).is_some_and(|part| part.contains("starve"));
        assert!(
            named || !of_protocol.rows.iter().any(starved),
            "{}: its page must mention the starvation",
            of_protocol.protocol
        );
    }
}

type Range = std::ops::RangeInclusive<f64>;

/// A protocol, the flows that share the link, the shares of its flows and the share of the other flow.
type Theory = (&'static str, CompetingFlows, Range, Range);

/// Any share, up to the whole link of 100 flows.
const ANY: Range = 0.0..=101.0;

#[rustfmt::skip]
const THEORY: &[Theory] = &[
    // In the Reno-friendly region of RFC 9438, section 4.3, CUBIC has the mean rate of Reno. Windows of 100 packets and
    // round trips of 50 ms are in it: Reno needs 2.8 s to recover, the cubic function 4.2 s.
    ("newreno", beside(1, 1), 0.6..=1.4, 0.6..=1.4),
    ("cubic", beside(1, 1), 0.6..=1.4, 0.6..=1.4),
    ("cubic", beside(1, 4), 0.6..=1.4, 0.6..=1.4),
    // CUBIC keeps the load above the target of these protocols: Eq. (6) of ACP, XCP's feedback and VCP's decreases leave
    // one packet of 1500 B per round trip: 30 ms, twice that with a full buffer, five times that with one of 4 BDP.
    ("acp", beside(1, 1), 0.009..=0.02, 1.9..=2.0),
    ("acp", beside(4, 1), 0.022..=0.05, 4.7..=5.0),
    ("acp", beside(1, 4), 0.004..=0.02, 1.9..=2.0),
    ("xcp", beside(1, 1), 0.009..=0.02, 1.9..=2.0),
    ("xcp", beside(4, 1), 0.022..=0.05, 4.7..=5.0),
    ("xcp", beside(1, 4), 0.004..=0.02, 1.9..=2.0),
    ("vcp", beside(1, 1), 0.009..=0.02, 1.9..=2.0),
    ("vcp", beside(4, 1), 0.022..=0.05, 4.7..=5.0),
    // RCP's minimum rate is 0.01 packets per round trip.
    ("rcp", beside(1, 1), 0.9e-4..=2e-4, 1.99..=2.0),
    ("rcp", beside(4, 1), 2.2e-4..=5e-4, 4.99..=5.0),
    ("rcp", beside(1, 4), 0.3e-4..=2e-4, 1.99..=2.0),
    // Every period is an overload, so that MCP's minimum rate of 80 kbit/s remains, with at most one packet in flight.
    ("mcp", beside(1, 1), 0.003..=0.005, 1.9..=2.0),
    ("mcp", beside(4, 1), 0.0075..=0.0125, 4.7..=5.0),
    ("mcp", beside(1, 4), 0.003..=0.005, 1.9..=2.0),
    // Vegas keeps two to four packets in a queue that CUBIC varies between 40 and 100 packets, or between 250 and 400. Its
    // share of the queue is its share of the link.
    ("vegas", beside(1, 1), 0.04..=0.2, 1.8..=2.0),
    ("vegas", beside(4, 1), 0.1..=0.5, 3.0..=4.6),
    ("vegas", beside(1, 4), 0.01..=0.032, 1.9..=2.0),
    // The delay form keeps K = 50 packets in the queue.
    ("paganini-delay", beside(1, 1), 0.9..=2.0, 0.0..=1.1),
    ("paganini-delay", beside(1, 4), 0.25..=0.4, 1.6..=1.75),
    // REM drops packets that cannot be marked. At equilibrium q = K / x = 50 / 3170 s, p = 1 - phi^-q = .2; a loss rate of that
    // size allows at most sqrt(1.5 / p) = 2.8 packets per round trip.
    ("paganini-ecn", beside(1, 1), 1.8..=1.9, 0.0..=0.06),
    ("paganini-ecn", beside(1, 4), 1.8..=1.9, 0.0..=0.06),
    // Max-min fairness, within half a packet of windows of 167, 33 and 3.3 packets. ACP's target is 99 % of the link;
    // RCP's equilibrium is at alpha (C - y) = beta q / d; XCP redistributes a tenth.
    ("acp", joined(2), 0.985..=0.995, 0.985..=0.995),
    ("acp", joined(10), 0.97..=1.005, 0.97..=1.005),
    ("acp", joined(100), 0.85..=1.14, 0.85..=1.14),
    ("xcp", joined(2), 0.99..=1.005, 0.99..=1.005),
    ("xcp", joined(10), 0.97..=1.015, 0.97..=1.015),
    ("xcp", joined(100), 0.85..=1.15, 0.85..=1.15),
    ("rcp", joined(2), 0.99..=1.005, 0.99..=1.005),
    ("rcp", joined(10), 0.99..=1.005, 0.99..=1.005),
    ("rcp", joined(100), 0.95..=1.005, 0.95..=1.005),
    // x = r for all flows, at a queue of 100 packets that never empties; the pacing rate is not rounded.
    ("cltcp", joined(2), 0.995..=1.005, 0.995..=1.005),
    ("cltcp", joined(10), 0.995..=1.005, 0.995..=1.005),
    ("cltcp", joined(100), 0.99..=1.01, 0.99..=1.01),
    // x = K / q for all flows, and the sum is 95 % of the link.
    ("paganini-ecn", joined(2), 0.93..=0.97, 0.93..=0.97),
    ("paganini-ecn", joined(10), 0.92..=0.98, 0.92..=0.98),
    // x = K / q for the first flow and K / (q - delta) for the second, whose base RTT includes the queue at its start,
    // delta = K / C: the ratio of their rates is the golden ratio.
    ("paganini-delay", joined(2), 0.75..=0.775, 1.225..=1.25),
    // A cycle of two flows takes 122 s: after 60 s the late flow has added at most 150 steps of 80 kbps, 12 Mbps.
    ("mcp", joined(2), ANY, 0.0..=0.24),
    // (1 - p)^eta is the same for all.
    ("lgcc", joined(2), 0.97..=1.03, 0.97..=1.03),
    ("lgc", joined(2), 0.97..=1.03, 0.97..=1.03),
    // A window is at least ten packets. Link and buffer have room for 667, so that 33 of a hundred flows deliver nothing.
    ("lgc", joined(100), 0.0..=1.6, ANY),
];

#[test]
fn shares_agree_with_theory_where_there_is_one() {
    for (protocol, competition, shares_of_protocol, other) in THEORY {
        let of_protocol = ALL.iter().find(|of_protocol| of_protocol.protocol == *protocol).unwrap();
        let shares = of_protocol.rows.iter().find(|row| row.competition == *competition).unwrap();
        let within = [shares.least, shares.greatest].iter().all(|share| shares_of_protocol.contains(share));
        assert!(within, "{protocol}, {competition:?}: {} to {}", shares.least, shares.greatest);
        assert!(
            other.contains(&shares.other),
            "{protocol}, {competition:?}: the other flow has {}",
            shares.other
        );
    }
}

#[test]
fn a_late_joiner_has_its_share_under_every_max_min_fair_law() {
    // RCP's routers signal the rate at once, ACP's and XCP's within a few control intervals of 40 ms; CLTCP needs
    // Theorem 3's ln(ln(C / (N x0)) / ln(1 / .9)) / 2 = 1.9 s for two flows, less for more. To whole seconds.
    for (protocol, at_most) in [("rcp", 1.0), ("acp", 2.0), ("xcp", 2.0), ("cltcp", 2.0)] {
        for flows in [2, 10] {
            let converged = flow(&late(protocol, flows, 90), "late").converged_s;
            assert!(
                converged.is_some_and(|time| time <= 30.0 + at_most),
                "{protocol}, {flows}: {converged:?}"
            );
        }
    }
}

#[test]
fn a_late_joiner_of_mcp_has_its_share_after_seven_cycles() {
    // A cycle takes .49 C / (n 80 kbps) .4 s: 24.5 s with ten flows, 2.45 s with a hundred. Seven of them from 30 s on
    // end at 202 and 47 s; then all increase slowly up to the equilibrium.
    for (flows, duration) in [(10, 300), (100, 90)] {
        let run = late("mcp", flows, duration);
        assert!(run.summary.fairness.min_over_max > 0.8, "{flows}: {}", run.summary.fairness.min_over_max);
        let used = link(&run, "L").utilization;
        assert!((0.9..0.98).contains(&used), "{flows} flows use {used}");
        let mode = series(&run, "late", "mode");
        assert_eq!(mode.values.last(), Some(&4.0), "the flow is in its steady mode");
    }
}
