//! Synthetic runs, computed by formulas instead of a simulation.

use millpond_results::{
    Distribution, EntityKind, Fairness, Flow, Group, Link, Milliseconds, Packets, Relay, Run, Series,
    Summary, Times, quantity,
};

/// The behaviour of a synthetic protocol.
pub(crate) struct Behaviour {
    pub(crate) name: &'static str,
    /// Share of the capacity it uses.
    pub(crate) utilization: f64,
    /// Its typical queueing delay, in ms.
    pub(crate) delay_ms: f64,
    /// Relative amplitude of the delay, 0 to 1.
    pub(crate) amplitude: f64,
    /// Time constant of the second flow's approach to its share, in seconds.
    pub(crate) settling_s: f64,
    pub(crate) relays: bool,
}

pub(crate) const SIX: [Behaviour; 6] = [
    Behaviour {
        name: "lgcc",
        utilization: 0.962,
        delay_ms: 6.0,
        amplitude: 0.5,
        settling_s: 1.0,
        relays: true,
    },
    Behaviour {
        name: "lgc",
        utilization: 0.93,
        delay_ms: 11.0,
        amplitude: 0.6,
        settling_s: 3.0,
        relays: false,
    },
    Behaviour {
        name: "abc",
        utilization: 0.947,
        delay_ms: 19.0,
        amplitude: 0.7,
        settling_s: 6.0,
        relays: false,
    },
    Behaviour {
        name: "dctcp",
        utilization: 0.951,
        delay_ms: 24.0,
        amplitude: 0.7,
        settling_s: 4.0,
        relays: false,
    },
    Behaviour {
        name: "cubic",
        utilization: 0.998,
        delay_ms: 310.0,
        amplitude: 0.4,
        settling_s: 14.0,
        relays: false,
    },
    Behaviour {
        name: "newreno",
        utilization: 0.996,
        delay_ms: 240.0,
        amplitude: 0.5,
        settling_s: 18.0,
        relays: false,
    },
];

pub(crate) const DURATION_S: f64 = 60.0;
const SECOND_STARTS_S: f64 = 20.0;

/// The six over 60 s, a second flow joining at 20 s, sampled `samples` times.
pub(crate) fn six_runs(samples: usize) -> Vec<Run> {
    SIX.iter().map(|behaviour| run(behaviour, samples, 2)).collect()
}

/// One run with any number of flows, of which all but the first start at 20 s.
pub(crate) fn run(behaviour: &Behaviour, samples: usize, flows: usize) -> Run {
    let simulation = Simulation { behaviour, samples, flows };
    Run {
        label: behaviour.name.into(),
        summary: simulation.summary(),
        series: simulation.series(),
        distributions: vec![simulation.distribution()],
        scenario_toml: SCENARIO.into(),
        command: format!("millpond run scenarios/last-hop-5g.toml --protocol {} --seed 1", behaviour.name),
        ..Run::default()
    }
}

/// The run sampled `factor` times as often, with equal values in between.
pub(crate) fn denser(mut run: Run, factor: usize) -> Run {
    let samples = factor * run.series.first().map_or(0, |series| series.times.len());
    let times = times(samples);
    for series in &mut run.series {
        series.values = series.values.iter().flat_map(|value| std::iter::repeat_n(*value, factor)).collect();
        series.times = times.clone();
    }
    run
}

/// The run of two flows as one of two groups, `fast` and `slow`, whose packets wait half and twice as long as all packets.
pub(crate) fn with_two_groups(mut run: Run) -> Run {
    let all = run.distributions.remove(0);
    for (flow, (name, factor)) in run.summary.flows.iter_mut().zip([("fast", 0.5), ("slow", 2.0)]) {
        flow.group = name.into();
        let points = all.points.iter().map(|(share, delay)| (*share, delay * factor)).collect();
        run.distributions.push(Distribution { entity: name.into(), points, ..all.clone() });
    }
    run.distributions.push(all);
    let group = |name: &str| Group { name: name.into(), flows: 1, ..Group::default() };
    run.summary.groups = vec![group("fast"), group("slow")];
    run
}

/// The ends of equal intervals of the duration.
fn times(samples: usize) -> Times {
    (1..=samples).map(|step| DURATION_S * step as f64 / samples as f64).collect()
}

/// When the link of [`with_outage`] is down, in seconds.
pub(crate) const OUTAGE_S: std::ops::Range<f64> = 30.0..36.0;

