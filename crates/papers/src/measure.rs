//! From a run to the one number that a row is about.

use super::execute::Ended;
use super::expect::{Combine, Entity, Expectation, Statistic};
use super::time_or_step::Instant;
use millpond_results::{EntityKind, Run, Series};
use millpond_stats::{
    coefficient_of_variation, maximum, mean, minimum, quantile_of_curve, quantile_of_sorted,
    standard_deviation,
};
use serde_json::Value;

/// The number that a row asks for, in the row's unit, or why there is none.
pub fn measure(row: &Expectation, ended: &Ended) -> Result<f64, String> {
    match (ended, &row.answer) {
        (Ended::Run(run), None) => measure_run(row, run),
        (Ended::Answer(answer), Some(path)) => {
            Ok(combine(row.combine, &from_answer(path, &answer.value)?) * row.scale)
        }
        (Ended::Run(_), Some(_)) => Err("an answer is asked of a case that is run".into()),
        (Ended::Answer(_), None) => Err("a run is asked of a case that is analysed".into()),
    }
}

fn measure_run(row: &Expectation, run: &Run) -> Result<f64, String> {
    let over = match &row.over {
        None => 1.0,
        Some(other) => combined(&Expectation { series: Some(other.clone()), ..row.clone() }, run)?,
    };
    Ok(combined(row, run)? / over * row.scale)
}

/// What is taken of all that the row looks at.
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

/// Every number at a path whose members are keys, list items by their `name` (else their index), or `*`.
fn from_summary(path: &str, run: &Run) -> Result<Vec<f64>, String> {
    let summary = serde_json::to_value(&run.summary).map_err(|fault| fault.to_string())?;
    let mut numbers = Vec::new();
    collect(&summary, path, &mut numbers);
    if numbers.is_empty() { Err(format!("the summary has no number at {path}")) } else { Ok(numbers) }
}

/// Every number at a path into an answer, or why there is none.
fn from_answer(path: &str, answer: &Value) -> Result<Vec<f64>, String> {
    let mut numbers = Vec::new();
    collect(answer, path, &mut numbers);
    let why = || match answer.get("refused").and_then(Value::as_str) {
        Some(refused) => refused.to_owned(),
        None => format!("the answer has no number at {path}"),
    };
    if numbers.is_empty() { Err(why()) } else { Ok(numbers) }
}

fn collect(value: &Value, path: &str, numbers: &mut Vec<f64>) {
    match value {
        Value::Object(fields) => {
            let (key, rest) = path.split_once('.').unwrap_or((path, ""));
            fields.get(key).into_iter().for_each(|value| collect(value, rest, numbers));
        }
        Value::Array(items) => items.iter().zip(names(items)).for_each(|(item, name)| {
            if let Some(rest) = after_name(path, &name) {
                collect(item, rest, numbers);
            }
        }),
        Value::Bool(holds) => numbers.extend(path.is_empty().then_some(f64::from(u8::from(*holds)))),
        value => numbers.extend(value.as_f64().filter(|_| path.is_empty())),
    }
}

/// What follows the name in a path; the name itself may hold dots.
fn after_name<'a>(path: &'a str, name: &str) -> Option<&'a str> {
    path.match_indices('.').find(|&(dot, _)| glob(&path[..dot], name)).map(|(dot, _)| &path[dot + 1..])
}

/// The names of list items, their indices if they have none. Both directions of a link carry its name: the second is
/// called `name <-`.
fn names(items: &[Value]) -> Vec<String> {
    let plain = |(index, item): (usize, &Value)| {
        item.get("name").and_then(Value::as_str).map_or_else(|| index.to_string(), str::to_owned)
    };
    let plain: Vec<String> = items.iter().enumerate().map(plain).collect();
    let again = |(i, name): (usize, &String)| {
        if plain[..i].contains(name) { format!("{name} <-") } else { name.clone() }
    };
    plain.iter().enumerate().map(again).collect()
}

fn from_distributions(entity: &Entity, statistic: Statistic, run: &Run) -> Result<Vec<f64>, String> {
    let (kind, pattern) = entity.named()?;
    let wanted = run
        .distributions
        .iter()
        .filter(|d| d.kind == kind && d.quantity == entity.quantity && glob(pattern, &d.entity));
    let at_share = |points: &[(f64, f64)], share| quantile_of_curve(points, share).unwrap_or(f64::NAN);
    let values: Vec<f64> = wanted
        .map(|d| match statistic {
            Statistic::Between(low, high) => at_share(&d.points, high) - at_share(&d.points, low),
            Statistic::Quantile(share) => at_share(&d.points, share),
            _ => f64::NAN,
        })
        .collect();
    if values.is_empty() { Err(missing(kind, pattern, &entity.quantity)) } else { Ok(values) }
}

fn missing(kind: EntityKind, pattern: &str, quantity: &str) -> String {
    format!("the run has no {quantity} of a {} named {pattern}", kind.name())
}

