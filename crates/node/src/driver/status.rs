//! What a node serves at its status address: metrics for Prometheus and a health page.

use crate::stats::{LoopStats, NodeStats};
use std::fmt::Write;

/// The whole answer to a request for the status.
pub(super) fn answer(request: &[u8], stats: &NodeStats, is_draining: bool) -> Vec<u8> {
    let head = String::from_utf8_lossy(request).into_owned();
    let mut words = head.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_healthy = stats.is_ready && !is_draining;
    let (status, kind, body) = match (method, path) {
        ("GET", "/metrics") => ("200 OK", "text/plain; version=0.0.4", metrics(stats, is_draining)),
        ("GET", "/health") => {
            let status = if is_healthy { "200 OK" } else { "503 Service Unavailable" };
            (status, "text/plain", health(stats, is_draining))
        }
        ("GET", _) => ("404 Not Found", "text/plain", "there are /metrics and /health\n".to_owned()),
        _ => ("405 Method Not Allowed", "text/plain", "only GET is served\n".to_owned()),
    };
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

fn health(stats: &NodeStats, is_draining: bool) -> String {
    let state = match (is_draining, stats.is_ready) {
        (true, _) => "draining",
        (false, true) => "ready",
        (false, false) => "not connected to the next node",
    };
    let mut page = format!("{state}\nflows {}\n", stats.flows);
    for link in &stats.loops {
        let peer = link.peer.map_or_else(|| "unknown".to_owned(), |peer| peer.to_string());
        let place = if link.is_next { "next" } else { "previous" };
        let silence = if link.is_silent { ", silent" } else { "" };
        let up = if link.is_up { "up" } else { "down" };
        let late = link.pacing_lateness.map_or_else(String::new, |(median, most)| {
            format!(", packets late by {:.3} ms (median), {:.3} ms (p99)", median.millis(), most.millis())
        });
        let _ = writeln!(page, "{place} {peer}: {up}{silence}{late}");
    }
    page
}

/// A metric of each loop.
struct Metric {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    value: fn(&LoopStats) -> Option<f64>,
}

const fn metric(
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    value: fn(&LoopStats) -> Option<f64>,
) -> Metric {
    Metric { name, kind, help, value }
}

#[rustfmt::skip]
const METRICS: &[Metric] = &[
    metric("up", "gauge", "1 if the connection is established.", |link| Some(f64::from(u8::from(link.is_up)))),
    metric("silent", "gauge", "1 if the rate messages of the neighbour have ceased.", |link| Some(f64::from(u8::from(link.is_silent)))),
    metric("ecn", "gauge", "1 if packets are sent as ECN-capable.", |link| Some(f64::from(u8::from(link.sends_ecn)))),
    metric("allowed_bits_per_second", "gauge", "Rate at which the law lets the sender send.", |link| Some(link.allowed_rate?.as_f64())),
    metric("window_bytes", "gauge", "Window of the law.", |link| Some(link.window?.as_f64())),
    metric("in_flight_bytes", "gauge", "Bytes in flight.", |link| Some(link.in_flight.as_f64())),
    metric("rtt_seconds", "gauge", "Smoothed round-trip time.", |link| Some(link.smoothed_rtt?.secs())),
    metric("min_rtt_seconds", "gauge", "Minimum round-trip time.", |link| Some(link.min_rtt?.secs())),
    metric("pacing_lateness_p50_seconds", "gauge", "Median of how late packets left that pacing delayed.", |link| Some(link.pacing_lateness?.0.secs())),
    metric("pacing_lateness_p99_seconds", "gauge", "99th percentile of how late packets left that pacing delayed.", |link| Some(link.pacing_lateness?.1.secs())),
    metric("sent_packets_total", "counter", "Packets sent that ask for an acknowledgement.", |link| Some(link.counters.sent_packets as f64)),
    metric("acked_packets_total", "counter", "Packets acknowledged.", |link| Some(link.counters.acked_packets as f64)),
    metric("lost_packets_total", "counter", "Packets declared lost.", |link| Some(link.counters.lost_packets as f64)),
    metric("marked_packets_total", "counter", "CE marks that the law has received.", |link| Some(link.counters.marked_packets as f64)),
    metric("received_marks_total", "counter", "Packets received with a CE mark.", |link| Some(link.received_marks.packets as f64)),
    metric("silences_total", "counter", "Times at which the rate messages of the neighbour ceased.", |link| Some(link.counters.silences as f64)),
    metric("held_bytes", "gauge", "Data held for the loop.", |link| Some(link.held.as_f64())),
    metric("hold_limit_bytes", "gauge", "Bound of the data held at present.", |link| Some(link.hold_limit.as_f64())),
    metric("longest_hold_seconds", "gauge", "Longest time for which data was held.", |link| Some(link.hold_times.longest.secs())),
    metric("forwarded_bytes_total", "counter", "Stream data given to the loop.", |link| Some(link.hold_times.bytes as f64)),
    metric("messages_sent_total", "counter", "Rate messages sent.", |link| Some(link.messages_sent as f64)),
    metric("messages_received_total", "counter", "Rate messages received that counted.", |link| Some(link.messages_received as f64)),
];

fn metrics(stats: &NodeStats, is_draining: bool) -> String {
    let mut page = String::new();
    let node = [
        ("flows", "gauge", "Flows at present.", stats.flows as f64),
        ("flows_total", "counter", "Flows since the start.", stats.flows_made as f64),
        (
            "flows_aborted_total",
            "counter",
            "Flows refused or aborted since the start.",
            stats.flows_aborted as f64,
        ),
        (
            "ready",
            "gauge",
            "1 if the node can pass flows on.",
            f64::from(u8::from(stats.is_ready && !is_draining)),
        ),
    ];
    for (name, kind, help, value) in node {
        let _ = write!(
            page,
            "# HELP millpond_{name} {help}\n# TYPE millpond_{name} {kind}\nmillpond_{name} {value}\n"
        );
    }
    for Metric { name, kind, help, value } in METRICS {
        let _ = write!(page, "# HELP millpond_loop_{name} {help}\n# TYPE millpond_loop_{name} {kind}\n");
        for link in &stats.loops {
            let Some(value) = value(link) else { continue };
            let place = if link.is_next { "next" } else { "previous" };
            let peer = link.peer.map_or_else(|| "unknown".to_owned(), |peer| peer.to_string());
            let _ = writeln!(
                page,
                "millpond_loop_{name}{{link=\"{}\",direction=\"{place}\",peer=\"{peer}\"}} {value}",
                link.link
            );
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backlog::HoldTimes;
    use crate::control::ControlCounters;
    use millpond_endpoint::Marks;
    use millpond_units::{Bytes, Rate, Span};

    /// A loop towards the next node, each of whose quantities has a value of its own.
    fn loop_stats() -> LoopStats {
        let millis = Span::from_millis;
        LoopStats {
            link: 4,
            peer: None,
            is_next: true,
            is_up: true,
            counters: ControlCounters {
                sent_packets: 11,
                acked_packets: 12,
                lost_packets: 13,
                marked_packets: 14,
                silences: 15,
            },
            allowed_rate: Some(Rate::from_mbps(20.0)),
            window: Some(Bytes::new(21)),
            in_flight: Bytes::new(22),
            smoothed_rtt: Some(millis(30)),
            min_rtt: Some(millis(20)),
            pacing_lateness: Some((millis(1), millis(2))),
            held: Bytes::new(23),
            hold_limit: Bytes::new(24),
            hold_times: HoldTimes { longest: millis(40), byte_seconds: 0.5, bytes: 25 },
            received_marks: Marks { packets: 26, bytes: Bytes::new(27) },
            messages_sent: 28,
            messages_received: 29,
            sends_ecn: true,
            is_silent: false,
        }
    }

    #[test]
    fn metrics_have_the_units_of_their_names() {
        let stats = NodeStats {
            loops: vec![loop_stats()],
            flows: 1,
            flows_made: 2,
            flows_aborted: 3,
            is_ready: true,
        };
        let page = metrics(&stats, false);
        let labels = "{link=\"4\",direction=\"next\",peer=\"unknown\"}";
        for (name, value) in [
            ("up", "1"),
            ("silent", "0"),
            ("allowed_bits_per_second", "20000000"),
            ("window_bytes", "21"),
            ("in_flight_bytes", "22"),
            ("rtt_seconds", "0.03"),
            ("min_rtt_seconds", "0.02"),
            ("pacing_lateness_p50_seconds", "0.001"),
            ("pacing_lateness_p99_seconds", "0.002"),
            ("sent_packets_total", "11"),
            ("acked_packets_total", "12"),
            ("lost_packets_total", "13"),
            ("marked_packets_total", "14"),
            ("silences_total", "15"),
            ("held_bytes", "23"),
            ("hold_limit_bytes", "24"),
            ("longest_hold_seconds", "0.04"),
            ("forwarded_bytes_total", "25"),
            ("received_marks_total", "26"),
            ("messages_sent_total", "28"),
            ("messages_received_total", "29"),
        ] {
            let line = format!("millpond_loop_{name}{labels} {value}\n");
            assert!(page.contains(&line), "{line}{page}");
        }
        let late = health(&stats, false);
        assert!(late.contains("packets late by 1.000 ms (median), 2.000 ms (p99)"), "{late}");
    }
}
