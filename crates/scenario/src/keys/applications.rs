//! Applications: web pages, adaptive video, live video.

use super::sizes::SIZE;
use super::times::{LASTING, periods, write_periods};
use crate::applications::{AdaptiveVideo, ObjectCount, VideoCall, WebPages};
use crate::distribution::{Lasting, Size};
use crate::table::{
    Field, Form, KeyTable, PlainForm, Rule, ScenarioKey, Written, array, put, set, stored_key,
};
use crate::tree::Raw;
use millpond_units::{Bytes, Rate, Span};

const HANDSHAKES: Form = Form::Whole { least: 0, most: 10 };
const SOME_RATE: Form = Form::Rate { least: Rate::from_bps(1), most: Rate::from_bps(100_000_000_000_000) };
const HOUR: Span = Span::from_millis(3_600_000);

/// Reads a word that stands for the defaults of a table.
fn defaults_for<T>(table: &'static KeyTable<T>, word: &str, written: &Written<'_>) -> Option<T> {
    match &written.node.value {
        Raw::Text(text) if text == word => Some(table.defaults(written.context)),
        _ => written.expected(&table.forms()),
    }
}

/// The forms of web pages.
pub(crate) static PAGES: KeyTable<WebPages> = KeyTable {
    name: "pages",
    blank: || WebPages {
        first: Size::Constant(Bytes::ZERO),
        objects: ObjectCount::Constant(0),
        object: Size::Constant(Bytes::ZERO),
        parse: Lasting::Constant(Span::ZERO),
        think: Lasting::Constant(Span::ZERO),
        handshakes: 0,
    },
    plain: Some(PlainForm {
        form: Form::Word("3gpp"),
        example: "\"3gpp\"",
        meaning: "all keys have their defaults, those of the HTTP traffic model of 3GPP TR 25.892",
        read: |written| defaults_for(&PAGES, "3gpp", written),
        write: |_| None,
    }),
    keys: &[
        stored_key! {
            name: "first",
            form: Form::Table(&SIZE),
            rule: Rule::Default("{ lognormal = \"4213B\", sigma = 1.366, within = [\"100B\", \"2MB\"] }"),
            meaning: "the object that names all others; it is requested when the page begins",
            field: first,
        },
        stored_key! {
            name: "objects",
            form: Form::Table(&OBJECTS),
            rule: Rule::Default("{ pareto_from = 2, shape = 1.1, most = 55 }"),
            meaning: "the number of other objects",
            field: objects,
        },
        stored_key! {
            name: "object",
            form: Form::Table(&SIZE),
            rule: Rule::Default("{ lognormal = \"476B\", sigma = 2.3625, within = [\"50B\", \"2MB\"] }"),
            meaning: "the size of each of these",
            field: object,
        },
        stored_key! {
            name: "parse",
            form: Form::Table(&LASTING),
            rule: Rule::Default("{ exponential = \"130ms\" }"),
            meaning: "the time from the arrival of the first object to the requests of the others",
            field: parse,
        },
        stored_key! {
            name: "think",
            form: Form::Table(&LASTING),
            rule: Rule::Default("{ exponential = \"30s\" }"),
            meaning: "the time from the last byte of a page to the beginning of the next one",
            field: think,
        },
        stored_key! {
            name: "handshakes",
            form: HANDSHAKES,
            rule: Rule::Default("2"),
            meaning: "round trips before the first request of a connection: 2 with TCP and TLS 1.3, 1 with QUIC",
            field: handshakes,
        },
    ],
};

/// The forms of a number of objects.
pub(crate) static OBJECTS: KeyTable<ObjectCount> = KeyTable {
    name: "number of objects",
    blank: || ObjectCount::Constant(0),
    plain: Some(PlainForm {
        form: Form::Whole { least: 0, most: 10_000 },
        example: "5",
        meaning: "always this number",
        read: |written| u32::read(written).map(ObjectCount::Constant),
        write: |count| match count {
            ObjectCount::Constant(count) => put(count),
            ObjectCount::Pareto { .. } => None,
        },
    }),
    keys: &[
        ScenarioKey {
            name: "pareto_from",
            form: Form::Whole { least: 1, most: 10_000 },
            rule: Rule::OneOf("2"),
            meaning: "by how much a Pareto distributed number with this minimum exceeds it, rounded",
            read: |count, written| {
                let least = u32::read(written)?;
                set(count, Some(ObjectCount::Pareto { least, shape: f64::INFINITY, most: u32::MAX }))
            },
            write: |count| match count {
                ObjectCount::Pareto { least, .. } => put(least),
                ObjectCount::Constant(_) => None,
            },
        },
        ScenarioKey {
            name: "shape",
            form: Form::PARETO_SHAPE,
            rule: Rule::With(&["pareto_from"], &Rule::Required("1.1")),
            meaning: "shape of the Pareto distribution: the smaller, the heavier the tail",
            read: |count, written| match count {
                ObjectCount::Pareto { shape, .. } => written.store(shape),
                ObjectCount::Constant(_) => None,
            },
            write: |count| match count {
                ObjectCount::Pareto { shape, .. } => put(shape),
                ObjectCount::Constant(_) => None,
            },
        },
        ScenarioKey {
            name: "most",
            form: Form::Whole { least: 1, most: 10_000 },
            rule: Rule::With(&["pareto_from"], &Rule::Required("55")),
            meaning: "greater numbers become this one, before the minimum is subtracted",
            read: |count, written| match count {
                ObjectCount::Pareto { most, .. } => written.store(most),
                ObjectCount::Constant(_) => None,
            },
            write: |count| match count {
                ObjectCount::Pareto { most, .. } => put(most),
                ObjectCount::Constant(_) => None,
            },
        },
    ],
};

