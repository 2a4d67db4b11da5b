//! What an emulated link has done with the packets of a command.

use millpond_results::{EmulatedDirection, EmulatedLink};
use millpond_tables::{Cell, Document, table};
use millpond_units::format::{number, percent, two_digits};

/// One row per direction, and sentences about what makes the results less trustworthy.
pub fn emulated_link(link: &EmulatedLink) -> Document {
    let mut rows = table(&[
        "direction",
        "capacity\nMbit/s",
        "rate\nMbit/s",
        "used",
        "packets",
        "queueing\nms p50",
        "queueing\nms p95",
        "queueing\nms p99",
        "CE\nmarks",
        "queue\ndrops",
        "buffer\ndrops",
        "random\nlosses",
    ]);
    for direction in &link.directions {
        rows.add_row(cells(direction));
    }
    let mut document = Document::default().table(rows);
    for sentence in emulated_link_sentences(link) {
        document = document.text(format!("{sentence}\n"));
    }
    document
}

/// The capacity of a link without a limit, less a rounding error.
const UNLIMITED_BPS: f64 = 0.99e14;

fn cells(direction: &EmulatedDirection) -> Vec<Cell> {
    let wait = &direction.queueing_ms;
    let is_limited = direction.capacity_bps < UNLIMITED_BPS;
    let capacity = if is_limited { Cell::megabits(direction.capacity_bps) } else { "unlimited".into() };
    vec![
        direction.name.as_str().into(),
        capacity,
        Cell::megabits(direction.rate_bps),
        Cell::percent(direction.utilization),
        Cell::count(direction.packets),
        Cell::percentile(wait.p50),
        Cell::percentile(wait.p95),
        Cell::percentile(wait.p99),
        Cell::count(direction.marks),
        Cell::count(direction.law_drops),
        Cell::count(direction.buffer_drops),
        Cell::count(direction.losses),
    ]
}

/// How well the machine kept to the times of the link, and the packets that it lost itself.
pub fn emulated_link_sentences(link: &EmulatedLink) -> Vec<String> {
    let machine = &link.machine;
    let late = machine.lateness_us;
    let priority = if machine.real_time { "real-time" } else { "normal" };
    let mut sentences = vec![format!(
        "{} s, exit code {}. Packets left late by {} us (median), {} us (p99), {} us (p99.9).\n\
         Machine: {priority} priority, load {} on {} processors; the emulator used {} of one.",
        number(link.duration_s),
        link.exit_code,
        two_digits(late.p50),
        two_digits(late.p99),
        two_digits(late.p99_9),
        number(machine.load),
        machine.processors,
        percent(machine.processor_share),
    )];
    if let Some(code) = link.server_exit_code.filter(|code| *code != 0) {
        sentences.push(format!("Warning: the command at the other end ended first, with exit code {code}."));
    }
    for direction in &link.directions {
        let EmulatedDirection { name, overrun, refused, .. } = direction;
        if *overrun > 0 {
            sentences.push(format!(
                "Warning: {overrun} packets were lost before the {name} link, because the emulator was too slow for them."
            ));
        }
        if *refused > 0 {
            sentences.push(format!(
                "Warning: the kernel did not accept {refused} packets behind the {name} link."
            ));
        }
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::{Lateness, Machine, Milliseconds};

    fn link() -> EmulatedLink {
        let direction = |name: &str, overrun| EmulatedDirection {
            name: name.to_owned(),
            capacity_bps: 20e6,
            rate_bps: 19e6,
            utilization: 0.95,
            packets: 1583,
            queueing_ms: Milliseconds { p50: 1.5, p95: 4.0, p99: 6.0, ..Milliseconds::default() },
            marks: 12,
            overrun,
            ..EmulatedDirection::default()
        };
        EmulatedLink {
            duration_s: 10.0,
            machine: Machine {
                lateness_us: Lateness { p50: 20.0, ..Lateness::default() },
                ..Machine::default()
            },
            directions: vec![direction("down", 0), direction("up", 7)],
            ..EmulatedLink::default()
        }
    }

    #[test]
    fn each_direction_has_a_row_with_all_digits_in_csv() {
        let csv = emulated_link(&link()).csv();
        let rows: Vec<&str> = csv.lines().collect();
        assert!(rows.iter().any(|row| row.starts_with("down,20,19,0.95,1583,1.5,4,6,12,0,0,0")), "{csv}");
        assert!(rows.iter().any(|row| row.starts_with("up,")));
        assert!(rows[0].contains(",queueing ms p50,queueing ms p95,queueing ms p99,"), "{csv}");
    }

    #[test]
    fn lost_packets_of_the_machine_are_a_warning() {
        let sentences = emulated_link_sentences(&link());
        assert_eq!(sentences.len(), 2);
        assert!(sentences[1].contains("7 packets were lost before the up link"));
        assert!(sentences[0].contains("20 us (median)") && sentences[0].contains("normal priority"));
    }
}
