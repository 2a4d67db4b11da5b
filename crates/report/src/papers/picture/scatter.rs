//! Two numbers of each run, one on each axis.

use super::{MeasuredRecipe, PictureAxis, ScatterPicture};
use millpond_papers::{AcceptedRange, RecipeFigure, summary_value};

impl MeasuredRecipe<'_> {
    /// A point for each run that has both numbers, and the paper's values of rows with the same numbers.
    pub(super) fn scatter(&self, figure: &RecipeFigure) -> Option<ScatterPicture> {
        let (x, panel) = (&figure.x, figure.panels.first()?);
        let (x_path, y_path) = (x.summary.as_ref()?, panel.summary.as_ref()?);
        let (x_scale, y_scale) = (x.scale.unwrap_or(1.0), panel.scale.unwrap_or(1.0));
        let shown = self.runs.iter().enumerate().filter(|(_, charted)| figure.shows(&charted.case));
        let points = shown.filter_map(|(index, charted)| {
            let value =
                |path: &str, scale: f64| summary_value(path, &charted.run).ok().map(|value| value * scale);
            Some((index, (value(x_path, x_scale)?, value(y_path, y_scale)?)))
        });
        Some(ScatterPicture {
            title: figure.title.clone(),
            x: PictureAxis { label: x.label.clone(), unit: x.unit.clone(), log: x.log },
            y: PictureAxis {
                label: panel.label.clone(),
                unit: panel.unit.clone().unwrap_or_default(),
                log: panel.log,
            },
            points: points.collect(),
            paper_x: self.paper_values(x_path, x_scale),
            paper_y: self.paper_values(y_path, y_scale),
        })
    }

    /// The paper's numbers and ranges for a path into the summary, each once, multiplied by `scale`.
    fn paper_values(&self, path: &str, scale: f64) -> Vec<(f64, f64)> {
        let mut values = Vec::new();
        let rows = self.rows.iter().map(|measured| &measured.row);
        for row in rows.filter(|row| row.summary.as_deref() == Some(path) && row.versus.is_none()) {
            if let Some(AcceptedRange(low, high)) = row.paper_bounds() {
                let value = (low / row.scale * scale, high / row.scale * scale);
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        values
    }
}
