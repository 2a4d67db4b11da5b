//! What applications ask of their flows.

use super::applications::{CALL, PAGES, VIDEO, workload_key};
use super::measure::MAX_SAMPLES;
use super::sizes::SIZE;
use super::times::{LASTING, periods, write_periods};
use crate::distribution::{Lasting, Size};
use crate::model::{Activity, Gap, Workload};
use crate::table::{
    Field, Form, KeyTable, LONGEST_RUN, PlainForm, Rule, ScenarioKey, Written, put, set, text,
};
use crate::tree::Raw;
use millpond_units::{Rate, Span};

/// An application is switched on and off at most this often on average.
const MAX_PERIODS: u64 = 1_000_000;

/// The forms of a workload.
pub(crate) static WORKLOAD: KeyTable<Workload> = KeyTable {
    name: "workload",
    blank: || Workload::Bulk,
    plain: Some(PlainForm {
        form: Form::Word("bulk"),
        example: "\"bulk\"",
        meaning: "the application always has more to send",
        read: |written| match &written.node.value {
            Raw::Text(text) if text == "bulk" => Some(Workload::Bulk),
            _ => written.expected(&WORKLOAD.forms()),
        },
        write: |workload| matches!(workload, Workload::Bulk).then(|| text("bulk")),
    }),
    keys: &[
        ScenarioKey {
            name: "size",
            form: Form::Table(&SIZE),
            rule: Rule::OneOf("\"1MB\""),
            meaning: "one transfer of this much payload",
            read: |workload, written| set(workload, Size::read(written).map(Workload::Sized)),
            write: |workload| match workload {
                Workload::Sized(size) => put(size),
                _ => None,
            },
        },
        ScenarioKey {
            name: "rate",
            form: Form::Rate { least: Rate::from_bps(1), most: Rate::from_bps(100_000_000_000_000) },
            rule: Rule::OneOf("\"5Mbps\""),
            meaning: "payload is produced at this rate, a packet at a time",
            read: |workload, written| {
                set(workload, Some(Workload::Produced(Rate::read(written)?, Activity::Always)))
            },
            write: |workload| match workload {
                Workload::Produced(rate, _) => put(rate),
                _ => None,
            },
        },
        ScenarioKey {
            name: "on",
            form: Form::Table(&LASTING),
            rule: Rule::With(&["rate"], &Rule::Absent("always on")),
            meaning: "how long payload is produced; on and off periods alternate, beginning with on",
            read: on_and_off,
            write: |workload| match workload {
                Workload::Produced(_, Activity::Turns { on, .. }) => put(on),
                _ => None,
            },
        },
        ScenarioKey {
            name: "off",
            form: Form::Table(&LASTING),
            rule: Rule::With(&["rate"], &Rule::Absent("required with `on`")),
            meaning: "how long no payload is produced",
            // Read together with `on`.
            read: |_, _| Some(()),
            write: |workload| match workload {
                Workload::Produced(_, Activity::Turns { off, .. }) => put(off),
                _ => None,
            },
        },
        ScenarioKey {
            name: "bursts",
            form: Form::List { item: &Form::Range(&Form::Time), least: 1 },
            rule: Rule::With(&["rate"], &Rule::Absent("always on")),
            meaning: "payload is produced from the first to the second time of each pair, as in \
                      `[[\"10s\", \"12s\"], [\"30s\", \"31s\"]]`; bursts rise and do not touch",
            read: |workload, written| match workload {
                Workload::Produced(_, activity) => {
                    set(activity, periods(written, "burst").map(Activity::Bursts))
                }
                _ => None,
            },
            write: |workload| match workload {
                Workload::Produced(_, Activity::Bursts(bursts)) => Some(write_periods(bursts)),
                _ => None,
            },
        },
        ScenarioKey {
            name: "ping",
            form: Form::POSITIVE_SPAN,
            rule: Rule::OneOf("\"100ms\""),
            meaning: "one packet in each such time, whatever the law of the protocol permits",
            read: |workload, written| set(workload, transfer_gap(written).map(Workload::Ping)),
            write: |workload| match workload {
                Workload::Ping(every) => put(every),
                _ => None,
            },
        },
        ScenarioKey {
            name: "transfers",
            form: Form::Table(&SIZE),
            rule: Rule::OneOf("\"1MB\""),
            meaning: "transfers of this size, each a flow of its own",
            read: |workload, written| {
                set(
                    workload,
                    Some(Workload::Transfers { size: Size::read(written)?, gap: Gap::Every(Span::ZERO) }),
                )
            },
            write: |workload| match workload {
                Workload::Transfers { size, .. } => put(size),
                _ => None,
            },
        },
        ScenarioKey {
            name: "every",
            form: Form::POSITIVE_SPAN,
            rule: Rule::With(&["transfers"], &Rule::OneOf("\"2s\"")),
            meaning: "the constant time from one transfer to the next, the first at the start",
            read: |workload, written| match workload {
                Workload::Transfers { gap, .. } => set(gap, transfer_gap(written).map(Gap::Every)),
                _ => None,
            },
            write: |workload| match workload {
                Workload::Transfers { gap: Gap::Every(gap), .. } => put(gap),
                _ => None,
            },
        },
        ScenarioKey {
            name: "poisson",
            form: Form::POSITIVE_SPAN,
            rule: Rule::With(&["transfers"], &Rule::OneOf("\"2s\"")),
            meaning: "the mean time from one transfer to the next: a Poisson process from the start on",
            read: |workload, written| match workload {
                Workload::Transfers { gap, .. } => set(gap, transfer_gap(written).map(Gap::Poisson)),
                _ => None,
            },
            write: |workload| match workload {
                Workload::Transfers { gap: Gap::Poisson(mean), .. } => put(mean),
                _ => None,
            },
        },
        workload_key!(
            "pages",
            PAGES,
            Pages,
            "\"3gpp\"",
            "the flows of the group are the connections of one browser, which loads one web page after the other"
        ),
        workload_key!(
            "video",
            VIDEO,
            Video,
            "\"bba-0\"",
            "each flow carries a video in segments, whose viewer chooses their bitrate by its buffer"
        ),
        workload_key!(
            "call",
            CALL,
            Call,
            "\"rfc8593\"",
            "each flow carries the frames of a live encoder, which follows the rate that the law permits"
        ),
    ],
};

