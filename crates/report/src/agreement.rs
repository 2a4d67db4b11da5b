//! The table of how far equilibrium, fluid run and packet run agree.

use super::document::{Section, paragraphs};
use maud::{Markup, html};
use millpond_diagnosis::agreement::Agreement;

/// A table for each label; no section if nothing was compared.
pub(super) fn section(agreements: &[(String, Agreement)]) -> Option<Section> {
    (!agreements.is_empty()).then(|| Section {
        id: "agreement".into(),
        title: "Equilibrium, fluid model and packets".into(),
        intro: "The equilibrium of the equations, the mean of the fluid run and the mean of the packet run. The difference \
                is that of the fluid run from the packet run."
            .into(),
        body: html! { @for (label, agreement) in agreements { (table(label, agreement)) } },
    })
}

/// The table of one label, with remarks below.
pub(super) fn table(label: &str, agreement: &Agreement) -> Markup {
    let remarks: Vec<String> = agreement.remarks().collect();
    html! {
        h3 { (label) }
        div.scrolls tabindex="0" role="region" aria-label={ (label) ": equilibrium, fluid, packets" } {
            table.headline {
                thead {
                    tr {
                        th {}
                        @for heading in ["equilibrium", "fluid", "packets", "difference"] {
                            th scope="col" { (heading) }
                        }
                    }
                }
                tbody {
                    @for row in &agreement.rows {
                        tr {
                            th scope="row" { (row.title()) }
                            td { (row.equilibrium.map_or_else(|| "-".to_owned(), |value| row.format_value(value))) }
                            td { (row.format_value(row.fluid)) }
                            td { (row.format_value(row.packets)) }
                            td { (row.format_difference()) }
                        }
                    }
                }
            }
        }
        (paragraphs(remarks.iter().map(String::as_str)))
    }
}
