//! The page around the figures: head, sections, style and script, all inside one file that asks the network for nothing.

use crate::chart::figure::Figure;
use crate::chart::markup::Text;
use crate::chart::theme::definitions;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A browser that honours this cannot load anything, whatever the page says.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// A part of the page under a heading.
pub(super) struct Section {
    /// Fixed, for links.
    pub id: String,
    pub title: String,
    /// What to look for, in one or two sentences.
    pub intro: String,
    /// Markup.
    pub body: String,
}

impl Section {
    /// A section of figures; none if there is no figure.
    pub(super) fn of_figures(
        id: impl Into<String>,
        title: impl Into<String>,
        intro: impl Into<String>,
        figures: &[Figure],
    ) -> Option<Self> {
        let body: String = figures.iter().map(Figure::html).collect();
        (!figures.is_empty()).then(|| Self { id: id.into(), title: title.into(), intro: intro.into(), body })
    }

    fn html(&self) -> String {
        let intro =
            if self.intro.is_empty() { String::new() } else { format!("<p>{}</p>", Text(&self.intro)) };
        format!(
            r#"<section id="{}"><h2>{}</h2>{intro}{}</section>"#,
            Text(&self.id),
            Text(&self.title),
            self.body
        )
    }
}

/// The whole file. `lead` is markup that stands between title and sections.
pub(super) fn page(title: &str, lead: &str, sections: &[Section]) -> String {
    let body: String = sections.iter().map(Section::html).collect();
    format!(
        concat!(
            "<!DOCTYPE html>\n",
            r#"<html lang="en"><head><meta charset="utf-8">"#,
            r#"<meta http-equiv="Content-Security-Policy" content="{policy}">"#,
            r#"<meta name="viewport" content="width=device-width, initial-scale=1">"#,
            r#"<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">"#,
            "<title>{title}</title>\n<style>\n{style}</style></head>\n<body>{definitions}",
            r#"<header><h1>{title}</h1>{lead}</header><main>{body}</main>"#,
            r#"<footer>Drawn by Millpond. This file needs no network.</footer>"#,
            "\n<script>\n{script}</script></body></html>\n"
        ),
        policy = POLICY,
        title = Text(title),
        style = STYLE,
        definitions = definitions(),
        lead = lead,
        body = body,
        script = SCRIPT,
    )
}
