//! Every protocol beside CUBIC, and among its own when one more joins late. Its page has the figures in a table, which
//! is held to the runs; theory is held to them where it says something.

use crate::common::{flow, link, results, series};
use millpond_protocols::Registry;
use millpond_results::{Group, Run};
use rayon::prelude::*;
use std::path::Path;
use std::sync::LazyLock;

const BESIDE: &str = include_str!("../../../../scenarios/beside-cubic.toml");
const LATE: &str = include_str!("../../../../scenarios/late-joiner.toml");

/// So many of a protocol, and whom they meet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meets {
    /// A flow of CUBIC, over a buffer of so many bandwidth-delay products.
    Cubic(usize, usize),
    /// One more of their own, 30 s later; so many are they then.
    Late(usize),
}
use Meets::{Cubic, Late};

/// The rows of a page's table.
const ROWS: [(Meets, &str); 6] = [
    (Cubic(1, 1), "1 and CUBIC"),
    (Cubic(4, 1), "4 and CUBIC"),
    (Cubic(1, 4), "1 and CUBIC, buffer of 4 BDP"),
    (Late(2), "2, one of them late"),
    (Late(10), "10, one of them late"),
    (Late(100), "100, one of them late"),
];

/// Goodput over the equal share of the link: the least and the greatest of those that were there first, and that of
/// CUBIC or of the one that came late.
struct Shares {
    least: f64,
    greatest: f64,
    other: f64,
    used: f64,
}

struct Company {
    protocol: &'static str,
    rows: Vec<(Meets, Shares)>,
}

static ALL: LazyLock<Vec<Company>> = LazyLock::new(|| {
    let registry = Registry::builtin();
    let cards: Vec<_> = registry.protocols().map(|protocol| protocol.card()).collect();
    let company = |card: &&'static millpond_law::Card| {
        let rows = ROWS.par_iter().map(|&(meets, _)| (meets, shares(meets, card)));
        Company { protocol: card.name, rows: rows.collect() }
    };
    cards.par_iter().map(company).collect()
});

fn shares(meets: Meets, card: &millpond_law::Card) -> Shares {
    let (run, one, other, flows) = match meets {
        Cubic(count, buffer) => (beside_cubic(card, count, buffer), "one", "beside", count + 1),
        Late(flows) => (late(card.name, flows, 90), "early", "late", flows),
    };
    let link = link(&run, "L");
    let share = link.capacity_bps / flows as f64;
    let (one, other) = (group(&run, one).goodput_bps, group(&run, other).goodput_bps);
    Shares {
        least: one.min / share,
        greatest: one.max / share,
        other: other.mean / share,
        used: link.utilization,
    }
}

/// The link has the protocol's own queue; CUBIC has to do with it.
fn beside_cubic(card: &millpond_law::Card, count: usize, buffer: usize) -> Run {
    let settings = card.queue.settings.iter().map(|(key, value)| format!("{key} = \"{value}\""));
    let settings: Vec<_> = settings.collect();
    let sets = [
        format!("flows.one.protocol={}", card.name),
        format!("flows.one.count={count}"),
        format!("links.L.queue={{ {} = {{ {} }} }}", card.queue.name, settings.join(", ")),
        format!("links.L.buffer={buffer}bdp"),
    ];
    results(BESIDE, &sets.each_ref().map(String::as_str))
}

/// So many flows, the last of which joins after 30 s; measured over the last 30 s.
fn late(protocol: &str, flows: usize, duration: u32) -> Run {
    let sets = [
        format!("flows.early.protocol={protocol}"),
        format!("flows.late.protocol={protocol}"),
        format!("flows.early.count={}", flows - 1),
        format!("duration={duration}s"),
        format!("measure.from={}s", duration - 30),
    ];
    results(LATE, &sets.each_ref().map(String::as_str))
}

fn group<'a>(run: &'a Run, name: &str) -> &'a Group {
    run.summary.groups.iter().find(|group| group.name == name).unwrap()
}

/// Two significant digits.
fn digits(value: f64) -> String {
    if value < 1e-9 {
        return "0".to_owned();
    }
    let magnitude = |value: f64| value.log10().floor() as i32;
    // What is rounded up to a power of ten has a digit less behind the point.
    let places = |value: f64| usize::try_from(1 - magnitude(value)).unwrap_or(0);
    let rounded: f64 = format!("{value:.*}", places(value)).parse().unwrap();
    format!("{value:.*}", places(rounded))
}

impl Company {
    fn head(&self) -> String {
        format!("| `{}` | least | greatest | the other | used |", self.protocol)
    }

