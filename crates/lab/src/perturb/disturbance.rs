//! The disturbances: each a named change of a scenario with levels of growing strength.

use super::feedback_path::{delay_feedback, lose_feedback};
use super::paths::{data_hops, each_slowest};
use millpond_scenario::{
    Capacity, ConfiguredCapacity, ConfiguredRate, DelayedAcks, FlowGroup, Levels, RouterConduct, Scenario,
};
use millpond_units::Span;

/// Changes a scenario by a level, or says why it cannot.
type Change = fn(&mut Scenario, f64) -> Result<(), String>;

/// A disturbance.
#[derive(Clone, Copy)]
pub struct Disturbance {
    /// As the command spells it, at most 14 characters.
    pub name: &'static str,
    /// What it changes.
    pub changes: &'static str,
    /// Where such a disturbance is described or its levels come from.
    pub origin: &'static str,
    /// Values, the weakest first.
    pub levels: &'static [f64],
    /// The unit of the values; empty for a disturbance that is there or not.
    pub unit: &'static str,
    /// What does not read the changed quantity, if the change has no effect.
    pub reader: &'static str,
    change: Change,
}

impl Disturbance {
    /// All of them, in the order in which they are printed.
    pub const ALL: &'static [Self] = &[
        Self {
            name: "capacity-low",
            changes: "routers and link layers take the capacity for smaller than it is",
            origin: "levels of this laboratory",
            levels: &[5.0, 10.0, 20.0, 50.0],
            unit: "%",
            reader: CAPACITY,
            change: |scenario, percent| scale_capacity(scenario, 1.0 - percent / 100.0),
        },
        Self {
            name: "capacity-high",
            changes: "they take the capacity for greater than it is",
            origin: "levels of this laboratory",
            levels: &[5.0, 10.0, 20.0, 50.0],
            unit: "%",
            reader: CAPACITY,
            change: |scenario, percent| scale_capacity(scenario, 1.0 + percent / 100.0),
        },
        Self {
            name: "capacity-late",
            changes: "they receive a change of the capacity after this time",
            origin: "levels of this laboratory: from a slot of 5G to a control interval of 100 ms",
            levels: &[1.0, 10.0, 100.0],
            unit: "ms",
            reader: CAPACITY,
            change: |scenario, millis| {
                change_capacity(scenario, |configured| configured.delay += Span::from_secs(millis / 1e3))
            },
        },
        Self {
            name: "capacity-noise",
            changes: "the capacity that they receive has a random error, uniform up to this, with a new one each 100 ms",
            origin: "levels of this laboratory",
            levels: &[5.0, 10.0, 20.0, 50.0],
            unit: "%",
            reader: CAPACITY,
            change: |scenario, percent| {
                change_capacity(scenario, |configured| {
                    configured.noise = (configured.noise + percent / 100.0).min(1.0)
                })
            },
        },
        Self {
            name: "capacity-bits",
            changes: "the capacity that they receive has this many bits: levels evenly spaced up to the highest rate; of 7 \
                      bits, those of SCONE",
            origin: "draft-ietf-scone-protocol, Rate Signals, for 7 bits",
            levels: &[16.0, 7.0, 2.0, 1.0],
            unit: "bits",
            reader: CAPACITY,
            change: |scenario, bits| {
                let levels = if bits == 7.0 { Levels::Scone } else { Levels::Even(1 << bits as u32) };
                change_capacity(scenario, |configured| configured.levels = levels)
            },
        },
        Self {
            name: "stripped",
            changes: "the router at the slowest link of each path removes headers and ECN fields",
            origin: "RFC 9000, section 13.4.2: network devices that clear the ECN field",
            levels: &[1.0],
            unit: "",
            reader: FEEDBACK,
            change: |scenario, _| change_routers(scenario, RouterConduct::Strips),
        },
        Self {
            name: "tunnel",
            changes: "packets cross the slowest link of each path in a tunnel that hides headers and ECN fields",
            origin: "RFC 9743 (BCP 133), section 6.2; RFC 6040: compatibility mode",
            levels: &[1.0],
            unit: "",
            reader: FEEDBACK,
            change: |scenario, _| change_routers(scenario, RouterConduct::Tunnel),
        },
        Self {
            name: "feedback-lost",
            changes: "acknowledgements, with the feedback in them, are lost at random on the return path",
            origin: "RFC 3449: return paths with little capacity lose acknowledgements",
            levels: &[1.0, 10.0, 30.0],
            unit: "%",
            reader: ACKS,
            change: |scenario, percent| lose_feedback(scenario, percent / 100.0),
        },
        Self {
            name: "feedback-late",
            changes: "acknowledgements take longer by this on the return path; so does a configured `rtt`",
            origin: "levels of this laboratory",
            levels: &[1.0, 10.0, 100.0],
            unit: "ms",
            reader: ACKS,
            change: |scenario, millis| delay_feedback(scenario, Span::from_secs(millis / 1e3)),
        },
        Self {
            name: "reordering",
            changes: "at the slowest link of each path packets have a random delay, uniform up to this, in which they overtake",
            origin: "RFC 9743 (BCP 133), section 7.7",
            levels: &[1.0, 5.0, 20.0],
            unit: "ms",
            reader: ACKS,
            change: |scenario, millis| {
                each_slowest(scenario, |direction| {
                    direction.jitter = direction.jitter.max(Span::from_secs(millis / 1e3));
                    direction.reorder = true;
                    true
                })
                .map_err(|()| "no link carries data".to_owned())
            },
        },
        Self {
            name: "ack-thinning",
            changes: "receivers send one acknowledgement for this many packets, whatever arrives, or after 25 ms",
            origin: "RFC 3449: receivers and links that thin acknowledgements",
            levels: &[4.0, 16.0, 64.0],
            unit: "packets",
            reader: ACKS,
            change: thin_acks,
        },
        Self {
            name: "coarse-clock",
            changes: "senders measure round-trip times in whole ticks of this length",
            origin: "the timer of Linux at 1000, 250 and 100 Hz",
            levels: &[1.0, 4.0, 10.0],
            unit: "ms",
            reader: "no law reads a round-trip time or a delivery rate",
            change: |scenario, millis| {
                scenario.endpoint.clock_tick =
                    scenario.endpoint.clock_tick.max(Span::from_secs(millis / 1e3));
                Ok(())
            },
        },
    ];

    /// The level with its unit.
    pub fn level(&self, value: f64) -> String {
        match self.unit {
            "" => "yes".to_owned(),
            "%" => format!("{value} %"),
            "bits" if value == 1.0 => "1 bit".to_owned(),
            "bits" if value == 7.0 => "7 bits (SCONE)".to_owned(),
            unit => format!("{value} {unit}"),
        }
    }

    /// The scenario with this level of the disturbance.
    ///
    /// # Errors
    /// Why it does not apply to the scenario.
    pub fn disturbed(&self, scenario: &Scenario, level: f64) -> Result<Scenario, String> {
        let mut disturbed = scenario.clone();
        (self.change)(&mut disturbed, level)?;
        Ok(disturbed)
    }
}

