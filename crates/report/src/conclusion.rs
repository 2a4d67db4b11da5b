//! The sentence with which the page opens: which run does best, by what, and why.

use super::run_view::RunView;
use millpond_results::{Estimate, Flow, Run};
use millpond_units::format::{fixed, number, two_digits};

/// The runs of the world of the first run: runs of one law in two worlds are two models of it, of which none is better.
fn of_one_world<'v, 'a>(views: &'v [RunView<'a>]) -> impl Iterator<Item = &'v RunView<'a>> + Clone {
    views.iter().filter(|view| is_of_world(view, views))
}

fn is_of_world(view: &RunView, views: &[RunView]) -> bool {
    views.first().is_some_and(|first| first.row.world == view.row.world)
}

/// Whether all flows of all runs are transfers whose slowdown is known: they are judged by it, not by utilization, which
/// depends on what the transfers ask for.
pub(super) fn is_about_transfers(views: &[RunView]) -> bool {
    let has_transfers_alone = |view: &RunView| {
        view.row.slowdown.is_some() && view.run.summary.groups.iter().all(|group| group.transfers > 0)
    };
    !views.is_empty() && views.iter().all(has_transfers_alone)
}

/// The least share of complete transfers of a run that is ranked by their 99th percentile.
const COMPLETE: f64 = 0.99;

/// Whether nearly all transfers are complete. What a slow one lacks of its fair share is a part of its slowdown.
fn is_ranked_by_transfers(view: &RunView) -> bool {
    view.row.transfers.is_some_and(|counts| counts.completed.mean >= COMPLETE * counts.transfers.mean)
}

/// A run is ranked only if none of its flows starves in any seed.
fn is_ranked(view: &RunView) -> bool {
    view.row.starving.mean == 0.0 && power(view).is_some()
}

/// Runs that deserve a bold number: ranked, of the world of the first one, and with at least half of the greatest power. Runs
/// about transfers have no power.
pub(super) fn candidates(views: &[RunView]) -> Vec<bool> {
    if is_about_transfers(views) {
        return views.iter().map(|view| is_of_world(view, views) && is_ranked_by_transfers(view)).collect();
    }
    let is_ranked = |view: &RunView| is_ranked(view) && is_of_world(view, views);
    let of = |view: &RunView| if is_ranked(view) { power(view).map_or(0.0, |power| power.mean) } else { 0.0 };
    let powers: Vec<f64> = views.iter().map(of).collect();
    let greatest = powers.iter().copied().fold(0.0, f64::max);
    powers.iter().map(|power| *power > 0.0 && 2.0 * power >= greatest).collect()
}

/// Utilization of the bottleneck over the 95th percentile of the round-trip time without queues plus the queueing delay,
/// in 1/ms. This is the power of Kleinrock (1979), throughput over delay, for a high percentile of the delay.
fn power(view: &RunView) -> Option<Estimate> {
    let base = base_rtt_ms(view.run)?;
    let (utilization, queueing) = (view.row.utilization?, view.row.queueing_ms?.p95);
    let delay = base + queueing.mean;
    let mean = utilization.mean / delay;
    let relative = |estimate: Estimate, of: f64| estimate.half_width.map(|half| half / of);
    let half_width = relative(utilization, utilization.mean)
        .zip(relative(queueing, delay))
        .map(|(of_utilization, of_delay)| mean * of_utilization.hypot(of_delay));
    (delay > 0.0 && utilization.mean > 0.0).then_some(Estimate { mean, half_width })
}

/// The mean over the flows of their least round-trip time in ms; that of a flow with relays is the sum over its loops.
fn base_rtt_ms(run: &Run) -> Option<f64> {
    let of = |flow: &Flow| match &flow.rtt_ms {
        Some(times) => times.min,
        None => flow.loops.iter().map(|one| one.rtt_ms.min).sum(),
    };
    let least: Vec<f64> = run.summary.flows.iter().map(of).filter(|rtt| *rtt > 0.0).collect();
    (!least.is_empty()).then(|| least.iter().sum::<f64>() / least.len() as f64)
}

