//! The table of how far rest, fluid and packets agree.

use super::document::Section;
use crate::chart::markup::Text;
use millpond_theory::agreement::Agreement;

/// One table for each scenario and protocol; no section if nothing was compared.
pub(super) fn section(agreements: &[(String, Agreement)]) -> Option<Section> {
    (!agreements.is_empty()).then(|| Section {
        id: "agreement".into(),
        title: "At rest, as fluid, in packets".into(),
        intro: "The point of rest of the equations, the mean of the fluid run and that of the packets; the difference is \
                the fluid's from the packets'."
            .into(),
        body: agreements.iter().map(|(label, agreement)| one(label, agreement)).collect(),
    })
}

pub(super) fn one(label: &str, agreement: &Agreement) -> String {
    let mut rows = String::new();
    for row in &agreement.rows {
        let equilibrium = row.equilibrium.map_or_else(|| "-".to_owned(), |value| row.format_value(value));
        rows += &format!(r#"<tr><th scope="row">{}</th>"#, Text(&row.title()));
        for cell in
            [equilibrium, row.format_value(row.fluid), row.format_value(row.packets), row.format_difference()]
        {
            rows += &format!("<td>{}</td>", Text(&cell));
        }
        rows += "</tr>";
    }
    let remarks: String = agreement.remarks().map(|remark| format!("<p>{}</p>", Text(&remark))).collect();
    let label = Text(label);
    format!(
        concat!(
            r#"<h3>{label}</h3><div class="scrolls" tabindex="0" role="region" aria-label="{label}: rest, fluid, packets">"#,
            r#"<table class="headline"><thead><tr><th></th><th scope="col">at rest</th><th scope="col">fluid</th>"#,
            r#"<th scope="col">packets</th><th scope="col">difference</th></tr></thead><tbody>{rows}</tbody></table></div>{remarks}"#
        ),
        label = label,
        rows = rows,
        remarks = remarks
    )
}
