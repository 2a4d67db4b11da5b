//! The results of a link.

use crate::linux::emulator::{Emulator, Lane};
use millpond_results::{EmulatedDirection, EmulatedLink, Lateness, Machine, Milliseconds};
use millpond_stats::Histogram;
use millpond_units::Time;

/// The results until `until`. `overruns`: packets that the devices inside and outside dropped. Version, command, seed, exit
/// code, priority and the delays of the link are left to the caller.
pub(crate) fn summary(emulator: &Emulator, until: Time, overruns: [u64; 2]) -> EmulatedLink {
    let [down, up] = &emulator.lanes;
    let seconds = until.since(Time::ZERO).secs();
    let mut lateness = down.lateness.clone();
    lateness.merge(&up.lateness);
    EmulatedLink {
        duration_s: seconds,
        machine: machine(&lateness, emulator.processor_share()),
        directions: vec![
            direction("down", down, until, overruns[1]),
            direction("up", up, until, overruns[0]),
        ],
        ..EmulatedLink::default()
    }
}

/// The machine, of which a thread has used this share of a processor. The priority is left to the caller.
pub(crate) fn machine(late: &Histogram, processor_share: f64) -> Machine {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    Machine {
        real_time: false,
        load: load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0),
        processors: std::thread::available_parallelism().map_or(1, |number| number.get() as u64),
        processor_share,
        lateness_us: lateness(late),
    }
}

/// The distribution of delays in picoseconds; none without a value.
pub(crate) fn lateness(late: &Histogram) -> Option<Lateness> {
    let micros = |picos: u64| picos as f64 / 1e6;
    let quantile = |share| micros(late.quantile(share));
    (late.total() > 0).then(|| Lateness {
        p50: quantile(0.5),
        p99: quantile(0.99),
        p99_9: quantile(0.999),
        max: micros(late.max()),
    })
}

/// The capacity of a link without a limit, less a rounding error.
const UNLIMITED_BPS: f64 = 0.99e14;

fn direction(name: &str, lane: &Lane, until: Time, overrun: u64) -> EmulatedDirection {
    let (view, seconds) = (lane.direction.view(), until.since(Time::ZERO).secs().max(1e-9));
    let (totals, capacity) = (view.totals(), view.capacity_bits(Time::ZERO, until) as f64);
    let bits = totals.served_bytes as f64 * 8.0;
    // Whole bits of a short time are less than a constant rate.
    let mean_bps = view.constant_rate().map_or(capacity / seconds, |rate| rate.as_f64());
    let limited_bps = Some(mean_bps).filter(|bps| *bps < UNLIMITED_BPS);
    EmulatedDirection {
        name: name.to_owned(),
        capacity_bps: limited_bps,
        rate_bps: bits / seconds,
        utilization: limited_bps.map(|_| if capacity > 0.0 { bits / capacity } else { 0.0 }),
        packets: totals.arrivals,
        delivered: lane.delivered,
        bytes: totals.served_bytes,
        flows: lane.direction.flows() as u64,
        queueing_ms: milliseconds(&view.queueing_delays()),
        marks: totals.marks,
        law_drops: totals.law_drops,
        buffer_drops: totals.buffer_drops,
        losses: totals.wire_losses,
        left: lane.direction.packets() as u64,
        overrun,
        refused: lane.refused,
        ignored: lane.direction.ignored(),
        lateness_us: lateness(&lane.lateness),
        ..EmulatedDirection::default()
    }
}

/// The distribution of delays in picoseconds; none without a value.
fn milliseconds(delays: &Histogram) -> Option<Milliseconds> {
    let quantile = |share| delays.quantile(share);
    (delays.total() > 0)
        .then(|| Milliseconds::of_picoseconds(delays.min(), delays.mean(), delays.max(), quantile))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::emulator::tests::link;

    #[test]
    fn packets_dropped_by_a_device_belong_to_the_direction_that_it_feeds() {
        let (emulator, _ends) = link(None);
        // 3 inside, where packets from the command wait, and 5 outside.
        let found = summary(&emulator, Time::from_secs(1.0), [3, 5]);
        let overruns: Vec<_> = found.directions.iter().map(|one| (one.name.as_str(), one.overrun)).collect();
        assert_eq!(overruns, [("down", 5), ("up", 3)]);
    }

    #[test]
    fn lateness_has_its_quantiles_in_microseconds() {
        let mut late = Histogram::of_delays();
        (1..=1000).for_each(|micros: u64| late.add(micros * 1_000_000, 1));
        let found = lateness(&late).unwrap();
        for (found, expected) in
            [(found.p50, 500.0), (found.p99, 990.0), (found.p99_9, 999.0), (found.max, 1000.0)]
        {
            assert!((found / expected - 1.0).abs() < 0.02, "{found} us, expected {expected}");
        }
    }
}
