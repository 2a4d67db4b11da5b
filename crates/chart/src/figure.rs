//! A figure: a title, panels one above the other, and a caption.

use crate::axis::Axis;
use crate::legend::Legend;
use crate::plot::Plot;
use maud::{Markup, Render, html};

/// A plot with its heading.
pub struct Panel {
    /// The quantity that is drawn.
    pub title: String,
    /// The unit of the quantity; the script shows it beside values. Empty if there is none.
    pub unit: String,
    /// What is drawn.
    pub legend: Legend,
    /// The plot.
    pub plot: Plot,
}

impl Panel {
    /// The unit and the spacing of the vertical axis, and what the axis leaves out.
    fn unit_and_scale(&self) -> String {
        let axis = &self.plot.y;
        let unit = Some(self.unit.clone()).filter(|unit| !unit.is_empty());
        let spacing = axis.spacing_text().map(str::to_owned);
        [unit, spacing, axis.scale.beyond_text()].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

impl Panel {
    /// Gives the horizontal axis the texts of another one, if it has none and the same scale.
    fn take_axis_texts(&mut self, texts: &Axis) {
        let axis = &mut self.plot.x;
        if axis.title.is_empty() && axis.scale == texts.scale {
            *axis = texts.clone();
        }
    }
}

impl Render for Panel {
    fn render(&self) -> Markup {
        html! {
            div.panel data-unit=(self.unit) {
                div.panel-head {
                    span.quantity { (self.title) span.unit { (self.unit_and_scale()) } }
                    span.legend { (self.legend) }
                    output.readout aria-live="off" {}
                }
                (self.plot)
            }
        }
    }
}

/// Panels that belong together; print keeps them on one sheet.
pub struct Figure {
    /// Unique on the page.
    pub id: String,
    /// The heading.
    pub title: Markup,
    /// Style class for the layout: `planar` for plots of a plane, `named-rows` for rows with names, or one of the page.
    /// Empty if there is none.
    pub class: &'static str,
    /// From top to bottom.
    pub panels: Vec<Panel>,
    /// What the figure shows; empty if there is none.
    pub caption: String,
}

impl Figure {
    /// Keeps one panel. Its horizontal axis gets the texts of that of the last panel, if it has none of its own: panels
    /// above others leave them out.
    pub fn keep_panel(&mut self, index: usize) {
        let Some(last) = self.panels.pop() else { return };
        let texts = last.plot.x.clone();
        self.panels.push(last);
        self.panels = self.panels.drain(..).skip(index).take(1).collect();
        self.panels.iter_mut().for_each(|panel| panel.take_axis_texts(&texts));
    }
}

impl Figure {
    /// Each panel as a figure without title and caption. Horizontal axes without texts get those of the last panel.
    #[must_use]
    pub fn into_panels(self) -> Vec<Self> {
        let Some(texts) = self.panels.last().map(|last| last.plot.x.clone()) else { return Vec::new() };
        let figure = |(index, mut panel): (usize, Panel)| {
            panel.take_axis_texts(&texts);
            let id = format!("{}-{index}", self.id);
            Self { id, title: html! {}, class: self.class, panels: vec![panel], caption: String::new() }
        };
        self.panels.into_iter().enumerate().map(figure).collect()
    }
}

impl Render for Figure {
    fn render(&self) -> Markup {
        let class = Some(self.class).filter(|class| !class.is_empty());
        html! {
            figure id=(self.id) class=[class] {
                h3 { (self.title) }
                @for panel in &self.panels { (panel) }
                @if !self.caption.is_empty() { figcaption { (self.caption) } }
            }
        }
    }
}
