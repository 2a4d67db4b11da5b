//! The figure of a recipe: what a picture shows that its rows and cases do not say.

use super::expect::{EntityPattern, one_or_several};
use super::time_or_step::TimeOrStep;
use super::unknown_name::unknown;
use millpond_units::glob;
use serde::Deserialize;
use toml::Spanned;

/// A picture of a recipe, with the axes of the paper.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeFigure {
    /// How it is drawn.
    pub kind: RecipeFigureKind,
    /// Which figure of the paper it is, if the recipe has several: `Fig. 10`.
    #[serde(default)]
    pub title: String,
    /// The horizontal axis.
    #[serde(default)]
    pub x: FigureX,
    /// The panels, from top to bottom; derived from the rows by default.
    #[serde(default)]
    pub panels: Vec<FigurePanel>,
    /// The cases that are drawn; all by default.
    #[serde(default)]
    pub cases: Vec<String>,
}

/// The kind of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecipeFigureKind {
    /// Series of each case over time, or over the steps of a recurrence.
    #[default]
    Time,
    /// Values of rows over a parameter.
    Parameter,
    /// Boxes of values over seeds, of samples over time, or of a distribution.
    Boxes,
    /// Two numbers of each run, one on each axis.
    Scatter,
}

/// The horizontal axis.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FigureX {
    /// The quantity.
    pub label: String,
    /// The unit of its values.
    pub unit: String,
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// Of a parameter: where its value is found.
    pub number_in: NumberIn,
    /// Of a scatter plot: the path of the value in the summary.
    pub summary: Option<String>,
    /// The value of `summary` is multiplied by this.
    pub scale: Option<f64>,
}

/// The text whose first number is the value of the parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberIn {
    /// The name of the case.
    #[default]
    Case,
    /// The name of the row's quantity.
    What,
}

/// A panel of a picture: its vertical axis, or the axis of its boxes, and its data.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FigurePanel {
    /// The quantity on the axis; by default the name of the rows, or the quantity of the series.
    pub label: String,
    /// The unit on the axis; that of the rows by default.
    pub unit: Option<String>,
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// The value of `series`, `distribution` or `summary` is multiplied by this.
    pub scale: Option<f64>,
    /// Data: the rows with these quantities; `*` matches any text.
    #[serde(deserialize_with = "one_or_several")]
    pub what: Vec<String>,
    /// Data: series of entities.
    pub series: Option<Spanned<EntityPattern>>,
    /// Data: a distribution of an entity.
    pub distribution: Option<Spanned<EntityPattern>>,
    /// Data: a path into the summary.
    pub summary: Option<String>,
    /// Of boxes of a series: samples after this count.
    pub from: Option<TimeOrStep>,
    /// Whether the max-min fair shares are drawn as dashed lines.
    pub fair: bool,
}

impl RecipeFigure {
    /// Whether it draws series of runs.
    pub(super) fn draws_series(&self) -> bool {
        self.kind == RecipeFigureKind::Time || self.panels.iter().any(|panel| panel.series.is_some())
    }

    /// Whether it draws this case.
    pub fn shows(&self, case: &str) -> bool {
        self.cases.is_empty() || self.cases.iter().any(|shown| shown == case)
    }

    /// Whether it draws max-min fair shares.
    pub(super) fn has_fair_shares(&self) -> bool {
        self.panels.iter().any(|panel| panel.fair)
    }

    /// Checks that panels and axis have what the kind of the figure draws, and that rows and cases exist.
    ///
    /// # Errors
    /// The key that is missing, unknown or has no meaning.
    pub(super) fn check(&self, whats: &[&str], cases: &[&String]) -> Result<(), String> {
        if let Some(case) = self.cases.iter().find(|case| !cases.contains(case)) {
            return Err(unknown(case, "case", cases.iter().copied()));
        }
        self.check_x()?;
        if self.kind == RecipeFigureKind::Scatter && self.panels.len() != 1 {
            return Err("panels: a scatter plot has one".into());
        }
        self.panels.iter().try_for_each(|panel| self.check_panel(panel, whats))
    }

    fn check_x(&self) -> Result<(), String> {
        if (self.kind == RecipeFigureKind::Scatter) != self.x.summary.is_some() {
            return Err("x.summary belongs to a scatter plot, which needs it".into());
        }
        if self.x.number_in != NumberIn::Case && self.kind != RecipeFigureKind::Parameter {
            return Err("x.number_in belongs to kind = \"parameter\"".into());
        }
        Ok(())
    }