/// Times and values that a row looks at, one row of samples per entity.
fn samples(row: &Expectation, run: &Run) -> Result<Vec<Vec<(f64, f64)>>, String> {
    let raw = match (&row.series, &row.deviation) {
        (Some(entity), _) => find(entity, run)?.into_iter().map(points).collect(),
        (None, Some(deviation)) => {
            let reference = find(&deviation.from, run)?;
            let reference = reference.first().map_or_else(Vec::new, |series| points(series));
            let of = find(&deviation.of, run)?;
            of.into_iter().map(|series| distance(&points(series), &reference, deviation.share)).collect()
        }
        (None, None) => Vec::new(),
    };
    // A flow that has not begun, or has left, has no say.
    let here = |samples: &Vec<_>| Some(cut(samples, row.from, row.to, row.bin)).filter(|cut| !cut.is_empty());
    let rows: Vec<Vec<_>> = raw.iter().filter_map(here).collect();
    if rows.is_empty() { Err("no sample lies in this window".into()) } else { Ok(rows) }
}

fn find<'a>(entity: &Entity, run: &'a Run) -> Result<Vec<&'a Series>, String> {
    let (kind, pattern) = entity.named()?;
    let wanted = |s: &&Series| s.kind == kind && s.quantity == entity.quantity && glob(pattern, &s.entity);
    let found: Vec<_> = run.series.iter().filter(wanted).collect();
    if found.is_empty() { Err(missing(kind, pattern, &entity.quantity)) } else { Ok(found) }
}

fn points(series: &Series) -> Vec<(f64, f64)> {
    series.times.iter().copied().zip(series.values.iter().copied()).collect()
}

/// Sample by sample, where both have one.
fn distance(of: &[(f64, f64)], from: &[(f64, f64)], share: f64) -> Vec<(f64, f64)> {
    let beside = |time: f64| {
        let at = from.partition_point(|sample| sample.0 < time);
        from.get(at).filter(|sample| sample.0 == time).map(|sample| sample.1)
    };
    of.iter().filter_map(|&(time, a)| beside(time).map(|b| (time, (a - share * b).abs()))).collect()
}

/// The samples of a window without gaps, averaged over bins if asked. A sample's time ends the interval that it
/// tells about, so the window is open on the left, except that step 0 belongs to a window from 0.
fn cut(
    samples: &[(f64, f64)],
    from: Option<Instant>,
    to: Option<Instant>,
    bin: Option<Instant>,
) -> Vec<(f64, f64)> {
    let from = from.map_or(0.0, |instant| instant.0);
    let to = to.map_or(f64::INFINITY, |instant| instant.0);
    let slack = 1e-9;
    let inside = |&&(time, value): &&(f64, f64)| {
        (time > from + slack || from == 0.0) && time <= to + slack && !value.is_nan()
    };
    let kept: Vec<_> = samples.iter().filter(inside).map(|&(time, value)| (time - from, value)).collect();
    bin.map_or_else(|| kept.clone(), |bin| binned(&kept, bin.0))
}

/// Means over whole bins, each with the time at which its bin ends.
fn binned(samples: &[(f64, f64)], bin: f64) -> Vec<(f64, f64)> {
    let index = |time: f64| libm::ceil(time / bin - 1e-6) as i64;
    let same = |a: &(f64, f64), b: &(f64, f64)| index(a.0) == index(b.0);
    let middle = |chunk: &[(f64, f64)]| {
        let values: Vec<f64> = chunk.iter().map(|sample| sample.1).collect();
        (index(chunk[0].0) as f64 * bin, mean(&values))
    };
    samples.chunk_by(same).map(middle).collect()
}

fn statistic(row: &Expectation, samples: &[(f64, f64)]) -> Result<f64, String> {
    let values: Vec<f64> = samples.iter().map(|sample| sample.1).collect();
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let at = |share| quantile_of_sorted(&sorted, share).ok_or("no sample lies in this window");
    Ok(match row.statistic {
        Statistic::Mean => mean(&values),
        Statistic::Sd => standard_deviation(&values),
        Statistic::Cv => coefficient_of_variation(&values),
        Statistic::Least => combine(Combine::Least, &values),
        Statistic::Greatest => combine(Combine::Greatest, &values),
        Statistic::Last => values.last().copied().unwrap_or(f64::NAN),
        Statistic::Quantile(share) => at(share)?,
        Statistic::Between(low, high) => at(high)? - at(low)?,
        Statistic::Reaches(level) => {
            samples.iter().find(|sample| sample.1 >= level).map_or(f64::INFINITY, |sample| sample.0)
        }
        Statistic::Settles { at, within } => settles(samples, at, within),
    })
}

/// The time after which every sample stays within a fraction of `at`; infinite if the last one is outside.
fn settles(samples: &[(f64, f64)], at: f64, within: f64) -> f64 {
    let outside = |sample: &(f64, f64)| (sample.1 - at).abs() > within * at.abs();
    match samples.iter().rposition(outside) {
        None => 0.0,
        Some(last) if last + 1 == samples.len() => f64::INFINITY,
        Some(last) => samples[last].0,
    }
}

