//! Measures the value of a row on the result of a trial.

use super::execute::TrialResult;
use super::expect::{Combine, EntityPattern, Expectation, Statistic};
use super::time_or_step::TimeOrStep;
use millpond_results::{EntityKind, Run, Series};
use millpond_stats::{
    coefficient_of_variation, maximum, mean, minimum, quantile_of_curve, quantile_of_sorted,
    standard_deviation,
};
use millpond_units::glob;
use serde_json::Value;
use std::collections::BTreeSet;

/// The value of a row in the row's unit.
///
/// # Errors
/// The reason why the result has no such value.
pub fn measure(row: &Expectation, result: &TrialResult) -> Result<f64, String> {
    match (result, &row.answer) {
        (TrialResult::Run(run), None) => measure_run(row, run),
        (TrialResult::Analysis(analysis), Some(path)) => {
            Ok(combine(row.combine, &from_analysis(path, &analysis.value)?) * row.scale)
        }
        (TrialResult::Refused(reason), _) => Err(reason.clone()),
        (TrialResult::Run(_), Some(_)) => Err("`answer` needs a case with analysis".into()),
        (TrialResult::Analysis(_), None) => Err("a case with analysis needs `answer`".into()),
    }
}

/// The value of a row on a run in which every sample and every number is zero: nothing is sent.
#[cfg(test)]
pub(super) fn measure_nothing(row: &Expectation) -> f64 {
    let is_fairness = row.summary.as_ref().is_some_and(|path| path.starts_with("fairness."));
    let zeros: Vec<_> = (0..100).map(|time| (f64::from(time), 0.0)).collect();
    let value = if is_fairness {
        millpond_stats::jain(&[0.0, 0.0])
    } else if row.series.is_some() || row.deviation.is_some() {
        statistic(row, &zeros).unwrap_or(f64::NAN)
    } else {
        0.0
    };
    let divisor = if row.over.is_some() || row.versus.is_some() { value } else { 1.0 };
    value / divisor * row.scale
}

fn measure_run(row: &Expectation, run: &Run) -> Result<f64, String> {
    let divisor = match &row.over {
        None => 1.0,
        Some(other) => combined(&Expectation { series: Some(other.clone()), ..row.clone() }, run)?,
    };
    Ok(combined(row, run)? / divisor * row.scale)
}

/// The combined value of all entities of the row, before `over` and `scale`.
fn combined(row: &Expectation, run: &Run) -> Result<f64, String> {
    let values = if let Some(path) = &row.summary {
        from_summary(path, run)?
    } else if let Some(entity) = &row.distribution {
        from_distributions(entity, row.statistic, run)?
    } else {
        samples(row, run)?.iter().map(|samples| statistic(row, samples)).collect::<Result<_, _>>()?
    };
    Ok(combine(row.combine, &values))
}

fn combine(how: Combine, values: &[f64]) -> f64 {
    match how {
        Combine::Mean => mean(values),
        Combine::Least => minimum(values),
        Combine::Greatest => maximum(values),
        Combine::Farthest => {
            values.iter().copied().fold(0.0, |far, value| if value.abs() > far.abs() { value } else { far })
        }
        Combine::Sum => values.iter().sum(),
    }
}

/// The mean of all numbers of the summary at a path.
///
/// # Errors
/// There is no number at the path.
pub fn summary_value(path: &str, run: &Run) -> Result<f64, String> {
    Ok(combine(Combine::Mean, &from_summary(path, run)?))
}

/// Every number of the summary at a path. Its parts are keys, and for items of lists their `name` (else their index)
/// or `*`.
fn from_summary(path: &str, run: &Run) -> Result<Vec<f64>, String> {
    let summary = serde_json::to_value(&run.summary).map_err(|fault| fault.to_string())?;
    let mut numbers = Vec::new();
    collect(&summary, path, &mut numbers);
    if numbers.is_empty() {
        let known = listed(known_at(&summary, path).iter().map(String::as_str));
        return Err(format!("the summary has no number at {path}{known}"));
    }
    Ok(numbers)
}