    fn check_panel(&self, panel: &FigurePanel, whats: &[&str]) -> Result<(), String> {
        let data = panel.data();
        let allowed: &[&str] = match self.kind {
            RecipeFigureKind::Time => &["series"],
            RecipeFigureKind::Parameter => &["what"],
            RecipeFigureKind::Boxes => &["what", "series", "distribution"],
            RecipeFigureKind::Scatter => &["summary"],
        };
        if !matches!(data.as_slice(), [one] if allowed.contains(one)) {
            return Err(format!("a panel of this kind has one of {}", allowed.join(", ")));
        }
        if let Some(rows) = panel.what.iter().find(|rows| !whats.iter().any(|what| glob(rows, what))) {
            return Err(format!("panels: no row is named \"{rows}\""));
        }
        if panel.scale.is_some() && data == ["what"] {
            return Err("panels: the values of rows have their scale already".into());
        }
        if panel.fair && self.kind != RecipeFigureKind::Time {
            return Err("panels: fair belongs to kind = \"time\"".into());
        }
        if panel.from.is_some() && (self.kind != RecipeFigureKind::Boxes || panel.series.is_none()) {
            return Err("panels: from belongs to boxes of a series".into());
        }
        let mut entities = panel.series.iter().chain(&panel.distribution);
        entities.try_for_each(|entity| entity.get_ref().kind_and_pattern().map(drop))
    }
}

impl FigurePanel {
    /// The keys of its data.
    fn data(&self) -> Vec<&'static str> {
        let given = [
            ("what", !self.what.is_empty()),
            ("series", self.series.is_some()),
            ("distribution", self.distribution.is_some()),
            ("summary", self.summary.is_some()),
        ];
        given.into_iter().filter(|(_, is_given)| *is_given).map(|(key, _)| key).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        let figure: RecipeFigure = toml::from_str(text).unwrap();
        let case = "a".to_owned();
        figure.check(&["queue at 10 ms", "utilization"], &[&case]).err().unwrap_or_default()
    }

    #[test]
    fn a_figure_declares_data_that_its_kind_draws() {
        let series = "series = { flow = '*', quantity = 'rate' }";
        for (text, message) in [
            ("kind = 'time'".to_owned(), ""),
            (format!("kind = 'time'\npanels = [{{ {series}, fair = true }}]"), ""),
            (
                "kind = 'parameter'\nx = { number_in = 'what' }\npanels = [{ what = 'queue at *' }]"
                    .to_owned(),
                "",
            ),
            (
                format!(
                    "kind = 'boxes'\npanels = [{{ what = ['utilization'] }}, {{ {series}, from = '1s' }}]"
                ),
                "",
            ),
            ("kind = 'time'\ncases = ['b']".to_owned(), "no case \"b\""),
            ("kind = 'time'\npanels = [{ what = 'utilization' }]".to_owned(), "has one of series"),
            ("kind = 'parameter'\npanels = [{ what = 'loss' }]".to_owned(), "no row is named \"loss\""),
            (
                "kind = 'boxes'\npanels = [{ label = 'x' }]".to_owned(),
                "has one of what, series, distribution",
            ),
            ("kind = 'boxes'\nx = { number_in = 'what' }".to_owned(), "number_in belongs"),
            ("kind = 'boxes'\npanels = [{ what = '*', scale = 2 }]".to_owned(), "have their scale already"),
            (format!("kind = 'boxes'\npanels = [{{ {series}, fair = true }}]"), "fair belongs"),
            (format!("kind = 'time'\npanels = [{{ {series}, from = '1s' }}]"), "from belongs"),
            ("kind = 'time'\npanels = [{ series = { quantity = 'rate' } }]".to_owned(), "has one of flow"),
            ("kind = 'scatter'\npanels = [{ summary = 'a' }]".to_owned(), "x.summary"),
            ("kind = 'scatter'\nx = { summary = 'a' }".to_owned(), "has one"),
        ] {
            let fault = fault(&text);
            assert!(fault.contains(message) && fault.is_empty() == message.is_empty(), "{text}: {fault}");
        }
    }
}
