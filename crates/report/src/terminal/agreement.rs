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

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_diagnosis::agreement::tabulate_agreement;
    use millpond_results::{Link, Packets, Run, Summary};
    use millpond_theory::equilibrium::{EquilibriumSummary, LinkOperatingPoint};

    fn run(mean: f64) -> Run {
        let queue_packets = Packets { mean, ..Packets::default() };
        let link = Link { name: "L".into(), utilization: 0.9, queue_packets, ..Link::default() };
        Run { summary: Summary { links: vec![link], ..Summary::default() }, ..Run::default() }
    }

    #[test]
    fn the_difference_is_a_share_of_the_packet_runs_value() {
        let link = LinkOperatingPoint { utilization: 1.0, queue_packets: 9.5, marking_probability: 0.0 };
        let equilibrium = EquilibriumSummary { links: vec![Some(link)], ..EquilibriumSummary::default() };
        let text = agreement(&tabulate_agreement(&run(8.0), &run(10.0), Ok(equilibrium))).to_string();
        let row = text.lines().find(|line| line.contains("queue packets")).unwrap();
        for cell in ["9.50", "10.0", "8.00", "+25.0 %"] {
            assert!(row.contains(cell), "{row}");
        }
        assert!(text.contains("0.0 %") && text.contains(" - "), "{text}");
    }

    #[test]
    fn the_reason_for_a_missing_equilibrium_is_printed() {
        let text = agreement(&tabulate_agreement(&run(8.0), &run(10.0), Err("it cycles".into()))).to_string();
        assert!(text.ends_with("no equilibrium: it cycles\n"), "{text}");
    }
}
