//! The table of how far equilibrium, fluid run and packet run agree.

use millpond_diagnosis::agreement::Agreement;
use millpond_tables::{Cell, Document, table};

/// Rates, delays and queues in equilibrium, as fluid and in packets. The difference is that of the fluid run, as a share
/// of the packet run's value.
pub fn agreement(agreement: &Agreement) -> Document {
    let mut rows = table(&["quantity", "equilibrium", "fluid", "packets", "difference"]);
    for row in &agreement.rows {
        let value = |value: f64| Cell::shown(value, row.format_value(value));
        let equilibrium = row.equilibrium.map_or_else(Cell::absent, value);
        let values = [equilibrium, value(row.fluid), value(row.packets), row.format_difference().into()];
        rows.add_row(std::iter::once(row.title().into()).chain(values));
    }
    Document::default().table(rows).text(agreement.remarks().map(|remark| remark + "\n").collect::<String>())
}
