//! Series of each run over time, with the paper's values.

use super::{MeasuredRecipe, OverTime, PaperArea, PictureAxis, TimePanel};
use millpond_papers::{
    AcceptedRange, ChartedRun, Combine, EntityPattern, Expectation, FigurePanel, RecipeFigure, Statistic,
};
use millpond_results::{EntityKind, Run, Series, bottleneck, quantity};
use millpond_units::glob;

/// Panels that are derived from the rows of a recipe: at most this many.
const MOST_PANELS: usize = 6;
/// Rates of flows in bit/s: a value of the paper for one of them is drawn beside each of them.
const RATES: [&str; 3] = [quantity::GOODPUT, quantity::SEND_RATE, "rate"];

/// The data of a panel: a quantity of all entities with these names.
struct PanelQuantity {
    kind: EntityKind,
    patterns: Vec<String>,
    name: String,
}

impl PanelQuantity {
    /// Whether these are its entities.
    fn has(&self, kind: EntityKind, entity: &str) -> bool {
        self.kind == kind && self.patterns.iter().any(|pattern| glob(pattern, entity))
    }

    /// Indices of its series, or of other series of the same entities.
    fn indices(&self, series: &[Series], quantity: &str) -> Vec<usize> {
        let has = |one: &Series| one.quantity == quantity && self.has(one.kind, &one.entity);
        series.iter().enumerate().filter(|(_, one)| has(one)).map(|(index, _)| index).collect()
    }
}

impl MeasuredRecipe<'_> {
    /// A picture for each run that is drawn. Its panels are those of the figure, or the series that rows measure.
    pub(super) fn over_time(&self, figure: &RecipeFigure) -> Vec<OverTime> {
        let picture = |(run, charted): (usize, &ChartedRun)| {
            let panels: Vec<(PanelQuantity, Option<&FigurePanel>)> = match figure.panels.as_slice() {
                [] => self.row_quantities().into_iter().map(|quantity| (quantity, None)).collect(),
                panels => {
                    panels.iter().filter_map(|panel| Some((quantity_of(panel)?, Some(panel)))).collect()
                }
            };
            self.picture(run, charted, &panels, &figure.title)
        };
        let shown = self.runs.iter().enumerate().filter(|(_, charted)| figure.shows(&charted.case));
        shown.map(picture).filter(|picture| !picture.panels.is_empty()).collect()
    }

    /// A picture for each run: goodput, and the queue and the queueing delay of the bottleneck.
    pub(super) fn rates_and_queues(&self) -> Vec<OverTime> {
        let picture = |(run, charted): (usize, &ChartedRun)| {
            let quantities = rates_and_queues(&charted.run).into_iter().map(|quantity| (quantity, None));
            self.picture(run, charted, &quantities.collect::<Vec<_>>(), "")
        };
        self.runs.iter().enumerate().map(picture).filter(|picture| !picture.panels.is_empty()).collect()
    }

    fn picture(
        &self,
        run: usize,
        charted: &ChartedRun,
        panels: &[(PanelQuantity, Option<&FigurePanel>)],
        title: &str,
    ) -> OverTime {
        let panels = panels.iter().filter_map(|(quantity, panel)| self.time_panel(charted, quantity, *panel));
        OverTime { title: title.to_owned(), run, panels: panels.collect() }
    }

    /// The quantities that rows measure over time.
    fn row_quantities(&self) -> Vec<PanelQuantity> {
        let mut found: Vec<PanelQuantity> = Vec::new();
        for row in self.rows.iter().map(|measured| &measured.row) {
            let deviation = row.deviation.iter().flat_map(|deviation| [&deviation.of, &deviation.from]);
            for entity in row.series.iter().chain(deviation) {
                let Ok((kind, pattern)) = entity.kind_and_pattern() else { continue };
                let pattern = pattern.to_owned();
                match found.iter_mut().find(|one| one.kind == kind && one.name == entity.quantity) {
                    Some(known) if known.patterns.contains(&pattern) => {}
                    Some(known) => known.patterns.push(pattern),
                    None => found.push(PanelQuantity {
                        kind,
                        patterns: vec![pattern],
                        name: entity.quantity.clone(),
                    }),
                }
            }
        }
        found.truncate(MOST_PANELS);
        found
    }

    fn time_panel(
        &self,
        charted: &ChartedRun,
        quantity: &PanelQuantity,
        panel: Option<&FigurePanel>,
    ) -> Option<TimePanel> {
        let all = &charted.run.series;
        let series = quantity.indices(all, &quantity.name);
        let first = all.get(*series.first()?)?;
        let (factor, unit) = match panel {
            Some(FigurePanel { unit, scale, .. }) if unit.is_some() || scale.is_some() => {
                (scale.unwrap_or(1.0), unit.clone().unwrap_or_default())
            }
            _ => self.unit_of(quantity, first),
        };
        let label = panel.map_or("", |panel| panel.label.as_str());
        let axis = PictureAxis {
            label: if label.is_empty() { &quantity.name } else { label }.to_owned(),
            unit,
            log: panel.is_some_and(|panel| panel.log),
        };
        let fair = if panel.is_some_and(|panel| panel.fair) {
            quantity.indices(all, quantity::FAIR_SHARE)
        } else {
            Vec::new()
        };
        let of_case =
            self.rows.iter().filter(|measured| measured.case == charted.case).map(|measured| &measured.row);
        let of_case = of_case.filter(|row| row.versus.is_none() && row.over.is_none());
        let mut paper: Vec<PaperArea> = Vec::new();
        for area in of_case.filter(|row| is_of(row, quantity)).filter_map(|row| area(row, factor)) {
            if !paper.contains(&area) {
                paper.push(area);
            }
        }
        Some(TimePanel { axis, factor, series, fair, paper })
    }

    /// The factor and the unit in which rows state a quantity; for rates that of the series.
    fn unit_of(&self, quantity: &PanelQuantity, series: &Series) -> (f64, String) {
        let states = |row: &&Expectation| {
            let rate = series.unit == "bit/s" && row.unit.ends_with("bit/s");
            is_of(row, quantity) && is_value(row.statistic) && !row.unit.is_empty() && !rate
        };
        let row = self.rows.iter().map(|measured| &measured.row).find(states);
        let own = if series.unit == "1" { "" } else { &series.unit };
        row.map_or_else(|| (1.0, own.to_owned()), |row| (row.scale, row.unit.clone()))
    }
}