/// Every number at a path into the result of an analysis.
fn from_analysis(path: &str, analysis: &Value) -> Result<Vec<f64>, String> {
    let mut numbers = Vec::new();
    collect(analysis, path, &mut numbers);
    let reason = || match analysis.get("refused").and_then(Value::as_str) {
        Some(refused) => refused.to_owned(),
        None => {
            let known = listed(known_at(analysis, path).iter().map(String::as_str));
            format!("the result of the analysis has no number at {path}{known}")
        }
    };
    if numbers.is_empty() { Err(reason()) } else { Ok(numbers) }
}

fn collect(value: &Value, path: &str, numbers: &mut Vec<f64>) {
    match value {
        Value::Object(fields) => {
            let (key, remainder) = path.split_once('.').unwrap_or((path, ""));
            fields.get(key).into_iter().for_each(|value| collect(value, remainder, numbers));
        }
        Value::Array(items) => items.iter().zip(item_names(items)).for_each(|(item, name)| {
            if let Some(remainder) = after_name(path, &name) {
                collect(item, remainder, numbers);
            }
        }),
        Value::Bool(holds) => numbers.extend(path.is_empty().then_some(f64::from(u8::from(*holds)))),
        value => numbers.extend(value.as_f64().filter(|_| path.is_empty())),
    }
}

/// What there is in place of the first part of a path that does not exist: keys of a table, or names in a list.
fn known_at(value: &Value, path: &str) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let (key, remainder) = path.split_once('.').unwrap_or((path, ""));
            let inner = fields.get(key).map(|value| known_at(value, remainder));
            inner.unwrap_or_else(|| fields.keys().cloned().collect())
        }
        Value::Array(items) => {
            let names = item_names(items);
            let found =
                items.iter().zip(&names).find_map(|(item, name)| Some((item, after_name(path, name)?)));
            found.map_or(names, |(item, remainder)| known_at(item, remainder))
        }
        _ => Vec::new(),
    }
}

/// The first names of a list, for a message.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const MOST: usize = 12;
    let distinct: BTreeSet<&str> = names.collect();
    let shown: Vec<&str> = distinct.iter().copied().take(MOST).collect();
    let more = if distinct.len() > MOST { ", ..." } else { "" };
    if shown.is_empty() { String::new() } else { format!("; there are: {}{more}", shown.join(", ")) }
}

/// The part of a path after the name; the name itself may contain dots.
fn after_name<'a>(path: &'a str, name: &str) -> Option<&'a str> {
    path.match_indices('.').find(|&(dot, _)| glob(&path[..dot], name)).map(|(dot, _)| &path[dot + 1..])
}

/// The names of list items, or their indices if they have none. Both directions of a link have the same name: the
/// second is `name <-`.
fn item_names(items: &[Value]) -> Vec<String> {
    let name_or_index = |(index, item): (usize, &Value)| {
        item.get("name").and_then(Value::as_str).map_or_else(|| index.to_string(), str::to_owned)
    };
    let names: Vec<String> = items.iter().enumerate().map(name_or_index).collect();
    let distinct = |(i, name): (usize, &String)| {
        if names[..i].contains(name) { format!("{name} <-") } else { name.clone() }
    };
    names.iter().enumerate().map(distinct).collect()
}

/// Checks that a run has a distribution of the pattern.
///
/// # Errors
/// It has none; the message has the names that there are.
pub(super) fn find_distribution(entity: &EntityPattern, run: &Run) -> Result<(), String> {
    let share = Statistic::Quantile(0.5);
    from_distributions(entity, share, run).map(drop)
}

fn from_distributions(entity: &EntityPattern, statistic: Statistic, run: &Run) -> Result<Vec<f64>, String> {
    let (kind, pattern) = entity.kind_and_pattern()?;
    let matching = run
        .distributions
        .iter()
        .filter(|d| d.kind == kind && d.quantity == entity.quantity && glob(pattern, &d.entity));
    let quantile = |points: &[(f64, f64)], share| quantile_of_curve(points, share).unwrap_or(f64::NAN);
    let values: Vec<f64> = matching
        .map(|d| match statistic {
            Statistic::Between(low, high) => quantile(&d.points, high) - quantile(&d.points, low),
            Statistic::Quantile(share) => quantile(&d.points, share),
            _ => f64::NAN,
        })
        .collect();
    let known = run.distributions.iter().map(|d| (d.kind, d.entity.as_str(), d.quantity.as_str()));
    if values.is_empty() { Err(missing(kind, pattern, &entity.quantity, known)) } else { Ok(values) }
}

