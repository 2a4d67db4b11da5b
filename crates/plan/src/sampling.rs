//! Random values of each flow: start, stop, base round-trip time, sizes. Each comes from a stream named after the flow, so
//! that it is the same under every protocol, and another flow does not change it.

use millpond_law::Random;
use millpond_scenario::{Activity, FlowGroup, FlowStart, Gap, Lasting, Rtt, Size, Stop, Workload};
use millpond_units::{Bytes, Rate, Span, Time};
use std::ops::Range;

/// The name of the flow with this index in its group.
pub(super) fn flow_name(group: &FlowGroup, index: u32) -> String {
    if group.count == 1 { group.name.value.clone() } else { format!("{}.{index}", group.name.value) }
}

/// The values sampled for one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowSamples {
    pub(crate) start: Time,
    pub(crate) stop: Option<Time>,
    /// The base round-trip time, if the group specifies one.
    pub(crate) rtt: Option<Span>,
    /// Payload of a sized transfer.
    pub(crate) size: Option<Bytes>,
}

/// The samples of every flow of a group.
pub(super) fn flow_samples(group: &FlowGroup, seed: u64) -> Vec<FlowSamples> {
    let streams = |part: &str| {
        let stream = |index| Random::stream(seed, &format!("flow {} {part}", flow_name(group, index)));
        (0..group.count).map(stream).collect::<Vec<_>>()
    };
    let starts = times(&group.start, &mut streams("start"));
    let stops = stops(group.stop.as_ref(), &starts, &mut streams("stop"));
    let size = |mut random: Random| match &group.workload {
        Workload::Sized(size) => Some(bytes(size, &mut random)),
        _ => None,
    };
    let sizes = streams("size").into_iter().map(size);
    let rtts = streams("rtt").into_iter().map(|mut random| group.rtt.map(|rtt| self::rtt(rtt, &mut random)));
    let rows = starts.into_iter().zip(stops).zip(rtts).zip(sizes);
    rows.map(|(((start, stop), rtt), size)| FlowSamples { start, stop, rtt, size }).collect()
}

/// The start (or stop) times of the flows of a group.
fn times(start: &FlowStart, streams: &mut [Random]) -> Vec<Time> {
    let mut arrival = Time::ZERO;
    let mut time = |(index, random): (usize, &mut Random)| match start {
        FlowStart::At(time) => *time,
        FlowStart::Uniform(from, to) => *from + to.since(*from).scale(random.uniform()),
        FlowStart::Every { first, interval } => *first + *interval * index as u64,
        FlowStart::Poisson { first, mean } => {
            arrival = arrival.max(*first) + exponential(random, *mean);
            arrival
        }
    };
    streams.iter_mut().enumerate().map(&mut time).collect()
}

fn stops(stop: Option<&Stop>, starts: &[Time], streams: &mut [Random]) -> Vec<Option<Time>> {
    match stop {
        None => vec![None; starts.len()],
        Some(Stop::At(stop)) => times(stop, streams).into_iter().map(Some).collect(),
        Some(Stop::After(lasting)) => {
            let end = |(start, random): (&Time, &mut Random)| Some(*start + span(lasting, random));
            starts.iter().zip(streams).map(end).collect()
        }
    }
}

/// A sample of a duration.
pub(super) fn span(lasting: &Lasting, random: &mut Random) -> Span {
    match lasting {
        Lasting::Constant(span) => *span,
        Lasting::Uniform(least, most) => *least + most.saturating_sub(*least).scale(random.uniform()),
        Lasting::Exponential(mean) => exponential(random, *mean),
        Lasting::Pareto { mean, shape } => {
            Span::from_secs(random.pareto(*shape, mean.secs() * (shape - 1.0) / shape))
        }
    }
}

fn rtt(rtt: Rtt, random: &mut Random) -> Span {
    match rtt {
        Rtt::Constant(rtt) => rtt,
        Rtt::Uniform(least, most) => least + most.saturating_sub(least).scale(random.uniform()),
    }
}

fn exponential(random: &mut Random, mean: Span) -> Span {
    mean.scale(random.exponential(1.0))
}