/// The sentence about several runs of one world; none if fewer than two are ranked.
pub(super) fn conclusion(views: &[RunView]) -> Option<String> {
    if is_about_transfers(views) {
        return conclusion_about_transfers(views);
    }
    let compared = of_one_world(views);
    let is_one_world = compared.clone().count() == views.len();
    let ranked = compared.clone().filter(|view| is_ranked(view));
    let mut ranked: Vec<(&RunView, Estimate)> =
        ranked.filter_map(|view| Some((view, power(view)?))).collect();
    ranked.sort_by(|one, other| other.1.mean.total_cmp(&one.1.mean));
    let [(best, most), (second, next), ..] = ranked.as_slice() else { return None };
    let verb = if is_within(*most, *next) {
        format!(
            "{} and {} have the most utilization per delay, with intervals that overlap: {}",
            best.run.label, second.run.label, best.run.label
        )
    } else {
        format!("{} has the most utilization per delay: it", best.run.label)
    };
    let mut sentence = format!("{verb} uses {}", achieved(best));
    let others = || ranked.iter().map(|(view, _)| *view).filter(|view| view.run.label != best.run.label);
    if let Some(fuller) = others().max_by(|one, other| one.utilization().total_cmp(&other.utilization()))
        && fuller.utilization() > best.utilization() + LEAST_SHARE
    {
        sentence += &format!("; {} uses most, {}", fuller.run.label, achieved(fuller));
    }
    if let Some(shorter) = others().min_by(|one, other| one.queueing_p95().total_cmp(&other.queueing_p95()))
        && shorter.queueing_p95() < best.queueing_p95() * (1.0 - LEAST_SHARE)
    {
        sentence += &format!("; {} queues least, {}", shorter.run.label, achieved(shorter));
    }
    let starving = compared.filter(|view| view.row.starving.mean > 0.0);
    let starving: Vec<&str> = starving.map(|view| view.run.label.as_str()).collect();
    if !starving.is_empty() {
        sentence += &format!("; not ranked because flows starve: {}", starving.join(", "));
    }
    let which = if is_one_world { String::new() } else { format!("World {}: ", best.row.world) };
    Some(format!("{which}{sentence}."))
}

/// The sentence about runs all of whose flows are transfers; none if fewer than two are ranked.
fn conclusion_about_transfers(views: &[RunView]) -> Option<String> {
    let (ranked, left_out): (Vec<&RunView>, Vec<&RunView>) =
        of_one_world(views).partition(|view| is_ranked_by_transfers(view));
    let mut ranked: Vec<(&str, Estimate)> = ranked
        .into_iter()
        .filter_map(|view| Some((view.run.label.as_str(), view.row.slowdown?.p99)))
        .collect();
    ranked.sort_by(|one, other| one.1.mean.total_cmp(&other.1.mean));
    let [(best, least), (second, next), ..] = ranked.as_slice() else { return None };
    let best = if is_within(*next, *least) {
        format!("{best} and {second} have the least slowdown, with intervals that overlap: with {best}")
    } else {
        format!("{best} has the least slowdown:")
    };
    let (worst, most) = ranked.last()?;
    let mut sentence = format!(
        "{best} 99 % of the transfers take at most {} times as long as alone in the network; {worst} has the greatest, {} times",
        number(least.mean),
        number(most.mean)
    );
    if !left_out.is_empty() {
        let names: Vec<&str> = left_out.iter().map(|view| view.run.label.as_str()).collect();
        sentence += &format!(
            "; not ranked because more than 1 % of the transfers are not complete: {}",
            names.join(", ")
        );
    }
    Some(sentence + ".")
}

/// A smaller difference of utilizations, or relative difference of delays, is not worth a clause.
const LEAST_SHARE: f64 = 0.005;

/// Whether the confidence intervals overlap.
fn is_within(one: Estimate, other: Estimate) -> bool {
    one.mean - one.half_width.unwrap_or_default() <= other.mean + other.half_width.unwrap_or_default()
}