/// The run with an outage of the link, during which no packet arrives, and which the laws of the link learn two seconds late.
pub(crate) fn with_outage(mut run: Run) -> Run {
    let is_down = |time: f64| OUTAGE_S.start < time && time <= OUTAGE_S.end + 1e-9;
    for series in &mut run.series {
        let value = match (series.kind, series.quantity.as_str()) {
            (EntityKind::Flow | EntityKind::Link, quantity::QUEUEING) => f64::NAN,
            (_, quantity::CAPACITY | quantity::THROUGHPUT | quantity::GOODPUT) => 0.0,
            _ => continue,
        };
        let samples = series.times.iter().zip(&mut series.values);
        samples.filter(|(time, _)| is_down(**time)).for_each(|(_, sample)| *sample = value);
    }
    let actual = run.series.iter().find(|series| series.quantity == quantity::CAPACITY).unwrap();
    let late = |time: &f64| if is_down(time - 2.0) { 0.0 } else { capacity(time - 2.0) };
    let configured = Series {
        quantity: quantity::CONFIGURED_CAPACITY.into(),
        values: actual.times.iter().map(late).collect(),
        ..actual.clone()
    };
    run.series.push(configured);
    run
}

const SCENARIO: &str = r#"title    = "A 5G last hop, a second flow joins at 20 s"
duration = "60s"
seed     = 1

[[links]]
name    = "last-hop"
between = ["R1", "phone"]
rate    = { trace = { file = "traces/5g-static.csv" } }
delay   = "10ms"
"#;

struct Simulation<'a> {
    behaviour: &'a Behaviour,
    samples: usize,
    flows: usize,
}