/// At least one byte: an empty transfer would never be complete.
pub(super) fn bytes(size: &Size, random: &mut Random) -> Bytes {
    let bytes = match size {
        Size::Constant(size) => *size,
        Size::Uniform(least, most) => {
            let width = most.saturating_sub(*least).as_f64();
            *least + Bytes::from_f64(width * random.uniform())
        }
        Size::Exponential(mean) => Bytes::from_f64(random.exponential(mean.as_f64())),
        Size::Pareto { mean, shape } => {
            Bytes::from_f64(random.pareto(*shape, mean.as_f64() * (shape - 1.0) / shape))
        }
        Size::ParetoFrom { least, shape } => Bytes::from_f64(random.pareto(*shape, least.as_f64())),
        Size::Lognormal { median, sigma, within } => lognormal(*median, *sigma, *within, random),
        Size::Table(table) => table.quantile(random.uniform()),
    };
    bytes.max(Bytes::new(1))
}

/// A lognormal size between bounds, which at least one in a hundred samples is. After so many others it is taken at a bound.
fn lognormal(median: Bytes, sigma: f64, (least, most): (Bytes, Bytes), random: &mut Random) -> Bytes {
    const MOST_SAMPLES: usize = 10_000;
    let mut sample = || Bytes::from_f64(random.lognormal(median.as_f64(), sigma));
    let first = sample();
    let mut samples = std::iter::once(first).chain(std::iter::repeat_with(sample)).take(MOST_SAMPLES);
    samples.find(|size| (least..=most).contains(size)).unwrap_or_else(|| first.clamp(least, most))
}

/// The name of a flow's random streams.
#[derive(Clone, Copy)]
pub(super) struct FlowStream<'a> {
    pub(super) seed: u64,
    pub(super) flow: &'a str,
}

impl FlowStream<'_> {
    pub(super) fn part(self, part: &str) -> Random {
        Random::stream(self.seed, &format!("flow {} {part}", self.flow))
    }
}

/// The transfers of a source in the order of arrival, as time and size; each is sampled after the one before.
pub(super) fn arrivals(
    stream: FlowStream<'_>,
    size: &Size,
    gap: Gap,
    activity: Range<Time>,
) -> impl Iterator<Item = (Time, Bytes)> + Send + use<> {
    let (mut gaps, mut sizes, size) = (stream.part("arrivals"), stream.part("size"), size.clone());
    let Range { start, end } = activity;
    let mut next = move || match gap {
        Gap::Every(span) => span,
        Gap::Poisson(mean) => exponential(&mut gaps, mean),
    };
    let first = if matches!(gap, Gap::Every(_)) { start } else { start + next() };
    let times = std::iter::successors(Some(first), move |time| Some(*time + next()));
    times.take_while(move |time| *time < end).map(move |time| (time, bytes(&size, &mut sizes)))
}

/// The rate at which an application produces data, as steps from time zero on.
pub(super) fn production(
    stream: FlowStream<'_>,
    rate: Rate,
    activity: &Activity,
    active: Range<Time>,
) -> Vec<(Time, Rate)> {
    let Range { start, end } = active;
    let mut steps = vec![(Time::ZERO, Rate::ZERO)];
    match activity {
        Activity::Always => step(&mut steps, Time::ZERO, rate),
        Activity::Bursts(bursts) => {
            for (from, until) in bursts {
                step(&mut steps, end.min(*from), rate);
                step(&mut steps, end.min(*until), Rate::ZERO);
            }
        }
        Activity::Turns { on, off } => {
            let (mut time, mut ons, mut offs) = (start, stream.part("on"), stream.part("off"));
            while time < end {
                step(&mut steps, time, rate);
                time += span(on, &mut ons);
                step(&mut steps, end.min(time), Rate::ZERO);
                time += span(off, &mut offs);
            }
        }
    }
    steps
}