/// The error about an entity without this quantity: entities that have it, else quantities that the entity has, else all
/// entities of the kind.
fn missing<'a>(
    kind: EntityKind,
    pattern: &str,
    quantity: &str,
    known: impl Iterator<Item = (EntityKind, &'a str, &'a str)>,
) -> String {
    let known: Vec<_> = known.filter(|(of, ..)| *of == kind).collect();
    let entities = listed(known.iter().filter(|(.., of)| *of == quantity).map(|(_, entity, _)| *entity));
    let quantities =
        || listed(known.iter().filter(|(_, of, _)| glob(pattern, of)).map(|(.., quantity)| *quantity));
    let all = || listed(known.iter().map(|(_, entity, _)| *entity));
    let lists = [entities, quantities(), all()];
    let there_are = lists.into_iter().find(|list| !list.is_empty()).unwrap_or_default();
    format!("the run has no {quantity} of a {} named {pattern}{there_are}", kind.name())
}

/// Times and values of the samples of a row, one list per entity.
fn samples(row: &Expectation, run: &Run) -> Result<Vec<Vec<(f64, f64)>>, String> {
    let raw = match (&row.series, &row.deviation) {
        (Some(entity), _) => find(entity, run)?.into_iter().map(points).collect(),
        (None, Some(deviation)) => {
            let reference = find(&deviation.from, run)?;
            let reference = reference.first().map_or_else(Vec::new, |series| points(series));
            let compared = find(&deviation.of, run)?;
            let distances =
                compared.into_iter().map(|series| distance(&points(series), &reference, deviation.share));
            distances.collect()
        }
        (None, None) => Vec::new(),
    };
    // A recurrence has no simulated time. A value that is reached earlier is reached in a shorter run, too.
    let end = Some(run.summary.simulated_s).filter(|end| *end > 0.0).unwrap_or(f64::INFINITY);
    let is_cut =
        |to: &TimeOrStep| to.0 > end * (1.0 + 1e-9) && !matches!(row.statistic, Statistic::Reaches(_));
    if let Some(to) = row.to.filter(is_cut) {
        return Err(format!("the interval ends at {} s, and the run at {end} s", to.0));
    }
    // A flow without samples in the interval, because it has not started or has stopped, is left out.
    let in_interval =
        |samples: &Vec<_>| Some(cut(samples, row.from, row.to, row.bin)).filter(|cut| !cut.is_empty());
    let samples: Vec<Vec<_>> = raw.iter().filter_map(in_interval).collect();
    if samples.is_empty() { Err("no sample lies in this interval".into()) } else { Ok(samples) }
}

/// The series of the pattern.
///
/// # Errors
/// There are none; the message has the names that there are.
pub(super) fn find<'a>(entity: &EntityPattern, run: &'a Run) -> Result<Vec<&'a Series>, String> {
    let (kind, pattern) = entity.kind_and_pattern()?;
    let matches = |s: &&Series| s.kind == kind && s.quantity == entity.quantity && glob(pattern, &s.entity);
    let found: Vec<_> = run.series.iter().filter(matches).collect();
    let known = run.series.iter().map(|s| (s.kind, s.entity.as_str(), s.quantity.as_str()));
    if found.is_empty() { Err(missing(kind, pattern, &entity.quantity, known)) } else { Ok(found) }
}

fn points(series: &Series) -> Vec<(f64, f64)> {
    series.times.iter().copied().zip(series.values.iter().copied()).collect()
}

