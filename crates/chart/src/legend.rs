//! Entries of a legend: a piece of the line or the area, and its name.

use crate::text::elide;
use maud::{Markup, html};

/// Names in legends are cut to this many characters.
const NAME_LENGTH: usize = 24;

/// The entry of a curve that is drawn with this style class.
pub fn line_entry(class: &str, name: &str) -> Markup {
    html! {
        span.key {
            svg.swatch width="22" height="10" aria-hidden="true" { path class=(class) d="M1 5H21" {} }
            (elide(name, NAME_LENGTH))
        }
    }
}

/// The entry of an area that is filled with this style class; an empty class is that of [`crate::Plot::area`].
pub fn area_entry(class: &str, name: &str) -> Markup {
    html! { span.key { i class={ "block " (class) } {} (name) } }
}