fn achieved(view: &RunView) -> String {
    format!(
        "{} % of the bottleneck with {} ms of queueing (95th percentile)",
        fixed(100.0 * view.utilization(), 1),
        two_digits(view.queueing_p95())
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::{Group, Link, Milliseconds, Slowdown, Summary};

    fn run(label: &str, seed: u64, utilization: f64, p95: f64, starving: bool) -> Run {
        let times = |p95| Milliseconds { min: 20.0, p95, ..Milliseconds::default() };
        let flow = Flow {
            rtt_ms: Some(times(0.0)),
            delivered: 1,
            goodput_bps: 1e6,
            fair_share_bps: Some(if starving { 1e8 } else { 1e6 }),
            ..Flow::default()
        };
        let summary = Summary {
            seed,
            flows: vec![flow],
            groups: vec![Group { flows: 1, ..Group::default() }],
            links: vec![Link { utilization, ..Link::default() }],
            queueing_ms: times(p95),
            simulated_s: 1.0,
            ..Summary::default()
        };
        Run { label: label.into(), summary, ..Run::default() }
    }

    /// .95 / 25 = .038, 1 / 120 = .0083 and .5 / 21 = .024 per ms.
    #[test]
    fn the_sentence_names_the_best_the_fullest_and_the_emptiest_run() {
        let runs = [
            run("cubic", 1, 1.0, 100.0, false),
            run("lgcc", 1, 0.95, 5.0, false),
            run("shy", 1, 0.5, 1.0, false),
            run("greedy", 1, 1.0, 0.0, true),
        ];
        let views = RunView::all(&runs);
        assert_eq!(
            conclusion(&views).unwrap(),
            "lgcc has the most utilization per delay: it uses 95.0 % of the bottleneck with 5.0 ms of queueing (95th \
             percentile); cubic uses most, 100.0 % of the bottleneck with 100 ms of queueing (95th percentile); shy queues \
             least, 50.0 % of the bottleneck with 1.0 ms of queueing (95th percentile); not ranked because flows starve: \
             greedy."
        );
        assert_eq!(candidates(&views), [false, true, true, false]);
    }

    #[test]
    fn runs_whose_intervals_overlap_are_not_ranked_against_each_other() {
        let runs = [
            run("a", 1, 0.95, 5.0, false),
            run("a", 2, 0.91, 7.0, false),
            run("b", 1, 0.94, 6.0, false),
            run("b", 2, 0.91, 6.0, false),
        ];
        let sentence = conclusion(&RunView::all(&runs)).unwrap();
        assert!(sentence.starts_with("a and b have the most utilization per delay"), "{sentence}");
    }

    /// A flow of hpcc is below a tenth of its fair share while it lasts.
    #[test]
    fn transfers_are_ranked_by_the_slowdown_of_nearly_all_of_them() {
        let of = |label: &str, complete: u64, p99: f64| {
            let mut run = run(label, 1, 0.3, 5.0, label == "hpcc");
            let slowdown = Slowdown { p99, ..Slowdown::default() };
            run.summary.slowdown = Some(slowdown);
            run.summary.groups = vec![Group { transfers: 1000, completed: complete, ..Group::default() }];
            run
        };
        let mut runs =
            vec![of("cubic", 995, 80.0), of("hpcc", 1000, 4.0), of("dctcp", 990, 6.0), of("shy", 989, 1.0)];
        let views = RunView::all(&runs);
        assert_eq!(
            conclusion(&views).unwrap(),
            "hpcc has the least slowdown: 99 % of the transfers take at most 4.00 times as long as alone in the network; \
             cubic has the greatest, 80.0 times; not ranked because more than 1 % of the transfers are not complete: shy."
        );
        assert_eq!(candidates(&views), [true, true, true, false]);
        // With a flow that is no transfer, utilization counts as well.
        runs.iter_mut().for_each(|run| run.summary.groups.push(Group::default()));
        assert!(conclusion(&RunView::all(&runs)).unwrap().contains("utilization per delay"));
    }

    #[test]
    fn one_run_has_no_conclusion() {
        assert_eq!(conclusion(&RunView::all(&[run("a", 1, 0.9, 5.0, false)])), None);
    }

    #[test]
    fn two_models_of_one_law_are_not_ranked_against_each_other() {
        let in_world = |world: &str, label: &str, utilization| {
            let mut run = run(label, 1, utilization, 5.0, false);
            run.summary.world = world.into();
            run
        };
        let mut runs =
            vec![in_world("packets", "cubic packets", 0.9), in_world("fluid", "cubic fluid", 0.99)];
        let views = RunView::all(&runs);
        assert_eq!(conclusion(&views), None);
        assert_eq!(candidates(&views), [true, false], "with one candidate no number is the best");
        runs.push(in_world("packets", "vegas packets", 0.8));
        let sentence = conclusion(&RunView::all(&runs)).unwrap();
        assert!(sentence.starts_with("World packets: cubic packets has the most"), "{sentence}");
    }
}