impl Field for Workload {
    fn read(written: &Written<'_>) -> Option<Self> {
        let workload = WORKLOAD.read(written)?;
        if !matches!(workload, Self::Produced(..)) {
            return Some(workload);
        }
        match ["on", "off", "bursts"].map(|key| written.key(key).is_some()) {
            [false, false, false] | [true, true, false] | [false, false, true] => Some(workload),
            _ => written.report(
                "an unclear pause",
                "in here",
                "write on = \"1s\" and off = \"2s\", or bursts = [[\"5s\", \"6s\"]] alone",
            ),
        }
    }
    fn to_toml(&self) -> String {
        WORKLOAD.write(self)
    }
}

fn on_and_off(workload: &mut Workload, written: &Written<'_>) -> Option<()> {
    let Workload::Produced(_, activity) = workload else { return None };
    let off = written.sibling("off")?;
    let (on, off) = (Lasting::read(written), Lasting::read(&written.part(off, written.form)));
    let (on, off) = (on?, off?);
    let duration = written.context.duration.unwrap_or_default();
    let least = Span::from_picos(duration.picos().div_ceil(MAX_PERIODS));
    if on.typical() + off.typical() >= least {
        return set(activity, Some(Activity::Turns { on, off }));
    }
    written.report(
        "on and off far too often",
        "too short, together with off",
        format!("let on and off together typically last {least} in a run of {duration}"),
    )
}

/// The time from one transfer to the next, long enough for the number of flows to stay bounded.
fn transfer_gap(written: &Written<'_>) -> Option<Span> {
    let duration = written.context.duration.unwrap_or_default();
    written.within(Span::from_picos(duration.picos().div_ceil(MAX_SAMPLES)), LONGEST_RUN)
}
