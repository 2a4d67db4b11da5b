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
