//! What an emulated link has done with the packets of a command.

use millpond_results::{EmulatedDirection, EmulatedLink, Lateness, Milliseconds};
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

fn cells(direction: &EmulatedDirection) -> Vec<Cell> {
    let wait = |level: fn(&Milliseconds) -> f64| {
        direction.queueing_ms.as_ref().map(level).map_or_else(Cell::absent, Cell::percentile)
    };
    vec![
        direction.name.as_str().into(),
        direction.capacity_bps.map_or_else(|| "unlimited".into(), Cell::megabits),
        Cell::megabits(direction.rate_bps),
        direction.utilization.map_or_else(Cell::absent, Cell::percent),
        Cell::count(direction.packets),
        wait(|wait| wait.p50),
        wait(|wait| wait.p95),
        wait(|wait| wait.p99),
        Cell::count(direction.marks),
        Cell::count(direction.law_drops),
        Cell::count(direction.buffer_drops),
        Cell::count(direction.losses),
    ]
}

/// By how much packets left later than they should have.
fn lateness(late: &Lateness) -> String {
    let [median, p99, p99_9] = [late.p50, late.p99, late.p99_9].map(two_digits);
    format!("Packets left late by {median} us (median), {p99} us (p99), {p99_9} us (p99.9).")
}

/// Largest share of the link's round-trip time by which a hundredth of the packets may be late without a warning.
const MOST_LATE: f64 = 0.1;

/// The mean round-trip time of the link in milliseconds: propagation and queueing delays of both directions.
fn round_trip_ms(link: &EmulatedLink) -> f64 {
    let queueing =
        |direction: &EmulatedDirection| direction.queueing_ms.as_ref().map_or(0.0, |wait| wait.mean);
    link.directions.iter().map(|direction| direction.delay_ms + queueing(direction)).sum()
}

/// A warning if lateness is a large part of the round-trip time.
fn late_for_the_link(link: &EmulatedLink) -> Option<String> {
    let (late, round_trip) = (link.machine.lateness_us?.p99 / 1e3, round_trip_ms(link));
    (late > MOST_LATE * round_trip).then(|| {
        format!(
            "Warning: a hundredth of the packets left more than {} ms late, and the mean round-trip time of the link is {} ms: the \
             results describe this machine as much as the link.",
            two_digits(late),
            number(round_trip)
        )
    })
}

/// How well the machine kept to the times of the link, and the packets that it lost itself.
pub fn emulated_link_sentences(link: &EmulatedLink) -> Vec<String> {
    let machine = &link.machine;
    let priority = if machine.real_time { "real-time" } else { "normal" };
    let mut sentences = vec![format!(
        "{} s, exit code {}. {}\n\
         Machine: {priority} priority, load {} on {} processors; the emulator used {} of one.",
        number(link.duration_s),
        link.exit_code,
        machine.lateness_us.map_or_else(|| "No packet left.".to_owned(), |late| lateness(&late)),
        number(machine.load),
        machine.processors,
        percent(machine.processor_share),
    )];
    sentences.extend(late_for_the_link(link));
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