/// `|a - share * b|` at the times at which both have a sample.
fn distance(a: &[(f64, f64)], b: &[(f64, f64)], share: f64) -> Vec<(f64, f64)> {
    let value_of_b = |time: f64| {
        let index = b.partition_point(|sample| sample.0 < time);
        b.get(index).filter(|sample| sample.0 == time).map(|sample| sample.1)
    };
    a.iter().filter_map(|&(time, a)| value_of_b(time).map(|b| (time, (a - share * b).abs()))).collect()
}

/// The samples of an interval without NaN, averaged over bins if `bin` is given; times count from its start. The time
/// of a sample is the end of the period that it covers, so the interval is open on the left, except that step 0
/// belongs to an interval from 0.
fn cut(
    samples: &[(f64, f64)],
    from: Option<TimeOrStep>,
    to: Option<TimeOrStep>,
    bin: Option<TimeOrStep>,
) -> Vec<(f64, f64)> {
    let from = from.map_or(0.0, |instant| instant.0);
    let to = to.map_or(f64::INFINITY, |instant| instant.0);
    let slack = 1e-9;
    let inside = |&&(time, value): &&(f64, f64)| {
        (time > from + slack || from == 0.0) && time <= to + slack && !value.is_nan()
    };
    let samples: Vec<_> = samples.iter().filter(inside).map(|&(time, value)| (time - from, value)).collect();
    bin.map_or_else(|| samples.clone(), |bin| binned(&samples, bin.0))
}

/// Means over whole bins, each with the time at which its bin ends.
fn binned(samples: &[(f64, f64)], bin: f64) -> Vec<(f64, f64)> {
    let index = |time: f64| libm::ceil(time / bin - 1e-6) as i64;
    let same_bin = |a: &(f64, f64), b: &(f64, f64)| index(a.0) == index(b.0);
    let bin_mean = |chunk: &[(f64, f64)]| {
        let values: Vec<f64> = chunk.iter().map(|sample| sample.1).collect();
        (index(chunk[0].0) as f64 * bin, mean(&values))
    };
    samples.chunk_by(same_bin).map(bin_mean).collect()
}

fn statistic(row: &Expectation, samples: &[(f64, f64)]) -> Result<f64, String> {
    let values: Vec<f64> = samples.iter().map(|sample| sample.1).collect();
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let quantile = |share| quantile_of_sorted(&sorted, share).ok_or("no sample lies in this interval");
    Ok(match row.statistic {
        Statistic::Mean => mean(&values),
        Statistic::Sd => standard_deviation(&values),
        Statistic::Cv => coefficient_of_variation(&values),
        Statistic::Least => combine(Combine::Least, &values),
        Statistic::Greatest => combine(Combine::Greatest, &values),
        Statistic::Last => values.last().copied().unwrap_or(f64::NAN),
        Statistic::Quantile(share) => quantile(share)?,
        Statistic::Between(low, high) => quantile(high)? - quantile(low)?,
        Statistic::Reaches(level) => {
            samples.iter().find(|sample| sample.1 >= level).map_or(f64::INFINITY, |sample| sample.0)
        }
        Statistic::Settles { at, within } => settling_time(samples, at, within),
        Statistic::Lasts(low, high) => mean_stay(samples, |value| (low..=high).contains(&value))
            .ok_or("no stay in this range is complete")?,
    })
}

/// The time after which every sample stays within a fraction of `at`; infinite if the last one is outside.
fn settling_time(samples: &[(f64, f64)], at: f64, within: f64) -> f64 {
    let outside = |sample: &(f64, f64)| (sample.1 - at).abs() > within * at.abs();
    match samples.iter().rposition(outside) {
        None => 0.0,
        Some(last) if last + 1 == samples.len() => f64::INFINITY,
        Some(last) => samples[last].0,
    }
}

