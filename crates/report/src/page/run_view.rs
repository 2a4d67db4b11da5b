//! A run as the page shows it: with its style, its headline and the bottleneck of the comparison.

use millpond_chart::SeriesStyle;
use millpond_results::{Distribution, EntityKind, Headline, Run, Series, bottleneck, quantity};

pub(super) struct RunView<'a> {
    pub run: &'a Run,
    pub style: SeriesStyle,
    pub headline: Headline,
    /// The entity of the bottleneck's series; empty if the run has no link.
    pub bottleneck: String,
}

impl<'a> RunView<'a> {
    pub(super) fn all(runs: &'a [Run]) -> Vec<Self> {
        let view = |(index, run): (usize, &'a Run)| Self {
            run,
            style: SeriesStyle(index),
            headline: Headline::of(run, runs),
            bottleneck: bottleneck(&run.summary, runs)
                .map_or_else(String::new, |link| run.summary.link_entity(link)),
        };
        runs.iter().enumerate().map(view).collect()
    }

    /// The series of this quantity, of every entity of this kind.
    pub(super) fn series(&self, kind: EntityKind, quantity: &'a str) -> impl Iterator<Item = &'a Series> {
        self.run.series.iter().filter(move |series| series.kind == kind && series.quantity == quantity)
    }

    /// The series of this quantity at the bottleneck.
    pub(super) fn at_bottleneck(&self, quantity: &'a str) -> Option<&'a Series> {
        self.series(EntityKind::Link, quantity).find(|series| series.entity == self.bottleneck)
    }

    /// The goodput of each flow, without the goodputs of a flow's loops.
    pub(super) fn goodputs(&self) -> Vec<&'a Series> {
        self.series(EntityKind::Flow, quantity::GOODPUT)
            .filter(|series| !series.entity.contains('/'))
            .collect()
    }

    /// The distribution of queueing delay over all packets of all flows: shares and delays in ms.
    pub(super) fn delays(&self) -> &'a [(f64, f64)] {
        let is_of_all = |one: &&Distribution| one.kind == EntityKind::Group && one.entity == "all";
        let mut of_delay = self.run.distributions.iter().filter(|one| one.quantity == quantity::QUEUEING);
        of_delay.find(is_of_all).map_or(&[], |one| &one.points)
    }
}
