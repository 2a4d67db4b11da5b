//! Reports: HTML pages of one file each that need nothing but a browser.
//!
//! A chart is a file in `charts/`: it takes the runs as `RunView`s and returns a `Figure`. HTML is written as `maud`
//! templates, which escape every value. Equal runs give equal bytes. Layout and print belong to `page.css`, copying
//! belongs to `page.js`; colours, dark mode, values under the pointer and zooming belong to `millpond-chart`.
//!
//! There is no charting script of others: it would add 4.6 MB to every report, draw nothing before it has run, and ignore
//! paper and the reader's theme.

mod agreement;
mod charts;
mod comparison;
mod conclusion;
mod curve_set;
pub mod document;
mod figures;
mod live_agreement;
pub mod nyquist;
mod papers;
mod parts;
pub mod rate_unit;
mod run_view;
mod source;
mod table;

pub use comparison::{comparison, runs};
pub use curve_set::MOST_CURVES;
pub use document::FIGURE_STYLE;
pub use figures::{FigureKind, PAPER_RULES, figure, figures_of_run};
pub use millpond_chart::{Figure, PaperWidth};
pub use papers::papers;
