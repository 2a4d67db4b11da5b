//! `rate_code`: with how many bits acknowledgements return the rate of a protocol's feedback.

use crate::model::{RateCode, Rounding};
use crate::table::{
    Field, Form, KeyTable, Keyword, PlainForm, Rule, ScenarioKey, Written, array, put, spellings, text,
};
use crate::tree::Raw;
use millpond_units::Rate;

const RATE: Form = Form::Rate { least: Rate::from_bps(1), most: Rate::from_bps(100_000_000_000_000) };

impl Keyword for Rounding {
    const WORDS: &'static [(&'static str, Self)] =
        &[("nearest", Self::Nearest), ("dithered", Self::Dithered)];
}

/// The forms of a rate code.
pub(crate) static RATE_CODE: KeyTable<Option<RateCode>> = KeyTable {
    name: "rate_code table",
    blank: || Some(RateCode::default()),
    plain: Some(PlainForm {
        form: Form::Word("exact"),
        example: "\"exact\"",
        meaning: "the field of the protocol's header",
        read: |written| match &written.node.value {
            Raw::Text(text) if text == "exact" => Some(None),
            _ => written.expected("\"exact\" or a table such as { bits = 7 }"),
        },
        write: |code| code.is_none().then(|| text("exact")),
    }),
    keys: &[
        ScenarioKey {
            name: "bits",
            form: Form::Whole { least: 1, most: 32 },
            rule: Rule::Default("7"),
            meaning: "the size of the code. From two bits on one value stands for no rate",
            read: |code, written| written.store(&mut code.as_mut()?.bits),
            write: |code| code.and_then(|code| put(&code.bits)),
        },
        ScenarioKey {
            name: "rounding",
            form: Form::Words(spellings::<Rounding>),
            rule: Rule::Default("\"nearest\""),
            meaning: "`\"nearest\"`: to the nearest level on the logarithmic scale. `\"dithered\"`: in each \
                      acknowledgement at random to one of the two adjacent levels, so that the mean is the rate",
            read: |code, written| {
                code.as_mut()?.rounding = Rounding::read(written)?;
                Some(())
            },
            write: |code| code.and_then(|code| put(&code.rounding)),
        },
        ScenarioKey {
            name: "range",
            form: Form::Range(&RATE),
            rule: Rule::Default("[\"100kbps\", \"199526231496bps\"]"),
            meaning: "the least and the greatest level; those between have equal ratios. The default is the scale of \
                      SCONE's Rate Signals (draft-ietf-scone-protocol), `100 kbit/s * 10^(n/20)` with 7 bits",
            read: range,
            write: |code| code.map(|code| array([code.least.to_toml(), code.greatest.to_toml()])),
        },
    ],
};

fn range(code: &mut Option<RateCode>, written: &Written<'_>) -> Option<()> {
    let (least, greatest): (Rate, Rate) = written.range("[\"100kbps\", \"200Gbps\"]")?;
    if least == greatest {
        return written.expected("a greatest level above the least, such as [\"100kbps\", \"200Gbps\"]");
    }
    let code = code.as_mut()?;
    (code.least, code.greatest) = (least, greatest);
    Some(())
}
