//! How a run is recognised all over the page: by colour, by dashes and by the shape of its marks,
//! so that one of the three suffices (colour-blind readers, grey paper). The colours themselves are in `page.css`.

use super::markup::Text;

/// Colours of Okabe and Ito's palette, dash patterns and shapes that `page.css` and [`SHAPES`] define.
const COLOURS: usize = 8;
const DASHES: usize = 6;

/// The marks: each about 9 pixels wide around the origin.
const SHAPES: [&str; 8] = [
    r#"<circle r="4.5"/>"#,
    r#"<path d="M-4-4H4V4H-4z"/>"#,
    r#"<path d="M0-5.2L5 3.8H-5z"/>"#,
    r#"<path d="M0-5.6L5.6 0 0 5.6-5.6 0z"/>"#,
    r#"<path d="M0 5.2L5-3.8H-5z"/>"#,
    r#"<path d="M-1.6-5H1.6V-1.6H5V1.6H1.6V5H-1.6V1.6H-5V-1.6H-1.6z"/>"#,
    r#"<path d="M-4.7-2.5-2.5-4.7 0-2.2 2.5-4.7 4.7-2.5 2.2 0 4.7 2.5 2.5 4.7 0 2.2-2.5 4.7-4.7 2.5-2.2 0z"/>"#,
    r#"<path d="M0-5.5L4.8-1.7 3-4.5H-3L-4.8-1.7z"/>"#,
];

/// The look of the run at this place in the comparison.
#[derive(Clone, Copy)]
pub(crate) struct Look(pub usize);

impl Look {
    /// Class that sets the colour.
    pub(crate) fn colour(self) -> String {
        format!("c{}", self.0 % COLOURS)
    }

    /// Class that sets the dashes; other dashes the second time a colour comes round.
    pub(crate) fn dashes(self) -> String {
        format!("d{}", (self.0 + self.0 / COLOURS) % DASHES)
    }

    /// The element that draws the mark at a place given as `x="…" y="…"`.
    pub(crate) fn mark(self, place: &str) -> String {
        let shape = (self.0 + 2 * (self.0 / COLOURS)) % SHAPES.len();
        format!(r##"<use class="mark {}" href="#shape{shape}" {place}/>"##, self.colour())
    }

    /// A piece of line with its mark, and the name.
    pub(crate) fn legend_entry(self, name: &str) -> String {
        format!(
            concat!(
                r#"<span class="key"><svg class="{} swatch" width="34" height="12" aria-hidden="true">"#,
                r#"<path class="{} line" d="M1 6H33"/>{}</svg>{}</span>"#
            ),
            self.colour(),
            self.dashes(),
            self.mark(r#"x="17" y="6""#),
            Text(name)
        )
    }

    /// The mark alone, as it stands before a name.
    pub(crate) fn badge(self) -> String {
        let mark = self.mark(r#"x="7" y="7""#);
        format!(r#"<svg class="badge" width="14" height="14" aria-hidden="true">{mark}</svg>"#)
    }
}

/// The definitions that every mark refers to, once per page.
pub(crate) fn definitions() -> String {
    let shape = |(index, shape): (usize, &&str)| format!(r#"<g id="shape{index}">{shape}</g>"#);
    let shapes: String = SHAPES.iter().enumerate().map(shape).collect();
    format!(r#"<svg width="0" height="0" class="definitions" aria-hidden="true"><defs>{shapes}</defs></svg>"#)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_dozen_runs_differ_in_colour_or_dashes_and_in_no_case_share_all() {
        let looks = |index| (Look(index).colour(), Look(index).dashes(), Look(index).mark(""));
        let distinct: BTreeSet<_> = (0..24).map(looks).collect();
        assert_eq!(distinct.len(), 24);
    }

    #[test]
    fn six_runs_differ_in_grey_print_by_dashes_alone() {
        let distinct: BTreeSet<_> = (0..6).map(|index| Look(index).dashes()).collect();
        assert_eq!(distinct.len(), 6);
    }
}
