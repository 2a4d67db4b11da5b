//! `[endpoint]`: loss detection and timers of all senders (RFC 9002).

use crate::model::Endpoint;
use crate::table::{Field, Form, KeyTable, Rule, ScenarioKey, Written, put, set, stored_key, text};
use crate::tree::Raw;
use millpond_units::{Readable, Span};

/// Longest timer.
const LONGEST: Span = Span::from_millis(3_600_000);

const TIMER: Form = Form::Span { least: Span::from_picos(1), most: LONGEST };

/// The keys of `[endpoint]`.
pub(crate) static ENDPOINT: KeyTable<Endpoint> = KeyTable {
    name: "endpoint table",
    blank: Endpoint::default,
    plain: None,
    keys: &[
        stored_key! {
            name: "initial_rtt",
            form: TIMER,
            rule: Rule::Default("\"333ms\""),
            meaning: "round-trip time of a path before its first sample (kInitialRtt of RFC 9002)",
            field: initial_rtt,
        },
        stored_key! {
            name: "granularity",
            form: TIMER,
            rule: Rule::Default("\"1ms\""),
            meaning: "least allowance of a timeout for the variation of round-trip times (kGranularity of RFC 9002)",
            field: granularity,
        },
        stored_key! {
            name: "min_probe_timeout",
            form: Form::Span { least: Span::ZERO, most: LONGEST },
            rule: Rule::Default("\"0s\""),
            meaning: "a sender without feedback sends a probe after this time at the earliest. RFC 9002 has no such bound; RFC \
                      6298 has 1 s for the retransmission timeout of TCP, Linux 200 ms. Persistent congestion takes three times this time at least",
            field: min_probe_timeout,
        },
        ScenarioKey {
            name: "max_probe_timeout",
            form: TIMER,
            rule: Rule::Default("\"60s\""),
            meaning: "longest time between two probes; the time doubles with each probe that remains without feedback",
            read: |endpoint, written| {
                let most = max_probe_timeout(endpoint, written);
                set(&mut endpoint.max_probe_timeout, most)
            },
            write: |endpoint| put(&endpoint.max_probe_timeout),
        },
        stored_key! {
            name: "probes_per_timeout",
            form: Form::Whole { least: 1, most: 2 },
            rule: Rule::Default("2"),
            meaning: "packets that leave at a probe timeout (RFC 9002, section 6.2.4)",
            field: probes_per_timeout,
        },
        stored_key! {
            name: "packet_threshold",
            form: Form::Whole { least: 1, most: 1_000_000 },
            rule: Rule::Default("3"),
            meaning: "a packet is lost when one that was sent this many packets later is acknowledged (kPacketThreshold of RFC \
                      9002)",
            field: packet_threshold,
        },
        ScenarioKey {
            name: "skip_numbers",
            form: Form::AnyOf(&[Form::Word("never"), Form::Whole { least: 1, most: 1_000_000 }]),
            rule: Rule::Default("\"never\""),
            meaning: "senders leave out a packet number after this many packets on average, at random, and close when a \
                      receiver acknowledges a packet that they have not sent (RFC 9000, section 21.4)",
            read: |endpoint, written| set(&mut endpoint.skip_numbers, skip_numbers(written)),
            write: |endpoint| {
                Some(endpoint.skip_numbers.map_or_else(|| text("never"), |mean| mean.to_toml()))
            },
        },
        stored_key! {
            name: "validate_ecn",
            form: Form::Flag,
            rule: Rule::Default("true"),
            meaning: "a sender stops ECN when a packet has arrived without its ECN field, because the path then loses marks \
                      (RFC 9000, section 13.4.2.1)",
            field: validate_ecn,
        },
        stored_key! {
            name: "clock_tick",
            form: Form::Span { least: Span::ZERO, most: Span::from_millis(1000) },
            rule: Rule::Default("\"0s\""),
            meaning: "tick of the senders' clocks: the round-trip times and the intervals of delivery rates that they \
                      measure are whole numbers of it, at least one; `\"0s\"`: exact",
            field: clock_tick,
        },
    ],
};

/// A number of packets; `None` for the word `never`.
fn skip_numbers(written: &Written<'_>) -> Option<Option<u32>> {
    const MOST: i128 = 1_000_000;
    match &written.node.value {
        Raw::Text(text) if text == "never" => Some(None),
        Raw::Whole(packets @ 1..=MOST) => u32::try_from(*packets).ok().map(Some),
        _ => written.expected(&format!("\"never\", or a whole number of packets from 1 to {MOST}")),
    }
}

/// A longest probe timeout that is not below the shortest one, which is read before it.
fn max_probe_timeout(endpoint: &Endpoint, written: &Written<'_>) -> Option<Span> {
    let (least, most) = (endpoint.min_probe_timeout, written.quantity::<Span>()?);
    if most >= least {
        return Some(most);
    }
    written.report(
        format!("at most {} between two probes, but at least {}", most.readable(), least.readable()),
        "below min_probe_timeout",
        "write a longer time, or reduce min_probe_timeout",
    )
}
