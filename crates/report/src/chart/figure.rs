//! A figure: a title, panels one above the other, and a caption that says what one sees.

use super::markup::Text;
use super::plot::Plot;

/// A plot with the words above it.
pub(crate) struct Panel {
    /// The quantity drawn.
    pub title: String,
    /// Its unit, also what the pointer reads out.
    pub unit: String,
    /// Entries of the legend, as markup.
    pub legend: String,
    pub plot: Plot,
}

impl Panel {
    fn html(&self) -> String {
        format!(
            concat!(
                r#"<div class="panel" data-unit="{unit}"><div class="panel-head">"#,
                r#"<span class="quantity">{title}<span class="unit">{unit}</span></span>"#,
                r#"<span class="legend">{legend}</span><output class="readout" aria-live="off"></output></div>{plot}</div>"#
            ),
            title = Text(&self.title),
            unit = Text(&self.unit),
            legend = self.legend,
            plot = self.plot.svg(),
        )
    }
}

/// What the page shows in one piece and print keeps on one sheet.
pub(crate) struct Figure {
    /// Of the whole page, fixed.
    pub id: String,
    /// Markup: it may begin with a run's badge.
    pub title: String,
    /// Layout class, if any.
    pub class: &'static str,
    pub panels: Vec<Panel>,
    /// In plain words.
    pub caption: String,
}

impl Figure {
    pub(crate) fn html(&self) -> String {
        let panels: String = self.panels.iter().map(Panel::html).collect();
        let caption = match self.caption.as_str() {
            "" => String::new(),
            words => format!("<figcaption>{}</figcaption>", Text(words)),
        };
        format!(
            r#"<figure id="{id}" class="{class}"><h3>{title}</h3>{panels}{caption}</figure>"#,
            id = Text(&self.id),
            class = self.class,
            title = self.title,
        )
    }
}
