//! The page around the figures: head, sections, style and script, in one file that makes no network request.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use millpond_chart::{Figure, definitions};
use millpond_results::RunOrigin;

const STYLE: &str = include_str!("page.css");
/// The style sheet of the elements of figures that are not of `millpond-chart`: curves and areas of runs and analyses.
pub const FIGURE_STYLE: &str = include_str!("figures.css");
const SCRIPT: &str = include_str!("page.js");

/// The content security policy: a browser that follows it loads nothing.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// A part of the page under a heading.
pub struct Section {
    /// Unique on the page, for links.
    pub id: String,
    /// The heading.
    pub title: String,
    /// One or two sentences below the heading; empty if there is none.
    pub intro: String,
    /// What follows the introduction.
    pub body: Markup,
}

impl Section {
    /// A section of figures; none if there is no figure.
    pub fn of_figures(
        id: impl Into<String>,
        title: impl Into<String>,
        intro: impl Into<String>,
        figures: &[Figure],
    ) -> Option<Self> {
        let body = html! { @for figure in figures { (figure) } };
        (!figures.is_empty()).then(|| Self { id: id.into(), title: title.into(), intro: intro.into(), body })
    }

    fn html(&self) -> Markup {
        html! {
            section id=(self.id) {
                h2 { (self.title) }
                @if !self.intro.is_empty() { p { (self.intro) } }
                (self.body)
            }
        }
    }
}

/// The whole file. `lead` is between the title and the sections.
pub fn page(title: &str, lead: &Markup, sections: &[Section]) -> String {
    page_of(title, lead, &html! { @for section in sections { (section.html()) } })
}

/// The whole file, whose sections are `main`. `lead` is between the title and the sections.
pub fn page_of(title: &str, lead: &Markup, main: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(millpond_chart::STYLE)) (PreEscaped(STYLE)) (PreEscaped(FIGURE_STYLE)) }
            }
            body {
                (definitions())
                header { h1 { (title) } (lead) }
                main { (main) }
                footer { "Made by Millpond. This file makes no network request." }
                script { (PreEscaped(millpond_chart::SCRIPT)) (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// The version of Millpond and the command that made what a page shows.
pub fn origin(origin: &RunOrigin) -> Markup {
    html! { li { "Millpond " (origin.version) ": " code { (origin.command) } } }
}

/// A paragraph for each text.
pub fn paragraphs<'a>(texts: impl IntoIterator<Item = &'a str>) -> Markup {
    html! { @for text in texts { p { (text) } } }
}