impl Field for ObjectCount {
    fn read(written: &Written<'_>) -> Option<Self> {
        OBJECTS.read(written)
    }
    fn to_toml(&self) -> String {
        OBJECTS.write(self)
    }
}

impl Field for WebPages {
    fn read(written: &Written<'_>) -> Option<Self> {
        PAGES.read(written)
    }
    fn to_toml(&self) -> String {
        PAGES.write(self)
    }
}

/// The forms of adaptive video.
pub(crate) static VIDEO: KeyTable<AdaptiveVideo> = KeyTable {
    name: "video",
    blank: AdaptiveVideo::default,
    plain: Some(PlainForm {
        form: Form::Word("bba-0"),
        example: "\"bba-0\"",
        meaning: "all keys have their defaults: the player of Huang et al., SIGCOMM 2014",
        read: |written| defaults_for(&VIDEO, "bba-0", written),
        write: |_| None,
    }),
    keys: &[
        ScenarioKey {
            name: "ladder",
            form: Form::List { item: &SOME_RATE, least: 1 },
            rule: Rule::Default(
                "[\"235kbps\", \"375kbps\", \"560kbps\", \"750kbps\", \"1050kbps\", \"1750kbps\", \"2350kbps\", \"3Mbps\", \"4300kbps\", \"5800kbps\"]",
            ),
            meaning: "the bitrates of the video, ascending; the default is the fixed ladder of Netflix (2015)",
            read: |video, written| set(&mut video.ladder, ladder(written)),
            write: |video| Some(array(video.ladder.iter().map(Field::to_toml))),
        },
        stored_key! {
            name: "segment",
            form: Form::Span { least: Span::from_millis(100), most: HOUR },
            rule: Rule::Default("\"4s\""),
            meaning: "how long a segment plays; its size is this times its bitrate",
            field: segment,
        },
        stored_key! {
            name: "buffer",
            form: Form::Span { least: Span::from_millis(100), most: HOUR },
            rule: Rule::Default("\"240s\""),
            meaning: "the most playback time in the buffer: the next segment is requested when there is room for it",
            field: buffer,
        },
        stored_key! {
            name: "reservoir",
            form: Form::Span { least: Span::from_millis(100), most: HOUR },
            rule: Rule::Default("\"90s\""),
            meaning: "up to this buffer the least bitrate is chosen; at least a segment",
            field: reservoir,
        },
        stored_key! {
            name: "cushion",
            form: Form::Span { least: Span::from_millis(1), most: HOUR },
            rule: Rule::Default("\"126s\""),
            meaning: "from the reservoir on the rate map rises linearly over this much buffer to the greatest bitrate",
            field: cushion,
        },
        stored_key! {
            name: "handshakes",
            form: HANDSHAKES,
            rule: Rule::Default("2"),
            meaning: "round trips before the first request: 2 with TCP and TLS 1.3, 1 with QUIC",
            field: handshakes,
        },
    ],
};

/// The bitrates of a video.
fn ladder(written: &Written<'_>) -> Option<Vec<Rate>> {
    let items = written.list("[\"1Mbps\", \"3Mbps\"]")?.iter();
    let rates: Vec<Rate> =
        items.map(|item| Rate::read(&written.part(item, &SOME_RATE))).collect::<Option<_>>()?;
    let ascends = !rates.is_empty() && rates.is_sorted_by(|one, next| one < next);
    if ascends { Some(rates) } else { written.expected("at least one bitrate, ascending") }
}

impl Field for AdaptiveVideo {
    fn read(written: &Written<'_>) -> Option<Self> {
        let video = VIDEO.read(written)?;
        let AdaptiveVideo { segment, buffer, reservoir, cushion, .. } = video;
        if segment <= reservoir && reservoir + cushion <= buffer {
            return Some(video);
        }
        written.report(
            format!("a buffer of {buffer} with a reservoir of {reservoir}, a cushion of {cushion} and segments of {segment}"),
            "in here",
            "let the reservoir hold a segment, and the buffer hold reservoir and cushion",
        )
    }
    fn to_toml(&self) -> String {
        VIDEO.write(self)
    }
}

