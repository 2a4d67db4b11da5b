//! The table of the harm of flows to others.

use millpond_results::Estimate;
use millpond_tables::{Cell, Document, text_table};
use millpond_units::format::fixed;

/// The harm to one quantity: by the flows, by the own kind of the harmed ones, and whether the first is greater.
pub type HarmCells = (Option<Estimate>, Option<Estimate>, &'static str);

/// One row for each set of flows: its label, the harm to goodput and the harm to delay. `subject`: what does harm; `own_kind`:
/// what the harm is compared with.
pub fn harm(
    subject: &str,
    own_kind: &str,
    rows: impl IntoIterator<Item = (String, [HarmCells; 2])>,
) -> Document {
    let mut headings = vec![format!("`{subject}`")];
    for quantity in ["goodput", "p95 delay"] {
        headings.extend(
            ["harm to", &format!("of {own_kind} to"), "verdict on"].map(|what| format!("{what}\n{quantity}")),
        );
    }
    let mut table = text_table(&headings.iter().map(String::as_str).collect::<Vec<_>>());
    for (label, quantities) in rows {
        let cells = quantities
            .into_iter()
            .flat_map(|(flows, own, verdict)| [shown(flows), shown(own), Cell::from(verdict)]);
        table.add_row([Cell::from(label)].into_iter().chain(cells));
    }
    Document::default().table(table)
}

fn shown(harm: Option<Estimate>) -> Cell {
    harm.map_or_else(Cell::absent, |harm| Cell::estimate(harm.mean, harm.half_width, |x| fixed(x, 2)))
}
