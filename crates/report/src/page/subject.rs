//! A run as the page sees it: with its look, its line of numbers and the link that all runs are watched at.

use crate::chart::theme::Look;
use millpond_results::{Distribution, Headline, Kind, Run, Series, bottleneck, quantity};

pub(super) struct Subject<'a> {
    pub run: &'a Run,
    pub look: Look,
    pub headline: Headline,
    /// What the bottleneck's series are filed under; empty if the run has no link.
    pub bottleneck: String,
}

impl<'a> Subject<'a> {
    pub(super) fn all(runs: &'a [Run]) -> Vec<Self> {
        let subject = |(index, run): (usize, &'a Run)| Self {
            run,
            look: Look(index),
            headline: Headline::of(run, runs),
            bottleneck: bottleneck(&run.summary, runs)
                .map_or_else(String::new, |link| run.summary.link_entity(link)),
        };
        runs.iter().enumerate().map(subject).collect()
    }

    /// The series of this quantity, of every entity of this kind.
    pub(super) fn series(&self, kind: Kind, quantity: &'a str) -> impl Iterator<Item = &'a Series> {
        self.run.series.iter().filter(move |series| series.kind == kind && series.quantity == quantity)
    }

    /// The series of this quantity at the bottleneck.
    pub(super) fn at_bottleneck(&self, quantity: &'a str) -> Option<&'a Series> {
        self.series(Kind::Link, quantity).find(|series| series.entity == self.bottleneck)
    }

    /// Goodput of each flow: of the flows, not of their loops.
    pub(super) fn goodputs(&self) -> Vec<&'a Series> {
        self.series(Kind::Flow, quantity::GOODPUT).filter(|series| !series.entity.contains('/')).collect()
    }

    /// Share of delays and delays of all packets of all flows, in ms.
    pub(super) fn delays(&self) -> &'a [(f64, f64)] {
        let of_all = |one: &&Distribution| one.kind == Kind::Group && one.entity == "all";
        let mut of_delay = self.run.distributions.iter().filter(|one| one.quantity == quantity::QUEUEING);
        of_delay.find(of_all).map_or(&[], |one| &one.points)
    }
}
