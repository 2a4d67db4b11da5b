//! Link layers: radio retransmission, scheduled grants, contention.

use crate::model::{Contention, Grants, LinkLayer, Radio};
use crate::table::{Field, Form, KeyTable, PlainForm, Rule, ScenarioKey, Written, set, stored_key, text};
use crate::tree::Raw;
use millpond_units::Span;

const SECOND: Span = Span::from_millis(1000);

/// The forms of a link layer.
pub(crate) static LINK_LAYER: KeyTable<LinkLayer> = KeyTable {
    name: "link layer",
    blank: || LinkLayer::None,
    plain: Some(PlainForm {
        form: Form::Word("none"),
        example: "\"none\"",
        meaning: "packets are served one after the other, each once",
        read: |written| match &written.node.value {
            Raw::Text(text) if text == "none" => Some(LinkLayer::None),
            _ => written.expected(&LINK_LAYER.forms()),
        },
        write: |layer| matches!(layer, LinkLayer::None).then(|| text("none")),
    }),
    keys: &[
        ScenarioKey {
            name: "radio",
            form: Form::Table(&RADIO),
            rule: Rule::OneOf("{ error = \"10%\", retransmit_after = \"8ms\" }"),
            meaning: "retransmission at the link layer with delivery in order: losses become jitter",
            read: |layer, written| set(layer, RADIO.read(written).map(LinkLayer::Radio)),
            write: |layer| match layer {
                LinkLayer::Radio(radio) => Some(RADIO.write(radio)),
                _ => None,
            },
        },
        ScenarioKey {
            name: "grants",
            form: Form::Table(&GRANTS),
            rule: Rule::OneOf("{ every = \"5ms\", after = \"4ms\" }"),
            meaning: "an uplink on which each packet waits for a grant of the base station",
            read: |layer, written| set(layer, GRANTS.read(written).map(LinkLayer::Grants)),
            write: |layer| match layer {
                LinkLayer::Grants(grants) => Some(GRANTS.write(grants)),
                _ => None,
            },
        },
        ScenarioKey {
            name: "contention",
            form: Form::Table(&CONTENTION),
            rule: Rule::OneOf("{ access = \"100us\", aggregate = 32 }"),
            meaning: "a shared medium as in Wi-Fi: random access before each aggregate of packets",
            read: |layer, written| set(layer, CONTENTION.read(written).map(LinkLayer::Contention)),
            write: |layer| match layer {
                LinkLayer::Contention(contention) => Some(CONTENTION.write(contention)),
                _ => None,
            },
        },
    ],
};

static RADIO: KeyTable<Radio> = KeyTable {
    name: "radio table",
    blank: Radio::default,
    plain: None,
    keys: &[
        stored_key! {
            name: "error",
            form: Form::PROBABILITY,
            rule: Rule::Required("\"10%\""),
            meaning: "probability that an attempt to deliver a packet fails, independent of all others",
            field: error,
        },
        stored_key! {
            name: "retransmit_after",
            form: Form::Span { least: Span::ZERO, most: SECOND },
            rule: Rule::Required("\"8ms\""),
            meaning: "time from an attempt to the next one for the same packet",
            field: retransmit_after,
        },
        stored_key! {
            name: "attempts",
            form: Form::Whole { least: 1, most: 1000 },
            rule: Rule::Default("4"),
            meaning: "a packet is lost after this many attempts",
            field: attempts,
        },
    ],
};

static GRANTS: KeyTable<Grants> = KeyTable {
    name: "grants table",
    blank: Grants::default,
    plain: None,
    keys: &[
        stored_key! {
            name: "every",
            form: Form::Span { least: Span::from_picos(1), most: SECOND },
            rule: Rule::Required("\"5ms\""),
            meaning: "time between two opportunities to send a request",
            field: every,
        },
        stored_key! {
            name: "after",
            form: Form::Span { least: Span::ZERO, most: SECOND },
            rule: Rule::Required("\"4ms\""),
            meaning: "time from the request to the grant: the earliest service of a packet that the request covers",
            field: after,
        },
    ],
};

static CONTENTION: KeyTable<Contention> = KeyTable {
    name: "contention table",
    blank: Contention::default,
    plain: None,
    keys: &[
        stored_key! {
            name: "access",
            form: Form::Span { least: Span::ZERO, most: SECOND },
            rule: Rule::Required("\"100us\""),
            meaning: "constant time of an aggregate without its packets: interframe spaces, preamble, acknowledgement",
            field: access,
        },
        stored_key! {
            name: "slot",
            form: Form::Span { least: Span::ZERO, most: SECOND },
            rule: Rule::Default("\"9us\""),
            meaning: "length of a backoff slot",
            field: slot,
        },
        stored_key! {
            name: "window",
            form: Form::Whole { least: 0, most: 1023 },
            rule: Rule::Default("15"),
            meaning: "greatest number of backoff slots before an aggregate; it is uniformly distributed from zero on",
            field: window,
        },
        stored_key! {
            name: "aggregate",
            form: Form::Whole { least: 1, most: 1024 },
            rule: Rule::Default("1"),
            meaning: "the most packets of an aggregate: those that wait when its transmission begins",
            field: aggregate,
        },
        stored_key! {
            name: "stations",
            form: Form::Whole { least: 0, most: 1000 },
            rule: Rule::Default("0"),
            meaning: "number of other stations that always have data; each wins the medium with equal probability",
            field: stations,
        },
        stored_key! {
            name: "busy",
            form: Form::Span { least: Span::ZERO, most: SECOND },
            rule: Rule::Default("\"2ms\""),
            meaning: "how long another station occupies the medium when it wins, its own access included",
            field: busy,
        },
    ],
};

impl Field for LinkLayer {
    fn read(written: &Written<'_>) -> Option<Self> {
        LINK_LAYER.read(written)
    }
    fn to_toml(&self) -> String {
        LINK_LAYER.write(self)
    }
}
