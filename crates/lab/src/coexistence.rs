//! Shares of a protocol beside CUBIC, and among flows of the protocol of which one joins late: the table on the protocol's
//! page.

use crate::compare::{Choice, cases, compare};
use crate::error::Error;
use millpond_law::Card;
use millpond_protocols::Registry;
use millpond_results::{Group, Run, RunOrigin, Watch, World};
use millpond_scenario::{Disk, Scenario};
use millpond_units::format::two_digits_of_share;
use std::path::Path;

/// The scenario of flows beside CUBIC, as shipped.
const BESIDE: &str = include_str!("../../../scenarios/beside-cubic.toml");

/// The scenario of a flow that joins late, as shipped.
const LATE: &str = include_str!("../../../scenarios/late-joiner.toml");

/// The flows that share a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompetingFlows {
    /// Flows of the protocol and one flow of CUBIC.
    Cubic {
        /// The number of flows of the protocol.
        flows: usize,
        /// The buffer in bandwidth-delay products.
        buffer_bdp: usize,
    },
    /// Flows of the protocol, of which the last starts 30 s after the others.
    Late {
        /// The number of flows.
        flows: usize,
        /// The duration of the run in seconds, of which the last 30 are measured.
        duration_s: u32,
    },
}

impl CompetingFlows {
    /// The rows of the table.
    pub const ROWS: [Self; 6] = [
        Self::Cubic { flows: 1, buffer_bdp: 1 },
        Self::Cubic { flows: 4, buffer_bdp: 1 },
        Self::Cubic { flows: 1, buffer_bdp: 4 },
        Self::Late { flows: 2, duration_s: 90 },
        Self::Late { flows: 10, duration_s: 90 },
        Self::Late { flows: 100, duration_s: 90 },
    ];

    /// The rows with a flow of CUBIC.
    pub const BESIDE_CUBIC: [Self; 3] = [Self::ROWS[0], Self::ROWS[1], Self::ROWS[2]];

    /// The label of its row.
    pub fn label(self) -> String {
        match self {
            Self::Cubic { flows, buffer_bdp: 1 } => format!("{flows} and CUBIC"),
            Self::Cubic { flows, buffer_bdp } => format!("{flows} and CUBIC, buffer of {buffer_bdp} BDP"),
            Self::Late { flows, .. } => format!("{flows}, one of them late"),
        }
    }

    /// The number of all flows.
    fn all_flows(self) -> usize {
        match self {
            Self::Cubic { flows, .. } => flows + 1,
            Self::Late { flows, .. } => flows,
        }
    }

    /// The scenario for a protocol or a variant of it, as flows name it. The link has the protocol's default queue, also for
    /// CUBIC.
    pub(crate) fn scenario(self, name: &str, card: &Card) -> Result<Scenario, Error> {
        let (text, file, sets) = match self {
            Self::Cubic { flows, buffer_bdp } => {
                let settings = card.queue.settings.iter().map(|(key, value)| format!("{key} = \"{value}\""));
                let settings = settings.collect::<Vec<_>>().join(", ");
                let sets = vec![
                    format!("flows.one.protocol={name}"),
                    format!("flows.one.count={flows}"),
                    format!("links.L.queue={{ {} = {{ {settings} }} }}", card.queue.name),
                    format!("links.L.buffer={buffer_bdp}bdp"),
                ];
                (BESIDE, "beside-cubic.toml", sets)
            }
            Self::Late { flows, duration_s } => {
                let sets = vec![
                    format!("flows.early.protocol={name}"),
                    format!("flows.late.protocol={name}"),
                    format!("flows.early.count={}", flows - 1),
                    format!("duration={duration_s}s"),
                    format!("measure.from={}s", duration_s - 30),
                ];
                (LATE, "late-joiner.toml", sets)
            }
        };
        Ok(Scenario::parse(text, file, Path::new(""), &sets, &Disk)?)
    }
}

/// One row of the table. Shares are goodputs divided by the equal share of the link.
#[derive(Clone, Debug, PartialEq)]
pub struct CoexistenceRow {
    /// The flows that share the link.
    pub competition: CompetingFlows,
    /// The least share of the protocol's flows, the late one excepted.
    pub least: f64,
    /// The greatest of them.
    pub greatest: f64,
    /// The share of the flow of CUBIC, or of the late flow.
    pub other: f64,
    /// The utilization of the link.
    pub utilization: f64,
    /// The run.
    pub run: Run,
}

/// The rows for a protocol or a variant of it, as flows name it, one run each. `card` is that of the protocol.
///
/// # Errors
/// A scenario that the protocol refuses, or that `watch` stopped the runs.
pub fn coexistence(
    name: &str,
    card: &Card,
    competitions: &[CompetingFlows],
    registry: &Registry,
    watch: &dyn Watch,
) -> Result<Vec<CoexistenceRow>, Error> {
    let choice = Choice::of(World::Packets);
    let mut all = Vec::new();
    for competition in competitions {
        all.extend(cases(&competition.scenario(name, card)?, registry, &choice)?);
    }
    let runs = compare(&all, registry, &RunOrigin::default(), &|_, _| Ok(()), watch)?;
    Ok(competitions.iter().zip(runs).map(|(competition, finished)| row(*competition, finished.run)).collect())
}

fn row(competition: CompetingFlows, run: Run) -> CoexistenceRow {
    let (one, other) = match competition {
        CompetingFlows::Cubic { .. } => ("one", "beside"),
        CompetingFlows::Late { .. } => ("early", "late"),
    };
    let link = run.summary.links.first();
    let equal_share = link.map_or(f64::NAN, |link| link.capacity_bps) / competition.all_flows() as f64;
    let share = |name: &str, of: fn(&Group) -> f64| {
        let group = run.summary.groups.iter().find(|group| group.name == name);
        group.map_or(f64::NAN, of) / equal_share
    };
    CoexistenceRow {
        competition,
        least: share(one, |group| group.goodput_bps.min),
        greatest: share(one, |group| group.goodput_bps.max),
        other: share(other, |group| group.goodput_bps.mean),
        utilization: link.map_or(f64::NAN, |link| link.utilization),
        run,
    }
}

impl CoexistenceRow {
    /// The row as texts: its label, then all shares and the utilization with two significant digits.
    pub fn texts(&self) -> [String; 5] {
        let [least, greatest, other, used] =
            [self.least, self.greatest, self.other, self.utilization].map(two_digits_of_share);
        [self.competition.label(), least, greatest, other, used]
    }
}
