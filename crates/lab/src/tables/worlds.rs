//! How far two worlds agree about one scenario.

use super::write::{megabits, number, percent, table};
use crate::results::{Link, Run};

/// One line: what, in packets, as fluid.
struct Line {
    what: String,
    packets: f64,
    fluid: f64,
    write: fn(f64) -> String,
}

/// For each pair of a run in packets and the same as fluid: rates, delays and queues of both, and by how much the
/// fluid's differ, as a share of the packets'.
pub fn worlds(pairs: &[(&Run, &Run)]) -> String {
    let mut text = String::new();
    for (packets, fluid) in pairs {
        let mut rows = table(&["packets and fluid", "packets", "fluid", "difference"]);
        for Line { what, packets, fluid, write } in lines(packets, fluid) {
            rows.add_row([what, write(packets), write(fluid), difference(packets, fluid)]);
        }
        text += &format!("{rows}\n");
    }
    text
}

fn difference(packets: f64, fluid: f64) -> String {
    let share = (fluid - packets) / packets;
    if share.is_finite() { format!("{:+.1} %", 100.0 * share) } else { "-".to_owned() }
}

fn lines(packets: &Run, fluid: &Run) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut line =
        |what: String, packets: f64, fluid: f64, write| lines.push(Line { what, packets, fluid, write });
    for (p, f) in packets.summary.groups.iter().zip(&fluid.summary.groups) {
        let name = &p.name;
        line(format!("{name}: goodput Mbps"), p.goodput_bps.mean, f.goodput_bps.mean, megabits);
        line(format!("{name}: queueing ms"), p.queueing_ms.mean, f.queueing_ms.mean, number);
        line(format!("{name}: Jain"), p.jain, f.jain, |jain| format!("{jain:.3}"));
    }
    let links = packets.summary.links.iter().zip(&fluid.summary.links);
    let is_busy = |link: &Link| link.utilization > 0.5;
    for (p, f) in links.filter(|(p, f)| is_busy(p) || is_busy(f)) {
        let name = format!("{} {}", p.name, p.direction);
        line(format!("{name}: used"), p.utilization, f.utilization, percent);
        line(format!("{name}: queue packets"), p.queue_packets.mean, f.queue_packets.mean, number);
        line(format!("{name}: longest queue"), p.queue_packets.max, f.queue_packets.max, number);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Packets, Summary};

    #[test]
    fn the_difference_is_a_share_of_the_packets() {
        let run = |mean| {
            let queue_packets = Packets { mean, ..Packets::default() };
            let link = Link { name: "L".into(), utilization: 0.9, queue_packets, ..Link::default() };
            Run { summary: Summary { links: vec![link], ..Summary::default() }, ..Run::default() }
        };
        let text = worlds(&[(&run(8.0), &run(10.0))]);
        let row = text.lines().find(|line| line.contains("queue packets")).unwrap();
        for cell in ["8.00", "10.0", "+25.0 %"] {
            assert!(row.contains(cell), "{row}");
        }
        assert!(text.contains("0.0 %") && text.contains(" - "), "{text}");
    }
}