fn quantity_of(panel: &FigurePanel) -> Option<PanelQuantity> {
    let entity: &EntityPattern = panel.series.as_ref()?.get_ref();
    let (kind, pattern) = entity.kind_and_pattern().ok()?;
    Some(PanelQuantity { kind, patterns: vec![pattern.to_owned()], name: entity.quantity.clone() })
}

/// The goodput of each flow, and the queue and the queueing delay of the bottleneck.
fn rates_and_queues(run: &Run) -> Vec<PanelQuantity> {
    let link = bottleneck(&run.summary, std::slice::from_ref(run)).map(|link| run.summary.link_entity(link));
    let flows = run.summary.flows.iter().map(|flow| flow.name.clone()).collect();
    let of_link = |name: &str| {
        let patterns = link.iter().cloned().collect();
        PanelQuantity { kind: EntityKind::Link, patterns, name: name.to_owned() }
    };
    vec![
        PanelQuantity { kind: EntityKind::Flow, patterns: flows, name: quantity::GOODPUT.to_owned() },
        of_link(quantity::QUEUE),
        of_link(quantity::QUEUEING),
    ]
}

/// Whether a row measures this quantity, or another rate, of one of these entities.
fn is_of(row: &Expectation, quantity: &PanelQuantity) -> bool {
    row.series.as_ref().is_some_and(|entity| {
        let is_same = quantity.name == entity.quantity
            || [&quantity.name, &entity.quantity].into_iter().all(|name| RATES.contains(&name.as_str()));
        is_same && entity.kind_and_pattern().is_ok_and(|(kind, pattern)| quantity.has(kind, pattern))
    })
}

/// Whether a statistic is a value of the series, in its unit.
fn is_value(statistic: Statistic) -> bool {
    use Statistic::{Greatest, Last, Least, Mean, Quantile};
    matches!(statistic, Mean | Least | Greatest | Last | Quantile(_))
}

/// The paper's value of a row in a panel whose values are multiplied by `factor`.
fn area(row: &Expectation, factor: f64) -> Option<PaperArea> {
    let AcceptedRange(low, high) = row.paper_bounds()?;
    let from = row.from.map_or(0.0, |from| from.0);
    let reached = |level: f64| PaperArea {
        from: from + low / row.scale,
        to: from + high / row.scale,
        low: level * factor,
        high: level * factor,
    };
    match row.statistic {
        Statistic::Reaches(level) => Some(reached(level)),
        Statistic::Settles { at, .. } => Some(reached(at)),
        statistic if is_value(statistic) && row.combine != Combine::Sum => {
            let to = row.to.map_or(f64::INFINITY, |to| to.0);
            let from = if statistic == Statistic::Last && to.is_finite() { to } else { from };
            let (low, high) = (low / row.scale * factor, high / row.scale * factor);
            Some(PaperArea { from, to, low, high })
        }
        _ => None,
    }
}
