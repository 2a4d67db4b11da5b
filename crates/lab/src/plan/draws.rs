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
