//! The files of the page.

use include_dir::{Dir, include_dir};
use maud::Render;
use millpond_chart::{SCRIPT, STYLE, definitions};

static ASSETS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/assets");

/// The place in `index.html` at which the definitions of charts are inserted: markers and patterns that their elements use.
const DEFINITIONS: &str = "<!-- definitions of charts -->";

/// The page.
pub(crate) fn page() -> String {
    let index = ASSETS.get_file("index.html").and_then(include_dir::File::contents_utf8).unwrap_or_default();
    index.replace(DEFINITIONS, &definitions().render().into_string())
}

/// A file of the page, with its media type. `chart.css`, `chart.js` and `figures.css` are those of the reports.
pub(crate) fn asset(path: &str) -> Option<(&'static [u8], &'static str)> {
    let content = match path {
        "chart.css" => STYLE.as_bytes(),
        "chart.js" => SCRIPT.as_bytes(),
        "figures.css" => millpond_report::FIGURE_STYLE.as_bytes(),
        _ => ASSETS.get_file(path)?.contents(),
    };
    Some((content, media_type(path)))
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("toml" | "txt" | "md") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
