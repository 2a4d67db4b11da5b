//! When each flow starts and stops and how much it sends: drawn from streams that bear the flow's name alone, so
//! that the draws are the same under every protocol, and a flow more does not change those of the others.

use millpond_law::Random;
use millpond_scenario::{FlowGroup, Lasting, Size, Start, Stop, Workload};
use millpond_units::{Bytes, Span, Time};

/// The name of the flow with this index in its group.
pub(super) fn flow_name(group: &FlowGroup, index: u32) -> String {
    if group.count == 1 { group.name.value.clone() } else { format!("{}.{index}", group.name.value) }
}

/// What was drawn for one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Draw {
    pub(super) start: Time,
    pub(super) stop: Option<Time>,
    /// Payload of a sized transfer.
    pub(super) size: Option<Bytes>,
}

/// The draws of every flow of a group.
pub(super) fn draws(group: &FlowGroup, seed: u64) -> Vec<Draw> {
    let streams = |part: &str| {
        let stream = |index| Random::stream(seed, &format!("flow {} {part}", flow_name(group, index)));
        (0..group.count).map(stream).collect::<Vec<_>>()
    };
    let starts = times(&group.start, &mut streams("start"));
    let stops = stops(group.stop.as_ref(), &starts, &mut streams("stop"));
    let sizes = streams("size").into_iter().map(|mut random| size(&group.workload, &mut random));
    let rows = starts.into_iter().zip(stops).zip(sizes);
    rows.map(|((start, stop), size)| Draw { start, stop, size }).collect()
}

fn times(start: &Start, streams: &mut [Random]) -> Vec<Time> {
    let mut arrival = Time::ZERO;
    let mut time = |(index, random): (usize, &mut Random)| match start {
        Start::At(time) => *time,
        Start::Uniform(from, to) => *from + to.since(*from).scale(random.uniform()),
        Start::Every { first, interval } => *first + *interval * index as u64,
        Start::Poisson { first, mean } => {
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

fn span(lasting: &Lasting, random: &mut Random) -> Span {
    match lasting {
        Lasting::Constant(span) => *span,
        Lasting::Uniform(least, most) => *least + most.saturating_sub(*least).scale(random.uniform()),
        Lasting::Exponential(mean) => exponential(random, *mean),
    }
}

fn exponential(random: &mut Random, mean: Span) -> Span {
    mean.scale(random.exponential(1.0))
}

/// At least one byte: an empty transfer would never be complete.
fn size(workload: &Workload, random: &mut Random) -> Option<Bytes> {
    let Workload::Sized(size) = workload else { return None };
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
    };
    Some(bytes.max(Bytes::new(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOWS: usize = 20_000;

    fn streams() -> Vec<Random> {
        (0..FLOWS).map(|i| Random::stream(1, &format!("flow {i}"))).collect()
    }

    fn mean(values: impl Iterator<Item = f64>) -> f64 {
        values.sum::<f64>() / FLOWS as f64
    }

    #[test]
    fn starts_every_so_often_are_exact() {
        let start = Start::Every { first: Time::from_secs(1.0), interval: Span::from_millis(250) };
        let drawn = times(&start, &mut streams());
        assert_eq!(drawn[..3], [1.0, 1.25, 1.5].map(Time::from_secs));
    }

    #[test]
    fn uniform_starts_stay_in_their_range_and_average_its_middle() {
        let (low, high) = (Time::from_secs(2.0), Time::from_secs(6.0));
        let drawn = times(&Start::Uniform(low, high), &mut streams());
        assert!(drawn.iter().all(|time| (low..high).contains(time)));
        // Five standard errors: 4 / sqrt(12 n).
        assert!((mean(drawn.iter().map(|time| time.secs())) - 4.0).abs() < 0.041);
    }

    #[test]
    fn poisson_arrivals_ascend_and_their_gaps_have_the_mean() {
        let start = Start::Poisson { first: Time::from_secs(3.0), mean: Span::from_millis(10) };
        let drawn = times(&start, &mut streams());
        assert!(drawn[0] > Time::from_secs(3.0) && drawn.is_sorted());
        let last = drawn[FLOWS - 1].since(Time::from_secs(3.0)).secs();
        // Five standard errors of a sum of exponentials: 0.01 sqrt(n).
        assert!((last - 200.0).abs() < 7.1, "{last}");
    }

    #[test]
    fn sizes_have_the_mean_they_are_given() {
        let average = |size: Size| {
            let workload = Workload::Sized(size);
            mean(streams().iter_mut().filter_map(|random| super::size(&workload, random)).map(Bytes::as_f64))
        };
        let mean = Bytes::new(100_000);
        assert_eq!(average(Size::Constant(mean)), 100_000.0);
        assert!((average(Size::Uniform(Bytes::new(50_000), Bytes::new(150_000))) / 1e5 - 1.0).abs() < 0.011);
        assert!((average(Size::Exponential(mean)) / 1e5 - 1.0).abs() < 0.036);
        // Shape 3: standard deviation is mean / sqrt(3).
        assert!((average(Size::Pareto { mean, shape: 3.0 }) / 1e5 - 1.0).abs() < 0.021);
    }
}
