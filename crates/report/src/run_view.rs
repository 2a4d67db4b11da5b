//! Runs as the page shows them: the seeds of one label together, with their style, their rows and the bottleneck.

use millpond_chart::SeriesStyle;
use millpond_results::{
    Comparison, ComparisonRow, Distribution, EntityKind, Group, Run, Series, bottleneck, quantity,
};

pub(super) struct RunView<'a> {
    /// The run of the first seed, whose curves over time are drawn.
    pub run: &'a Run,
    /// The runs of all seeds.
    pub seeds: Vec<&'a Run>,
    pub style: SeriesStyle,
    /// The row of all flows.
    pub row: ComparisonRow,
    /// The rows of groups; empty if the run has one group.
    pub groups: Vec<ComparisonRow>,
    /// The entity of the bottleneck's series; empty if the run has no link.
    pub bottleneck: String,
}

impl<'a> RunView<'a> {
    /// One for each label, in the order in which the labels first occur.
    pub(super) fn all(runs: &'a [Run]) -> Vec<Self> {
        let comparison = Comparison::of(runs);
        let of_label = comparison.rows.chunk_by(|one, next| one.run == next.run);
        of_label.enumerate().filter_map(|(index, rows)| Self::new(index, rows, runs)).collect()
    }

    /// The runs whose label is that of `rows`.
    fn new(index: usize, rows: &[ComparisonRow], runs: &'a [Run]) -> Option<Self> {
        let (row, groups) = rows.split_first()?;
        let seeds: Vec<&Run> = runs.iter().filter(|run| run.label == row.run).collect();
        let run = *seeds.first()?;
        let bottleneck = bottleneck(&run.summary, runs);
        Some(Self {
            run,
            seeds,
            style: SeriesStyle(index),
            row: row.clone(),
            groups: groups.to_vec(),
            bottleneck: bottleneck.map_or_else(String::new, |link| run.summary.link_entity(link)),
        })
    }

    /// Utilization of the bottleneck from 0 to 1, mean over the seeds; not a number without links.
    pub(super) fn utilization(&self) -> f64 {
        self.row.utilization.map_or(f64::NAN, |utilization| utilization.mean)
    }

    /// 95th percentile of end-to-end queueing delay in ms, mean over the seeds; not a number if nothing was delivered.
    pub(super) fn queueing_p95(&self) -> f64 {
        self.row.queueing_ms.map_or(f64::NAN, |times| times.p95.mean)
    }

    /// The groups of the first seed for which a condition is true.
    pub(super) fn groups_with(&self, is_wanted: fn(&Group) -> bool) -> Vec<&'a Group> {
        self.run.summary.groups.iter().filter(|group| is_wanted(group)).collect()
    }

    /// The group with this name of each seed.
    pub(super) fn of_group(&self, name: &str) -> impl Iterator<Item = &'a Group> {
        self.seeds.iter().filter_map(move |run| run.summary.groups.iter().find(|group| group.name == name))
    }

    /// The series of this quantity, of every entity of this kind.
    pub(super) fn series(&self, kind: EntityKind, quantity: &'a str) -> impl Iterator<Item = &'a Series> {
        self.run.series.iter().filter(move |series| series.kind == kind && series.quantity == quantity)
    }

    /// The series of this quantity and entity of all seeds.
    pub(super) fn of_seeds(&self, one: &Series) -> Vec<&'a Series> {
        let same = |other: &&Series| {
            (other.kind, &other.entity, &other.quantity) == (one.kind, &one.entity, &one.quantity)
        };
        self.seeds.iter().filter_map(|run| run.series.iter().find(same)).collect()
    }

    /// The series of this quantity at the bottleneck.
    pub(super) fn at_bottleneck(&self, quantity: &'a str) -> Option<&'a Series> {
        self.series(EntityKind::Link, quantity).find(|series| series.entity == self.bottleneck)
    }

    /// The goodput of each flow, without the goodputs of a flow's loops.
    pub(super) fn goodputs(&self) -> Vec<&'a Series> {
        self.run.series_of_flows(quantity::GOODPUT)
    }
}

/// The distribution of queueing delay over all packets of a group, or of `all` flows: shares and delays in ms. That of all
/// flows is the last one.
pub(super) fn delays<'a>(run: &'a Run, group: &str) -> &'a [(f64, f64)] {
    let is_of_group = |one: &&Distribution| one.kind == EntityKind::Group && one.entity == group;
    let mut of_delay = run.distributions.iter().filter(|one| one.quantity == quantity::QUEUEING);
    of_delay.rfind(is_of_group).map_or(&[], |one| &one.points)
}