/// Appends a step to `rate` at `time`, which is not before the last step; steps that change nothing are left out.
fn step(steps: &mut Vec<(Time, Rate)>, time: Time, rate: Rate) {
    steps.pop_if(|(last, _)| *last == time);
    if steps.last().is_none_or(|(_, last)| *last != rate) {
        steps.push((time, rate));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOWS: usize = 20_000;
    const MICE: FlowStream<'_> = FlowStream { seed: 1, flow: "mice" };

    fn streams() -> Vec<Random> {
        (0..FLOWS).map(|i| Random::stream(1, &format!("flow {i}"))).collect()
    }

    fn mean(values: impl Iterator<Item = f64>) -> f64 {
        values.sum::<f64>() / FLOWS as f64
    }

    #[test]
    fn regular_starts_are_exact() {
        let start = FlowStart::Every { first: Time::from_secs(1.0), interval: Span::from_millis(250) };
        let sampled = times(&start, &mut streams());
        assert_eq!(sampled[..3], [1.0, 1.25, 1.5].map(Time::from_secs));
    }

    #[test]
    fn uniform_starts_stay_in_their_range_and_have_its_middle_as_mean() {
        let (low, high) = (Time::from_secs(2.0), Time::from_secs(6.0));
        let sampled = times(&FlowStart::Uniform(low, high), &mut streams());
        assert!(sampled.iter().all(|time| (low..high).contains(time)));
        // Five standard errors: 4 / sqrt(12 n).
        assert!((mean(sampled.iter().map(|time| time.secs())) - 4.0).abs() < 0.041);
    }

    #[test]
    fn poisson_arrivals_ascend_and_their_gaps_have_the_mean() {
        let start = FlowStart::Poisson { first: Time::from_secs(3.0), mean: Span::from_millis(10) };
        let sampled = times(&start, &mut streams());
        assert!(sampled[0] > Time::from_secs(3.0) && sampled.is_sorted());
        let last = sampled[FLOWS - 1].since(Time::from_secs(3.0)).secs();
        // Five standard errors of a sum of exponentials: 0.01 sqrt(n).
        assert!((last - 200.0).abs() < 7.1, "{last}");
    }

    #[test]
    fn sizes_have_the_specified_mean() {
        let average = |size: Size| mean(streams().iter_mut().map(|random| bytes(&size, random).as_f64()));
        let mean = Bytes::new(100_000);
        assert_eq!(average(Size::Constant(mean)), 100_000.0);
        assert!((average(Size::Uniform(Bytes::new(50_000), Bytes::new(150_000))) / 1e5 - 1.0).abs() < 0.011);
        assert!((average(Size::Exponential(mean)) / 1e5 - 1.0).abs() < 0.036);
        // Shape 3: standard deviation is mean / sqrt(3).
        assert!((average(Size::Pareto { mean, shape: 3.0 }) / 1e5 - 1.0).abs() < 0.021);
        let from = Size::ParetoFrom { least: Bytes::new(60_000), shape: 3.0 };
        assert!((average(from.clone()) / from.mean().as_f64() - 1.0).abs() < 0.021);
        assert_eq!(from.mean(), Bytes::new(90_000));
        // Half of the sizes are sampled again; none is left that is out of bounds.
        let within = (mean, Bytes::new(1_000_000));
        let bounded = Size::Lognormal { median: mean, sigma: 0.5, within };
        assert!((average(bounded.clone()) / bounded.mean().as_f64() - 1.0).abs() < 0.015);
        assert!(streams().iter_mut().all(|random| bytes(&bounded, random) >= mean));
    }

    /// Kolmogorov's distance between a sample and a distribution function.
    fn distance(mut sample: Vec<f64>, below: impl Fn(f64) -> f64) -> f64 {
        sample.sort_by(f64::total_cmp);
        let n = sample.len() as f64;
        let of = |(i, x): (usize, &f64)| (below(*x) - i as f64 / n).max((i + 1) as f64 / n - below(*x));
        sample.iter().enumerate().map(of).fold(0.0, f64::max)
    }

    /// The distance that one in a million samples of size `n` exceeds: `sqrt(ln(2/p) / 2n)` (Dvoretzky, Kiefer, Wolfowitz;
    /// Massart).
    fn bound(n: usize) -> f64 {
        libm::sqrt(libm::log(2e6) / (2.0 * n as f64))
    }

    fn mice(gap: Gap, size: &Size) -> Vec<(Time, Bytes)> {
        let end = Time::from_secs(1005.0);
        arrivals(MICE, size, gap, Time::from_secs(5.0)..end).collect()
    }

    #[test]
    fn transfers_arrive_as_a_poisson_process_at_its_rate() {
        let sampled = mice(Gap::Poisson(Span::from_millis(50)), &Size::Constant(Bytes::new(1)));
        // 1000 s at 20 a second: five standard deviations of a Poisson count.
        assert!(sampled.len().abs_diff(20_000) < 5 * 142, "{}", sampled.len());
        let times: Vec<f64> =
            std::iter::once(5.0).chain(sampled.iter().map(|(time, _)| time.secs())).collect();
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let far = distance(gaps, |gap| -libm::expm1(-gap / 0.05));
        assert!(far < bound(sampled.len()), "{far}");
        // The variance of the counts per second equals their mean.
        let mut counts = vec![0.0; 1000];
        times[1..].iter().for_each(|time| counts[(time - 5.0) as usize] += 1.0);
        let mean = counts.iter().sum::<f64>() / 1000.0;
        let variance = counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / 999.0;
        // The ratio's standard deviation is sqrt(2 / 999).
        assert!((variance / mean - 1.0).abs() < 5.0 * 0.0448, "{}", variance / mean);
    }

    #[test]
    fn sizes_of_transfers_have_the_tail_of_their_pareto_distribution() {
        for shape in [1.2, 1.35] {
            for (size, least) in [
                (Size::ParetoFrom { least: Bytes::new(4_000_000), shape }, 4e6),
                // The least of a mean: mean (shape - 1) / shape.
                (Size::Pareto { mean: Bytes::new(30_000_000), shape }, 3e7 * (shape - 1.0) / shape),
            ] {
                let sampled = mice(Gap::Every(Span::from_millis(50)), &size);
                let sizes: Vec<f64> = sampled.iter().map(|(_, size)| size.as_f64()).collect();
                assert_eq!(sizes.len(), 20_000);
                let far = distance(sizes, |size| 1.0 - libm::pow(least / size, shape).min(1.0));
                assert!(far < bound(20_000), "{far} for shape {shape}");
            }
        }
    }

    #[test]
    fn regular_arrivals_begin_at_the_start_and_end_before_the_end() {
        let sampled = mice(Gap::Every(Span::from_secs(300.0)), &Size::Constant(Bytes::new(7)));
        let times = [5.0, 305.0, 605.0, 905.0].map(|time| (Time::from_secs(time), Bytes::new(7)));
        assert_eq!(sampled, times);
        let within = mice(Gap::Every(Span::from_secs(500.0)), &Size::Constant(Bytes::new(7)));
        assert_eq!(within.last().map(|(time, _)| *time), Some(Time::from_secs(505.0)));
    }

    #[test]
    fn an_application_is_active_for_its_share_of_the_time() {
        let rate = Rate::from_mbps(5.0);
        let seconds = Span::from_secs;
        let on_share = |on, off| {
            let end = Time::from_secs(20_000.0);
            let turns = Activity::Turns { on, off };
            let steps = production(MICE, rate, &turns, Time::from_secs(0.5)..end);
            assert!(steps.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1));
            assert_eq!(steps[..2], [(Time::ZERO, Rate::ZERO), (Time::from_secs(0.5), rate)]);
            let on = steps.windows(2).filter(|pair| pair[0].1 == rate);
            on.map(|pair| pair[1].0.since(pair[0].0).secs()).sum::<f64>() / 20_000.0
        };
        let share = on_share(Lasting::Constant(seconds(1.0)), Lasting::Constant(seconds(3.0)));
        assert!((share - 0.25).abs() < 1e-4);
        // 5000 turns; the share of an alternating renewal process scatters by p (1-p) sqrt((v_on + v_off) / n), where v
        // is the square of the coefficient of variation: 1, and for Pareto of shape 3 it is 1/3.
        let share = on_share(Lasting::Exponential(seconds(1.0)), Lasting::Exponential(seconds(3.0)));
        assert!((share - 0.25).abs() < 5.0 * 0.0053, "{share}");
        let pareto = |mean| Lasting::Pareto { mean: seconds(mean), shape: 3.0 };
        let share = on_share(pareto(1.0), pareto(3.0));
        assert!((share - 0.25).abs() < 5.0 * 0.0031, "{share}");
    }

    #[test]
    fn bursts_are_at_the_specified_times() {
        let at = Time::from_secs;
        let rate = Rate::from_mbps(5.0);
        let steps = |bursts: &[(f64, f64)]| {
            let bursts = bursts.iter().map(|(from, until)| (at(*from), at(*until))).collect();
            production(MICE, rate, &Activity::Bursts(bursts), at(0.0)..at(9.0))
        };
        assert_eq!(steps(&[(0.0, 1.0)]), [(at(0.0), rate), (at(1.0), Rate::ZERO)]);
        let off = Rate::ZERO;
        let two = [(at(0.0), off), (at(1.0), rate), (at(2.0), off), (at(4.0), rate), (at(5.0), off)];
        assert_eq!(steps(&[(1.0, 2.0), (4.0, 5.0)]), two);
    }
}