/// Does a name match a pattern in which `*` stands for anything?
fn glob(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => name
            .strip_prefix(head)
            .is_some_and(|rest| (0..=rest.len()).any(|i| rest.get(i..).is_some_and(|rest| glob(tail, rest)))),
    }
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
        let rest = "what = 'x'\npaper = 'y'\naccept = [0, 1]\nbecause = 'z'";
        toml::from_str(&format!("{text}\n{rest}")).unwrap()
    }

    fn measured(text: &str) -> f64 {
        measure_run(&row(text), &run()).unwrap()
    }

    #[test]
    fn a_path_into_the_summary_names_list_items_and_combines_several() {
        assert_eq!(measured("summary = 'flows.*.goodput_bps'"), 20.0);
        assert_eq!(measured("summary = 'flows.user.1.goodput_bps'\ncombine = 'sum'").to_string(), "30");
        assert_eq!(measured("summary = 'links.middle.utilization'"), 0.75);
        assert_eq!(combine(Combine::Farthest, &[0.1, -0.3, 0.2]), -0.3);
        assert_eq!(measured("summary = 'links.middle <-.utilization'"), 0.25);
        assert!(measure_run(&row("summary = 'links.muddle.utilization'"), &run()).is_err());
    }

    #[test]
    fn an_answer_is_read_by_keys_names_and_places() {
        let answer = serde_json::json!({
            "unique": false,
            "roots": [{ "growth_per_s": -0.25 }, { "growth_per_s": -1.0 }],
            "links": [{ "name": "L ->", "price": 0.02 }],
        });
        let paths = ["unique", "roots.1.growth_per_s", "links.L ->.price", "roots.*.growth_per_s"];
        let read = paths.map(|path| from_answer(path, &answer).unwrap());
        assert_eq!(read, [vec![0.0], vec![-1.0], vec![0.02], vec![-0.25, -1.0]]);
        let refused = Ended::Answer(serde_json::json!({ "refused": "no loop" }).into());
        assert_eq!(measure(&row("answer = 'roots.0.growth_per_s'"), &refused), Err("no loop".into()));
        assert!(measure(&row("answer = 'unique'"), &Ended::Run(Box::new(run()))).is_err());
    }

    #[test]
    fn a_window_holds_the_samples_that_end_after_its_start_and_by_its_end() {
        let of = |name: &str| format!("series = {{ flow = '{name}', quantity = 'goodput' }}");
        assert_eq!(measured(&format!("{}\nfrom = '2s'\nto = '4s'", of("user.0"))), 3.5);
        assert_eq!(measured(&format!("{}\nfrom = 2\nto = 4\ncombine = 'sum'", of("user.*"))), 14.0);
        assert_eq!(measured(&format!("{}\nstatistic = {{ reaches = 5 }}\nfrom = 2", of("user.0"))), 3.0);
        assert_eq!(measured(&format!("{}\nbin = 5\nstatistic = 'greatest'", of("user.0"))), 8.0);
        assert!(measure_run(&row(&format!("{}\nfrom = 20", of("user.0"))), &run()).is_err());
    }

    #[test]
    fn a_flow_that_is_not_there_in_a_window_has_no_say_in_the_mean() {
        let mut run = run();
        run.series[1].values = vec![f64::NAN; 10];
        let all = row("series = { flow = 'user.*', quantity = 'goodput' }\nfrom = 2\nto = 4");
        assert_eq!(measure_run(&all, &run), Ok(3.5));
    }

    #[test]
    fn a_quantity_over_that_of_another_entity_is_divided_by_the_same_of_it() {
        let text = "series = { flow = 'user.1', quantity = 'goodput' }\nover = { flow = 'user.0', quantity = 'goodput' }";
        assert_eq!(measured(text), 3.0);
        assert_eq!(measured(&format!("{text}\nstatistic = 'greatest'\nscale = 2")), 6.0);
    }

    #[test]
    fn the_deviation_is_the_distance_from_a_share_of_the_other_series() {
        let text = "deviation = { of = { flow = 'user.1', quantity = 'goodput' }, \
                    from = { flow = 'user.0', quantity = 'goodput' }, share = 2 }\nstatistic = 'greatest'";
        assert_eq!(measured(text), 10.0);
    }

    #[test]
    fn settling_counts_from_the_last_sample_outside() {
        let samples: Vec<_> =
            [9.0, 5.0, 9.5, 10.5, 10.1].iter().zip(1..).map(|(&x, t)| (f64::from(t), x)).collect();
        assert_eq!(settles(&samples, 10.0, 0.06), 2.0);
        assert_eq!(settles(&samples, 10.0, 0.6), 0.0);
        assert_eq!(settles(&samples, 20.0, 0.1), f64::INFINITY);
    }

    #[test]
    fn a_star_in_a_name_stands_for_anything() {
        assert!(glob("user.*/loop2", "user.13/loop2") && glob("*", "") && glob("a", "a"));
        assert!(!glob("user.*/loop2", "user.13/loop1") && !glob("a", "ab"));
    }
}