/// The mean time from the first sample inside to the next one outside. A stay that begins with the first sample, or that
/// does not end, is not complete.
fn mean_stay(samples: &[(f64, f64)], is_inside: impl Fn(f64) -> bool) -> Option<f64> {
    let runs: Vec<_> = samples.chunk_by(|a, b| is_inside(a.1) == is_inside(b.1)).collect();
    let complete = runs.windows(3).filter(|three| is_inside(three[1][0].1));
    let lengths: Vec<f64> = complete.map(|three| three[2][0].0 - three[1][0].0).collect();
    (!lengths.is_empty()).then(|| mean(&lengths))
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::{Flow, Link, Summary, quantity};

    fn run() -> Run {
        let ramp = |name: &str, slope: f64| Series {
            kind: EntityKind::Flow,
            entity: name.into(),
            quantity: quantity::GOODPUT.into(),
            unit: "bit/s".into(),
            times: (1..=10).map(f64::from).collect(),
            values: (1..=10).map(|t| slope * f64::from(t)).collect(),
        };
        let flow = |name: &str, goodput_bps| Flow { name: name.into(), goodput_bps, ..Flow::default() };
        let link = |direction: &str, utilization| Link {
            name: "middle".into(),
            direction: direction.into(),
            utilization,
            ..Link::default()
        };
        Run {
            label: "test".into(),
            summary: Summary {
                flows: vec![flow("user.0", 10.0), flow("user.1", 30.0)],
                links: vec![link("R1 -> R2", 0.75), link("R1 <- R2", 0.25)],
                ..Summary::default()
            },
            series: vec![ramp("user.0", 1.0), ramp("user.1", 3.0)],
            ..Run::default()
        }
    }

    fn row(text: &str) -> Expectation {
        let required = "what = 'x'\naccept = [0, 1]\nderivation = 'z'";
        toml::from_str(&format!("{text}\n{required}")).unwrap()
    }

    fn measured(text: &str) -> f64 {
        measure_run(&row(text), &run()).unwrap()
    }

    #[test]
    fn an_interval_that_ends_after_the_run_is_an_error() {
        let series = "series = { flow = 'user.*', quantity = 'goodput' }";
        let run = Run { summary: Summary { simulated_s: 4.0, ..run().summary }, ..run() };
        let fault = measure_run(&row(&format!("{series}\nto = '5s'")), &run).unwrap_err();
        assert_eq!(fault, "the interval ends at 5 s, and the run at 4 s");
        for inside in ["to = '4s'", "to = '5s'\nstatistic = { reaches = 2 }"] {
            assert!(measure_run(&row(&format!("{series}\n{inside}")), &run).is_ok(), "{inside}");
        }
    }

    #[test]
    fn a_path_into_the_summary_selects_list_items_by_name_and_combines_several() {
        assert_eq!(measured("summary = 'flows.*.goodput_bps'"), 20.0);
        assert_eq!(measured("summary = 'flows.user.1.goodput_bps'\ncombine = 'sum'").to_string(), "30");
        assert_eq!(measured("summary = 'links.middle.utilization'"), 0.75);
        assert_eq!(combine(Combine::Farthest, &[0.1, -0.3, 0.2]), -0.3);
        assert_eq!(measured("summary = 'links.middle <-.utilization'"), 0.25);
        assert!(measure_run(&row("summary = 'links.muddle.utilization'"), &run()).is_err());
    }

    #[test]
    fn the_length_of_a_stay_is_a_mean_over_those_that_begin_and_end_in_the_interval() {
        let stay = |values: &[f64]| {
            let samples: Vec<_> =
                values.iter().enumerate().map(|(time, value)| (time as f64, *value)).collect();
            mean_stay(&samples, |value| (2.0..=3.0).contains(&value))
        };
        assert_eq!(stay(&[2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 2.0, 2.0, 2.0, 1.0, 2.0]), Some(3.0));
        assert_eq!(
            stay(&[2.0, 2.0, 1.0, 3.0]),
            None,
            "the first begins before the samples, the last does not end"
        );
        assert!(
            measured("series = { flow = 'user.0', quantity = 'goodput' }\nstatistic = { lasts = [4, 6] }")
                == 3.0
        );
    }

    #[test]
    fn what_a_result_does_not_have_is_named_beside_what_it_has() {
        let error = |text: &str| measure_run(&row(text), &run()).unwrap_err();
        let names = error("summary = 'links.muddle.utilization'");
        assert!(names.ends_with("at links.muddle.utilization; there are: middle, middle <-"), "{names}");
        let keys = error("summary = 'links.middle.utilisation'");
        assert!(keys.contains("; there are: ") && keys.contains("direction, drops"), "{keys}");
        let entities = error("series = { flow = 'user0', quantity = 'goodput' }");
        assert_eq!(entities, "the run has no goodput of a flow named user0; there are: user.0, user.1");
        let quantities = error("series = { flow = 'user.0', quantity = 'godput' }");
        assert_eq!(quantities, "the run has no godput of a flow named user.0; there are: goodput");
    }

    #[test]
    fn a_path_into_an_analysis_selects_by_keys_names_and_indices() {
        let analysis = serde_json::json!({
            "unique": false,
            "roots": [{ "growth_per_s": -0.25 }, { "growth_per_s": -1.0 }],
            "links": [{ "name": "L ->", "price": 0.02 }],
        });
        let paths = ["unique", "roots.1.growth_per_s", "links.L ->.price", "roots.*.growth_per_s"];
        let read = paths.map(|path| from_analysis(path, &analysis).unwrap());
        assert_eq!(read, [vec![0.0], vec![-1.0], vec![0.02], vec![-0.25, -1.0]]);
        let refused = TrialResult::Analysis(serde_json::json!({ "refused": "no loop" }).into());
        assert_eq!(measure(&row("answer = 'roots.0.growth_per_s'"), &refused), Err("no loop".into()));
        assert!(measure(&row("answer = 'unique'"), &TrialResult::Run(Box::new(run()))).is_err());
    }

    #[test]
    fn an_interval_contains_the_samples_after_its_start_up_to_its_end() {
        let of = |name: &str| format!("series = {{ flow = '{name}', quantity = 'goodput' }}");
        assert_eq!(measured(&format!("{}\nfrom = '2s'\nto = '4s'", of("user.0"))), 3.5);
        assert_eq!(measured(&format!("{}\nfrom = 2\nto = 4\ncombine = 'sum'", of("user.*"))), 14.0);
        assert_eq!(measured(&format!("{}\nstatistic = {{ reaches = 5 }}\nfrom = 2", of("user.0"))), 3.0);
        assert_eq!(measured(&format!("{}\nbin = 5\nstatistic = 'greatest'", of("user.0"))), 8.0);
        assert!(measure_run(&row(&format!("{}\nfrom = 20", of("user.0"))), &run()).is_err());
    }

    #[test]
    fn a_flow_without_samples_in_the_interval_is_not_part_of_the_mean() {
        let mut run = run();
        run.series[1].values = vec![f64::NAN; 10];
        let all = row("series = { flow = 'user.*', quantity = 'goodput' }\nfrom = 2\nto = 4");
        assert_eq!(measure_run(&all, &run), Ok(3.5));
    }

    #[test]
    fn a_series_with_over_is_divided_by_the_value_of_the_other_entity() {
        let text = "series = { flow = 'user.1', quantity = 'goodput' }\nover = { flow = 'user.0', quantity = 'goodput' }";
        assert_eq!(measured(text), 3.0);
        assert_eq!(measured(&format!("{text}\nstatistic = 'greatest'\nscale = 2")), 6.0);
    }

    #[test]
    fn a_deviation_is_the_distance_from_a_multiple_of_the_other_series() {
        let text = "deviation = { of = { flow = 'user.1', quantity = 'goodput' }, \
                    from = { flow = 'user.0', quantity = 'goodput' }, share = 2 }\nstatistic = 'greatest'";
        assert_eq!(measured(text), 10.0);
    }

    #[test]
    fn the_settling_time_is_that_of_the_last_sample_outside() {
        let samples: Vec<_> =
            [9.0, 5.0, 9.5, 10.5, 10.1].iter().zip(1..).map(|(&x, t)| (f64::from(t), x)).collect();
        assert_eq!(settling_time(&samples, 10.0, 0.06), 2.0);
        assert_eq!(settling_time(&samples, 10.0, 0.6), 0.0);
        assert_eq!(settling_time(&samples, 20.0, 0.1), f64::INFINITY);
    }
}