/// The forms of a live encoder.
pub(crate) static CALL: KeyTable<VideoCall> = KeyTable {
    name: "call",
    blank: VideoCall::default,
    plain: Some(PlainForm {
        form: Form::Word("rfc8593"),
        example: "\"rfc8593\"",
        meaning: "all keys have their defaults, the example values of RFC 8593",
        read: |written| defaults_for(&CALL, "rfc8593", written),
        write: |_| None,
    }),
    keys: &[
        ScenarioKey {
            name: "range",
            form: Form::Range(&SOME_RATE),
            rule: Rule::Default("[\"150kbps\", \"1500kbps\"]"),
            meaning: "`R_min` and `R_max`: the range of the output rate; the encoder begins at the first",
            read: |call, written| {
                let (least, most) = written.range("[\"150kbps\", \"1500kbps\"]")?;
                if least == Rate::ZERO {
                    return written.expected("a rate above zero");
                }
                set(&mut call.range, Some((least, most)))
            },
            write: |call| Some(array([call.range.0.to_toml(), call.range.1.to_toml()])),
        },
        stored_key! {
            name: "frames_per_s",
            form: Form::Number { least: 0.1, most: 1000.0 },
            rule: Rule::Default("30"),
            meaning: "`FPS`: frames per second",
            field: frames_per_s,
        },
        stored_key! {
            name: "reaction",
            form: Form::Span { least: Span::ZERO, most: HOUR },
            rule: Rule::Default("\"200ms\""),
            meaning: "`tau_v`: for how long after a change of its rate the encoder ignores requests",
            field: reaction,
        },
        stored_key! {
            name: "burst_frames",
            form: Form::Whole { least: 0, most: 1000 },
            rule: Rule::Default("8"),
            meaning: "`K_d`: the number of frames of a transient",
            field: burst_frames,
        },
        stored_key! {
            name: "burst_size",
            form: Form::SOME_BYTES,
            rule: Rule::Default("\"13500B\""),
            meaning: "`K_B`: the size of the first frame of a transient; the others keep its mean rate",
            field: burst_size,
        },
        stored_key! {
            name: "least_share",
            form: Form::Share { least: 0.0, most: 1.0 },
            rule: Rule::Default("\"20%\""),
            meaning: "the least size of these other frames, relative to the mean size; this is the number of the implementation by the authors of the RFC",
            field: least_share,
        },
        stored_key! {
            name: "interval_scale",
            form: Form::Number { least: 0.0, most: 1.0 },
            rule: Rule::Default("0.15"),
            meaning: "`SCALE_t`: scale of the Laplacian deviations of frame intervals, relative to their mean",
            field: interval_scale,
        },
        stored_key! {
            name: "size_scale",
            form: Form::Number { least: 0.0, most: 1.0 },
            rule: Rule::Default("0.15"),
            meaning: "`SCALE_B`: scale of the Laplacian deviations of frame sizes, relative to their mean",
            field: size_scale,
        },
        stored_key! {
            name: "abrupt",
            form: Form::Share { least: 0.0, most: 100.0 },
            rule: Rule::Default("\"50%\""),
            meaning: "a change of the rate by more than this begins a transient; the RFC has no number, this is that of its authors' implementation",
            field: abrupt,
        },
        ScenarioKey {
            name: "pauses",
            form: Form::List { item: &Form::Range(&Form::Time), least: 1 },
            rule: Rule::Absent("none"),
            meaning: "no frames are produced from the first to the second time of each pair, as in \
                      `[[\"40s\", \"60s\"]]`; pauses rise and do not touch",
            read: |call, written| set(&mut call.pauses, periods(written, "pause")),
            write: |call| (!call.pauses.is_empty()).then(|| write_periods(&call.pauses)),
        },
    ],
};

impl Field for VideoCall {
    fn read(written: &Written<'_>) -> Option<Self> {
        CALL.read(written)
    }
    fn to_toml(&self) -> String {
        CALL.write(self)
    }
}

/// The key of an application that is a whole workload.
macro_rules! workload_key {
    ($name:literal, $table:ident, $variant:ident, $example:literal, $meaning:literal) => {
        ScenarioKey {
            name: $name,
            form: Form::Table(&$table),
            rule: Rule::OneOf($example),
            meaning: $meaning,
            read: |workload, written| set(workload, Field::read(written).map(Workload::$variant)),
            write: |workload| match workload {
                Workload::$variant(application) => put(application),
                _ => None,
            },
        }
    };
}

pub(crate) use workload_key;
