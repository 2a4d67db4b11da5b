//! How far two worlds agree about one scenario, and with its point of rest.

use super::write::{megabits, number, percent, table};
use crate::agreement::{Agreement, Line, Quantity};

/// Rates, delays and queues at rest and in both worlds, and by how much the fluid's differ, as a share of the packets'.
pub fn worlds(agreements: &[Agreement]) -> String {
    agreements.iter().map(one).collect()
}

fn one(agreement: &Agreement) -> String {
    let mut rows = table(&["packets and fluid", "at rest", "fluid", "packets", "difference"]);
    for line in &agreement.lines {
        let rest = line.rest.map_or_else(|| "-".to_owned(), |rest| written(line, rest));
        let values = [rest, written(line, line.fluid), written(line, line.packets), difference(line)];
        rows.add_row(std::iter::once(line.what()).chain(values));
    }
    format!("{rows}\n{}", remarks(agreement).map(|remark| remark + "\n").collect::<String>())
}

/// What stands below the table.
pub(crate) fn remarks(agreement: &Agreement) -> impl Iterator<Item = String> {
    let restless = agreement.restless.iter().map(|why| format!("at rest: {why}"));
    restless.chain(agreement.notes.iter().map(|note| format!("note: {note}")))
}

pub(crate) fn written(line: &Line, value: f64) -> String {
    match line.quantity {
        Quantity::Goodput => megabits(value),
        Quantity::Used => percent(value),
        // A window of a hundred packets asks for one mark in five thousand.
        Quantity::Marked => format!("{} %", number(100.0 * value)),
        Quantity::Jain => format!("{value:.3}"),
        Quantity::Queueing | Quantity::Queue | Quantity::LongestQueue => number(value),
    }
}

pub(crate) fn difference(line: &Line) -> String {
    let share = line.difference();
    if share.is_finite() { format!("{:+.1} %", 100.0 * share) } else { "-".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::side_by_side;
    use crate::analysis::{AtRest, LinkAtRest};
    use crate::results::{Link, Packets, Run, Summary};

    fn run(mean: f64) -> Run {
        let queue_packets = Packets { mean, ..Packets::default() };
        let link = Link { name: "L".into(), utilization: 0.9, queue_packets, ..Link::default() };
        Run { summary: Summary { links: vec![link], ..Summary::default() }, ..Run::default() }
    }

    #[test]
    fn the_difference_is_a_share_of_the_packets() {
        let link = LinkAtRest { utilization: 1.0, queue_packets: 9.5, marked: 0.0 };
        let rest = AtRest { links: vec![Some(link)], ..AtRest::default() };
        let text = worlds(&[side_by_side(&run(8.0), &run(10.0), Ok(rest))]);
        let row = text.lines().find(|line| line.contains("queue packets")).unwrap();
        for cell in ["9.50", "10.0", "8.00", "+25.0 %"] {
            assert!(row.contains(cell), "{row}");
        }
        assert!(text.contains("0.0 %") && text.contains(" - "), "{text}");
    }

    #[test]
    fn what_does_not_rest_says_why() {
        let text = worlds(&[side_by_side(&run(8.0), &run(10.0), Err("it cycles".into()))]);
        assert!(text.ends_with("at rest: it cycles\n"), "{text}");
    }
}
