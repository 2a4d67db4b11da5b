//! How far two worlds agree about one scenario, and with its point of rest.

use super::write::table;
use millpond_theory::agreement::Agreement;

/// Rates, delays and queues at rest and in both worlds, and by how much the fluid's differ, as a share of the packets'.
pub fn worlds(agreements: &[Agreement]) -> String {
    agreements.iter().map(one).collect()
}

fn one(agreement: &Agreement) -> String {
    let mut rows = table(&["packets and fluid", "at rest", "fluid", "packets", "difference"]);
    for row in &agreement.rows {
        let equilibrium = row.equilibrium.map_or_else(|| "-".to_owned(), |value| row.format_value(value));
        let values = [
            equilibrium,
            row.format_value(row.fluid),
            row.format_value(row.packets),
            row.format_difference(),
        ];
        rows.add_row(std::iter::once(row.title()).chain(values));
    }
    format!("{rows}\n{}", agreement.remarks().map(|remark| remark + "\n").collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::{Link, Packets, Run, Summary};
    use millpond_theory::agreement::tabulate_agreement;
    use millpond_theory::equilibrium::{EquilibriumSummary, LinkEquilibrium};

    fn run(mean: f64) -> Run {
        let queue_packets = Packets { mean, ..Packets::default() };
        let link = Link { name: "L".into(), utilization: 0.9, queue_packets, ..Link::default() };
        Run { summary: Summary { links: vec![link], ..Summary::default() }, ..Run::default() }
    }

    #[test]
    fn the_difference_is_a_share_of_the_packets() {
        let link = LinkEquilibrium { utilization: 1.0, queue_packets: 9.5, marking_probability: 0.0 };
        let rest = EquilibriumSummary { links: vec![Some(link)], ..EquilibriumSummary::default() };
        let text = worlds(&[tabulate_agreement(&run(8.0), &run(10.0), Ok(rest))]);
        let row = text.lines().find(|line| line.contains("queue packets")).unwrap();
        for cell in ["9.50", "10.0", "8.00", "+25.0 %"] {
            assert!(row.contains(cell), "{row}");
        }
        assert!(text.contains("0.0 %") && text.contains(" - "), "{text}");
    }

    #[test]
    fn what_does_not_rest_says_why() {
        let text = worlds(&[tabulate_agreement(&run(8.0), &run(10.0), Err("it cycles".into()))]);
        assert!(text.ends_with("at rest: it cycles\n"), "{text}");
    }
}