impl Simulation<'_> {
    fn one(
        &self,
        kind: EntityKind,
        entity: &str,
        quantity: &str,
        unit: &str,
        value: impl Fn(f64) -> f64,
    ) -> Series {
        let times = times(self.samples);
        let values = times.iter().map(|time| value(*time)).collect();
        Series { kind, entity: entity.into(), quantity: quantity.into(), unit: unit.into(), times, values }
    }

    fn flow_name(&self, index: usize) -> String {
        if self.flows == 2 { ["one", "two"][index].into() } else { format!("many.{index}") }
    }

    fn goodput(&self, flow: usize, time: f64) -> f64 {
        let joining = self.flows as f64 - 1.0;
        let arrived = 1.0 - (-(time - SECOND_STARTS_S).max(0.0) / self.behaviour.settling_s).exp();
        let fair = 1.0 / self.flows as f64;
        let share = if flow == 0 { 1.0 - joining * fair * arrived } else { fair * arrived };
        if flow > 0 && time < SECOND_STARTS_S {
            return f64::NAN;
        }
        let noise_factor = 1.0 + 0.06 * noise(time, flow as f64);
        capacity(time) * self.behaviour.utilization * share * noise_factor
    }

    fn delay(&self, time: f64) -> f64 {
        let shortage = (158e6 / capacity(time)).powf(2.0 * self.behaviour.amplitude);
        (self.behaviour.delay_ms * shortage * (1.0 + self.behaviour.amplitude * noise(time, 9.0))).max(0.0)
    }

    fn jain(&self, time: f64) -> f64 {
        let rates: Vec<f64> =
            (0..self.flows).map(|flow| self.goodput(flow, time)).filter(|rate| rate.is_finite()).collect();
        let (sum, squares) = (rates.iter().sum::<f64>(), rates.iter().map(|rate| rate * rate).sum::<f64>());
        sum * sum / (rates.len() as f64 * squares)
    }

    fn series(&self) -> Vec<Series> {
        let link = "last-hop ->";
        let packets = |time| self.delay(time) * capacity(time) / 1000.0 / 12_000.0;
        let mut series = vec![
            self.one(EntityKind::Link, link, quantity::CAPACITY, "bit/s", capacity),
            self.one(EntityKind::Link, link, quantity::THROUGHPUT, "bit/s", |time| {
                capacity(time) * self.behaviour.utilization
            }),
            self.one(EntityKind::Link, link, quantity::QUEUE, "packets", packets),
            self.one(EntityKind::Link, link, quantity::QUEUEING, "ms", |time| self.delay(time)),
            self.one(EntityKind::Link, link, "marking probability", "1", |time| {
                (self.delay(time) / 400.0).min(1.0)
            }),
            self.one(EntityKind::Group, "all", quantity::JAIN, "1", |time| self.jain(time)),
        ];
        for flow in 0..self.flows {
            let name = self.flow_name(flow);
            series.push(
                self.one(EntityKind::Flow, &name, quantity::GOODPUT, "bit/s", |time| {
                    self.goodput(flow, time)
                }),
            );
            series.push(self.one(EntityKind::Flow, &name, quantity::QUEUEING, "ms", |time| {
                1.5 * self.delay(time) + flow as f64
            }));
            series.push(self.one(EntityKind::Flow, &name, quantity::WINDOW, "packets", |time| {
                self.goodput(flow, time) * 0.05 / 12_000.0
            }));
        }
        if self.behaviour.relays {
            series.push(
                self.one(EntityKind::Relay, "one@R1", quantity::QUEUEING, "ms", |time| {
                    0.5 * self.delay(time)
                }),
            );
            series.push(
                self.one(EntityKind::Relay, "one@R1", quantity::BACKLOG, "packets", |time| {
                    0.4 * packets(time)
                }),
            );
            series.push(self.one(EntityKind::Relay, "two@R1", quantity::BACKLOG, "packets", |time| {
                if time < SECOND_STARTS_S { f64::NAN } else { 0.2 * packets(time) }
            }));
        }
        series
    }

    fn sorted_delays(&self) -> Vec<f64> {
        let mut delays: Vec<f64> =
            (0..4000).map(|step| self.delay(DURATION_S * (f64::from(step) + 0.5) / 4000.0)).collect();
        delays.sort_by(f64::total_cmp);
        delays
    }

    fn distribution(&self) -> Distribution {
        let delays = self.sorted_delays();
        let last = delays.len() - 1;
        let at = |share: f64| (share, delays[(share * last as f64) as usize]);
        let points = (0..=200).map(|step| at(f64::from(step) / 200.0)).collect();
        Distribution {
            kind: EntityKind::Group,
            entity: "all".into(),
            quantity: quantity::QUEUEING.into(),
            unit: "ms".into(),
            points,
        }
    }

    fn queueing(&self) -> Milliseconds {
        let delays = self.sorted_delays();
        let at = |share: f64| delays[(share * (delays.len() - 1) as f64) as usize];
        let mean = delays.iter().sum::<f64>() / delays.len() as f64;
        Milliseconds {
            min: at(0.0),
            mean,
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            max: at(1.0),
        }
    }

    fn summary(&self) -> Summary {
        let behaviour = self.behaviour;
        let lossy = behaviour.delay_ms > 100.0;
        let flow = |index: usize| Flow {
            name: self.flow_name(index),
            group: "all".into(),
            protocol: behaviour.name.into(),
            start_s: if index == 0 { 0.0 } else { SECOND_STARTS_S },
            stop_s: DURATION_S,
            goodput_bps: 158e6 * behaviour.utilization / self.flows as f64,
            sent: 500_000,
            delivered: 500_000,
            rtt_ms: Some(Milliseconds { min: 30.0, ..Milliseconds::default() }),
            ..Flow::default()
        };
        let link = |direction: &str, utilization, drops| Link {
            name: "last-hop".into(),
            direction: direction.into(),
            capacity_bps: 158e6,
            utilization,
            queue_packets: Packets::default(),
            drops,
            ..Link::default()
        };
        Summary {
            scenario: "A 5G last hop, a second flow joins at 20 s".into(),
            world: "packets".into(),
            seed: 1,
            version: "0.1.0".into(),
            simulated_s: DURATION_S,
            warnings: if lossy { vec!["the buffer overflowed 12 times".into()] } else { vec![] },
            flows: (0..self.flows).map(flow).collect(),
            groups: vec![Group { name: "all".into(), flows: self.flows as u64, ..Group::default() }],
            links: vec![
                link("R1 -> phone", behaviour.utilization, if lossy { 812 } else { 0 }),
                link("phone -> R1", 0.02, 0),
            ],
            relays: if behaviour.relays {
                vec![Relay { name: "one@R1".into(), ..Relay::default() }]
            } else {
                vec![]
            },
            queueing_ms: self.queueing(),
            fairness: Fairness { jain: Some(1.0 - behaviour.settling_s / 100.0), ..Fairness::default() },
            ..Summary::default()
        }
    }
}

/// Varies like a 5G last hop: mean about 158 Mbit/s, peak about 330 Mbit/s.
fn capacity(time: f64) -> f64 {
    let slow = (0.31 * time).sin() + 0.6 * (0.83 * time + 1.0).sin();
    (158.0 + 55.0 * slow + 30.0 * noise(time, 3.0)).clamp(12.0, 330.0) * 1e6
}

/// A sum of sines between -1 and 1.
fn noise(time: f64, salt: f64) -> f64 {
    let waves = [7.1, 13.3, 23.9, 41.7, 88.1].map(|speed| (speed * time + salt * speed).sin());
    waves.iter().sum::<f64>() / 3.0
}
