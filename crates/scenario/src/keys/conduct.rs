//! Senders and receivers that break the rules.

use crate::model::{ReceiverConduct, SenderConduct};
use crate::table::{Field, Form, KeyTable, PlainForm, Rule, ScenarioKey, Written, put, set, text};
use crate::tree::Raw;

/// The forms of a sender's conduct.
pub(crate) static SENDER: KeyTable<SenderConduct> = KeyTable {
    name: "sender",
    blank: || SenderConduct::Honest,
    plain: Some(PlainForm {
        form: Form::Words(|| vec!["honest", "unresponsive"]),
        example: "\"unresponsive\"",
        meaning: "`\"honest\"`: it does what its law permits; `\"unresponsive\"`: what the application produces leaves \
                  at once, without law, header and relays of the protocol",
        read: |written| match &written.node.value {
            Raw::Text(text) if text == "honest" => Some(SenderConduct::Honest),
            Raw::Text(text) if text == "unresponsive" => Some(SenderConduct::Unresponsive),
            _ => written.expected("\"honest\", \"unresponsive\" or { greedy = 4 }"),
        },
        write: |conduct| match conduct {
            SenderConduct::Honest => Some(text("honest")),
            SenderConduct::Unresponsive => Some(text("unresponsive")),
            SenderConduct::Greedy(_) => None,
        },
    }),
    keys: &[ScenarioKey {
        name: "greedy",
        form: Form::Number { least: 1.0, most: 1000.0 },
        rule: Rule::OneOf("4"),
        meaning: "its window and its pace are this many times those that its law permits",
        read: |conduct, written| set(conduct, f64::read(written).map(SenderConduct::Greedy)),
        write: |conduct| match conduct {
            SenderConduct::Greedy(factor) => put(factor),
            _ => None,
        },
    }],
};

/// The forms of a receiver's conduct.
pub(crate) static RECEIVER: KeyTable<ReceiverConduct> = KeyTable {
    name: "receiver",
    blank: || ReceiverConduct::Honest,
    plain: Some(PlainForm {
        form: Form::Words(|| vec!["honest", "hides-marks"]),
        example: "\"hides-marks\"",
        meaning: "`\"honest\"`: it acknowledges what has arrived; `\"hides-marks\"`: it reports no CE mark",
        read: |written| match &written.node.value {
            Raw::Text(text) if text == "honest" => Some(ReceiverConduct::Honest),
            Raw::Text(text) if text == "hides-marks" => Some(ReceiverConduct::HidesMarks),
            _ => written.expected("\"honest\", \"hides-marks\" or { early_acks = 8 }"),
        },
        write: |conduct| match conduct {
            ReceiverConduct::Honest => Some(text("honest")),
            ReceiverConduct::HidesMarks => Some(text("hides-marks")),
            ReceiverConduct::AcksEarly(_) => None,
        },
    }),
    keys: &[ScenarioKey {
        name: "early_acks",
        form: Form::Whole { least: 1, most: 1_000_000 },
        rule: Rule::OneOf("8"),
        meaning: "it reports no gap, and also this many packets after the newest that has arrived",
        read: |conduct, written| set(conduct, u32::read(written).map(ReceiverConduct::AcksEarly)),
        write: |conduct| match conduct {
            ReceiverConduct::AcksEarly(packets) => put(packets),
            _ => None,
        },
    }],
};

impl Field for SenderConduct {
    fn read(written: &Written<'_>) -> Option<Self> {
        SENDER.read(written)
    }
    fn to_toml(&self) -> String {
        SENDER.write(self)
    }
}

impl Field for ReceiverConduct {
    fn read(written: &Written<'_>) -> Option<Self> {
        RECEIVER.read(written)
    }
    fn to_toml(&self) -> String {
        RECEIVER.write(self)
    }
}