const CAPACITY: &str = "no law reads the capacity";
const FEEDBACK: &str = "no law uses a header or an ECN field at this queue";
const ACKS: &str = "no sender reacts to it";

/// Multiplies the capacity that laws receive.
fn scale_capacity(scenario: &mut Scenario, factor: f64) -> Result<(), String> {
    for (link, forward) in data_hops(scenario) {
        if let ConfiguredRate::Other(_) = scenario.links[link].direction(forward).configured.rate {
            let name = &scenario.links[link].name.value;
            return Err(format!("link \"{name}\" has a configured rate of its own"));
        }
    }
    change_capacity(scenario, |configured| {
        if let ConfiguredRate::Percent(percent) = &mut configured.rate {
            *percent *= factor;
        }
    })
}

/// Changes the capacity that laws receive at each link that carries data.
fn change_capacity(scenario: &mut Scenario, change: impl Fn(&mut ConfiguredCapacity)) -> Result<(), String> {
    let mut is_same = true;
    for (link, forward) in data_hops(scenario) {
        let duration = scenario.duration;
        let direction = scenario.links[link].direction_mut(forward);
        let signalled = |configured: &ConfiguredCapacity, actual: &Capacity| {
            configured.schedule(actual, duration, || 0.25).unrolled(duration)
        };
        let before = signalled(&direction.configured, &direction.rate);
        change(&mut direction.configured);
        is_same &= signalled(&direction.configured, &direction.rate) == before;
    }
    if is_same { Err("the capacity that laws receive stays the same".to_owned()) } else { Ok(()) }
}

fn change_routers(scenario: &mut Scenario, conduct: RouterConduct) -> Result<(), String> {
    let changed = each_slowest(scenario, |direction| {
        let takes_part = direction.router == RouterConduct::TakesPart;
        if takes_part {
            direction.router = conduct;
        }
        takes_part
    });
    changed.map_err(|()| "the routers at the slowest links take no part already".to_owned())
}

fn thin_acks(scenario: &mut Scenario, packets: f64) -> Result<(), String> {
    const AFTER: Span = Span::from_millis(25);
    let packets = packets as u32;
    let is_thicker = |group: &&mut FlowGroup| group.delayed_acks.is_none_or(|acks| acks.packets < packets);
    let mut is_same = true;
    for group in scenario.flows.iter_mut().filter(|group| !group.pinned).filter(is_thicker) {
        group.delayed_acks = Some(DelayedAcks { packets, after: AFTER, urgent: false });
        is_same = false;
    }
    if is_same { Err("acknowledgements are as thin already".to_owned()) } else { Ok(()) }
}