    fn table(&self) -> String {
        let line = |((_, shares), (_, label)): (&(Meets, Shares), &(Meets, &str))| {
            let numbers = [shares.least, shares.greatest, shares.other, shares.used].map(digits);
            format!("| {label} | {} |", numbers.join(" | "))
        };
        let rows = self.rows.iter().zip(&ROWS).map(line);
        [self.head(), "|---|---|---|---|---|".to_owned()]
            .into_iter()
            .chain(rows)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The protocol's page: the one that has the head of its table.
    fn page(&self) -> Option<String> {
        let folders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocols/src");
        let pages = folders.read_dir().unwrap().map(|folder| folder.unwrap().path().join("README.md"));
        let texts = pages.filter_map(|page| std::fs::read_to_string(page).ok());
        texts.into_iter().find(|text| text.contains(&self.head()))
    }
}

#[test]
fn every_page_says_what_its_protocol_has_in_company() {
    let stale: Vec<String> = ALL
        .iter()
        .filter(|company| company.page().is_none_or(|page| !page.contains(&company.table())))
        .map(Company::table)
        .collect();
    assert!(stale.is_empty(), "in crates/protocols/src/*/README.md it must be:\n\n{}", stale.join("\n\n"));
}

#[test]
fn who_has_less_than_a_tenth_of_a_share_is_said_to_starve() {
    for company in ALL.iter() {
        let starved = |(_, shares): &(Meets, Shares)| shares.least < 0.1 || shares.other < 0.1;
        let section = |page: &str| {
            page.split("\n## ").find(|part| part.contains(&company.head())).map(str::to_lowercase)
        };
        let named =
            company.page().and_then(|page| section(&page)).is_some_and(|part| part.contains("starve"));
        assert!(
            named || !company.rows.iter().any(starved),
            "{}: its page must say who starves",
            company.protocol
        );
    }
}

type Range = std::ops::RangeInclusive<f64>;

/// A protocol, whom it meets, the shares of its flows and that of the other.
type Theory = (&'static str, Meets, Range, Range);

/// Anything from nothing to the whole link.
const ANY: Range = 0.0..=101.0;

#[rustfmt::skip]
const THEORY: &[Theory] = &[
    // In the Reno-friendly region of RFC 9438, section 4.3, CUBIC has on average what Reno has. It is there with windows
    // of 100 packets and round trips of 50 ms: Reno needs 2.8 s to come back, the cubic 4.2 s.
    ("newreno", Cubic(1, 1), 0.6..=1.4, 0.6..=1.4),
    ("cubic", Cubic(1, 1), 0.6..=1.4, 0.6..=1.4),
    ("cubic", Cubic(1, 4), 0.6..=1.4, 0.6..=1.4),
    // CUBIC keeps the load above all that is aimed at: (6) of ACP, XCP's feedback and VCP's cuts leave one packet of
    // 1500 B in 30 ms, or in twice that when the buffer is full, in five times that when it is of 4 BDP.
    ("acp", Cubic(1, 1), 0.009..=0.02, 1.9..=2.0),
    ("acp", Cubic(4, 1), 0.022..=0.05, 4.7..=5.0),
    ("acp", Cubic(1, 4), 0.004..=0.02, 1.9..=2.0),
    ("xcp", Cubic(1, 1), 0.009..=0.02, 1.9..=2.0),
    ("xcp", Cubic(4, 1), 0.022..=0.05, 4.7..=5.0),
    ("xcp", Cubic(1, 4), 0.004..=0.02, 1.9..=2.0),
    ("vcp", Cubic(1, 1), 0.009..=0.02, 1.9..=2.0),
    ("vcp", Cubic(4, 1), 0.022..=0.05, 4.7..=5.0),
    // The same of RCP's floor, 0.01 packets per round trip.
    ("rcp", Cubic(1, 1), 0.9e-4..=2e-4, 1.99..=2.0),
    ("rcp", Cubic(4, 1), 2.2e-4..=5e-4, 4.99..=5.0),
    ("rcp", Cubic(1, 4), 0.3e-4..=2e-4, 1.99..=2.0),
    // Every period is an overload: MCP's floor of 80 kbps is left, or nothing of a packet in flight more.
    ("mcp", Cubic(1, 1), 0.003..=0.005, 1.9..=2.0),
    ("mcp", Cubic(4, 1), 0.0075..=0.0125, 4.7..=5.0),
    ("mcp", Cubic(1, 4), 0.003..=0.005, 1.9..=2.0),
    // Vegas keeps two to four packets in a queue that CUBIC moves between .4 and 1 of 100 packets, or from 250 to 400 of
    // 400: its part of the queue is its part of the link.
    ("vegas", Cubic(1, 1), 0.04..=0.2, 1.8..=2.0),
    ("vegas", Cubic(4, 1), 0.1..=0.5, 3.0..=4.6),
    ("vegas", Cubic(1, 4), 0.01..=0.032, 1.9..=2.0),
    // The delay form keeps K = 50 packets in it.
    ("paganini-delay", Cubic(1, 1), 0.9..=2.0, 0.0..=1.1),
    ("paganini-delay", Cubic(1, 4), 0.25..=0.4, 1.6..=1.75),
    // REM drops what cannot be marked. At rest q = K / x = 50 / 3170 s, p = 1 - phi^-q = .2; losses of that share leave
    // sqrt(1.5 / p) = 2.8 packets per round trip at the most.
    ("paganini-ecn", Cubic(1, 1), 1.8..=1.9, 0.0..=0.06),
    ("paganini-ecn", Cubic(1, 4), 1.8..=1.9, 0.0..=0.06),
    // Max-min fairness, within half a packet of windows of 167, 33 and 3.3 packets. ACP aims at 99 % of the link; RCP
    // rests where alpha (C - y) = beta q / d, XCP shuffles a tenth.
    ("acp", Late(2), 0.985..=0.995, 0.985..=0.995),
    ("acp", Late(10), 0.97..=1.005, 0.97..=1.005),
    ("acp", Late(100), 0.85..=1.14, 0.85..=1.14),
    ("xcp", Late(2), 0.99..=1.005, 0.99..=1.005),
    ("xcp", Late(10), 0.97..=1.015, 0.97..=1.015),
    ("xcp", Late(100), 0.85..=1.15, 0.85..=1.15),
    ("rcp", Late(2), 0.99..=1.005, 0.99..=1.005),
    ("rcp", Late(10), 0.99..=1.005, 0.99..=1.005),
    ("rcp", Late(100), 0.95..=1.005, 0.95..=1.005),
    // x = r for all, at a queue of 100 packets that never runs dry; nothing rounds the pace.
    ("cltcp", Late(2), 0.995..=1.005, 0.995..=1.005),
    ("cltcp", Late(10), 0.995..=1.005, 0.995..=1.005),
    ("cltcp", Late(100), 0.99..=1.01, 0.99..=1.01),
    // x = K / q for all, and .95 of the link in sum.
    ("paganini-ecn", Late(2), 0.93..=0.97, 0.93..=0.97),
    ("paganini-ecn", Late(10), 0.92..=0.98, 0.92..=0.98),
    // x = K / q for the first and K / (q - delta) for the second, which takes the queue that it finds, delta = K / C, for
    // distance: their rates are as the golden ratio.
    ("paganini-delay", Late(2), 0.75..=0.775, 1.225..=1.25),
    // A cycle of two flows takes 122 s: after 60 s the newcomer has added at most 150 steps of 80 kbps, 12 Mbps.
    ("mcp", Late(2), ANY, 0.0..=0.24),
    // (1 - p)^eta is the same for all.
    ("lgcc", Late(2), 0.97..=1.03, 0.97..=1.03),
    ("lgc", Late(2), 0.97..=1.03, 0.97..=1.03),
    // Ten packets at least, of each of a hundred: pipe and buffer hold 667, so that 33 flows find no room, ever.
    ("lgc", Late(100), 0.0..=1.6, ANY),
];

#[test]
fn shares_are_what_theory_says_where_it_says_something() {
    for (protocol, meets, own, other) in THEORY {
        let company = ALL.iter().find(|company| company.protocol == *protocol).unwrap();
        let (_, shares) = company.rows.iter().find(|(row, _)| row == meets).unwrap();
        let within = [shares.least, shares.greatest].iter().all(|share| own.contains(share));
        assert!(within, "{protocol}, {meets:?}: {} to {}", shares.least, shares.greatest);
        assert!(other.contains(&shares.other), "{protocol}, {meets:?}: the other has {}", shares.other);
    }
}

#[test]
fn a_late_joiner_has_its_share_as_soon_as_a_law_of_max_min_fairness_lets_it() {
    // RCP's routers tell the rate at once, ACP's and XCP's within a few control intervals of 40 ms; CLTCP needs
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
    // end at 202 and 47 s; then all creep up and rest.
    for (flows, duration) in [(10, 300), (100, 90)] {
        let run = late("mcp", flows, duration);
        assert!(run.summary.fairness.min_over_max > 0.8, "{flows}: {}", run.summary.fairness.min_over_max);
        let used = link(&run, "L").utilization;
        assert!((0.9..0.98).contains(&used), "{flows} flows use {used}");
        let mode = series(&run, "late", "mode");
        assert_eq!(mode.values.last(), Some(&4.0), "it rests");
    }
}
