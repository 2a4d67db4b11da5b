//! Random loss.

use crate::model::{GilbertElliott, Loss};
use crate::table::{
    Field, Form, KeyTable, PlainForm, Rule, ScenarioKey, Written, put, set, stored_key, text,
};
use crate::tree::Raw;

/// The forms of random loss.
pub(crate) static LOSS: KeyTable<Loss> = KeyTable {
    name: "loss",
    blank: || Loss::None,
    plain: Some(PlainForm {
        form: Form::AnyOf(&[Form::Word("none"), Form::PROBABILITY]),
        example: "\"none\"",
        meaning: "no loss; or each packet is lost with this probability, as with `bernoulli`",
        read: |written| match &written.node.value {
            Raw::Text(text) if text == "none" => Some(Loss::None),
            Raw::Text(text) if !text.contains('%') => {
                written.expected("\"none\", a probability such as 0.01 or \"1%\", or a table")
            }
            _ => f64::read(&written.with_form(&Form::PROBABILITY)).map(Loss::Bernoulli),
        },
        write: |loss| matches!(loss, Loss::None).then(|| text("none")),
    }),
    keys: &[
        ScenarioKey {
            name: "bernoulli",
            form: Form::PROBABILITY,
            rule: Rule::OneOf("0.01"),
            meaning: "each packet is lost with this probability",
            read: |loss, written| set(loss, f64::read(written).map(Loss::Bernoulli)),
            write: |loss| match loss {
                Loss::Bernoulli(probability) => put(probability),
                _ => None,
            },
        },
        ScenarioKey {
            name: "gilbert-elliott",
            form: Form::Table(&GILBERT_ELLIOTT),
            rule: Rule::OneOf("{ good_to_bad = 0.001, bad_to_good = 0.1 }"),
            meaning: "a Markov chain with a good and a bad state, which moves once per packet and begins in the \
                      good state",
            read: |loss, written| set(loss, GILBERT_ELLIOTT.read(written).map(Loss::GilbertElliott)),
            write: |loss| match loss {
                Loss::GilbertElliott(chain) => Some(GILBERT_ELLIOTT.write(chain)),
                _ => None,
            },
        },
    ],
};

static GILBERT_ELLIOTT: KeyTable<GilbertElliott> = KeyTable {
    name: "gilbert-elliott table",
    blank: GilbertElliott::default,
    plain: None,
    keys: &[
        stored_key! {
            name: "good_to_bad",
            form: Form::PROBABILITY,
            rule: Rule::Required("0.001"),
            meaning: "probability of the transition from good to bad, per packet",
            field: good_to_bad,
        },
        stored_key! {
            name: "bad_to_good",
            form: Form::PROBABILITY,
            rule: Rule::Required("0.1"),
            meaning: "probability of the transition from bad to good, per packet",
            field: bad_to_good,
        },
        stored_key! {
            name: "loss_good",
            form: Form::PROBABILITY,
            rule: Rule::Default("0"),
            meaning: "loss probability in the good state",
            field: loss_good,
        },
        stored_key! {
            name: "loss_bad",
            form: Form::PROBABILITY,
            rule: Rule::Default("1"),
            meaning: "loss probability in the bad state",
            field: loss_bad,
        },
    ],
};

impl Field for Loss {
    fn read(written: &Written<'_>) -> Option<Self> {
        LOSS.read(written)
    }
    fn to_toml(&self) -> String {
        LOSS.write(self)
    }
}
