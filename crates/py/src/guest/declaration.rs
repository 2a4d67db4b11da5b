//! What `millpond.Law` declares about a law, read from its attributes in Python.

use crate::error::Failure;
use millpond_guest::{Declared, Description, ParameterKind};
use millpond_law::{Bounds, Knowledge, Value};
use pyo3::prelude::*;

/// A part of a law: its class, and the callbacks that the guest has written.
#[derive(FromPyObject)]
pub struct PartClass {
    #[pyo3(attribute("cls"))]
    pub(super) class: Py<PyAny>,
    pub(super) callbacks: Vec<String>,
}

/// The class of the equations, and what they do not contain.
#[derive(FromPyObject)]
pub struct FluidClass {
    #[pyo3(attribute("cls"))]
    pub(super) class: Py<PyAny>,
    pub(super) left_out: Vec<String>,
}

/// A parameter: `kind` is one of those of `millpond_guest::ParameterKind`.
#[derive(FromPyObject)]
struct DeclaredParameter {
    name: String,
    kind: String,
    unit: String,
    low: f64,
    high: f64,
    is_low_excluded: bool,
    words: Vec<String>,
    default: DefaultValue,
    source: String,
    meaning: String,
}

#[derive(FromPyObject)]
enum DefaultValue {
    Flag(bool),
    Number(f64),
    Text(String),
}

/// Everything that the law declares.
#[derive(FromPyObject)]
pub struct Declaration {
    pub(super) name: String,
    title: String,
    summary: String,
    source: String,
    header: bool,
    ecn: String,
    capacity: String,
    samples: bool,
    queue: String,
    queue_settings: Vec<(String, String)>,
    parameters: Vec<DeclaredParameter>,
    /// Address of a `millpond_law` of `include/millpond.h`, in place of the classes.
    pub(super) native: Option<usize>,
    pub(super) sender: PartClass,
    pub(super) receiver: Option<PartClass>,
    pub(super) link: Option<PartClass>,
    pub(super) fluid: Option<FluidClass>,
}

impl DeclaredParameter {
    fn read(&self) -> Result<Declared, Failure> {
        let bounds = Bounds { low: self.low, high: self.high, exclusive: self.is_low_excluded };
        let kind = match self.kind.as_str() {
            "number" => ParameterKind::Number(self.unit.clone(), bounds),
            "whole" => ParameterKind::Whole(self.unit.clone(), bounds),
            "time" => ParameterKind::Time,
            "size" => ParameterKind::Size,
            "rate" => ParameterKind::Rate,
            "flag" => ParameterKind::Flag,
            "words" => ParameterKind::Words(self.words.clone()),
            other => return Err(Failure::input(format!("{}: there is no kind \"{other}\"", self.name))),
        };
        let default = match &self.default {
            DefaultValue::Flag(flag) => Value::Flag(*flag),
            DefaultValue::Number(number) => Value::Number(*number),
            DefaultValue::Text(text) => Value::Text(text.clone().into()),
        };
        let (name, source, meaning) = (self.name.clone(), self.source.clone(), self.meaning.clone());
        Ok(Declared { name, kind, default, source, meaning })
    }
}

impl Declaration {
    /// The description without classes.
    pub(super) fn describe(&self) -> Result<Description, Failure> {
        let unknown = |key: &str, value: &str| {
            Failure::input(format!("law \"{}\": {key} = \"{value}\" has no meaning", self.name))
        };
        let ecn = match self.ecn.as_str() {
            "none" => None,
            "ect0" => Some(false),
            "ect1" => Some(true),
            other => return Err(unknown("ecn", other)),
        };
        let capacity = match self.capacity.as_str() {
            "none" => Knowledge::Nothing,
            "start" => Knowledge::AtStart,
            "live" => Knowledge::Live,
            other => return Err(unknown("capacity", other)),
        };
        Ok(Description {
            name: self.name.clone(),
            title: self.title.clone(),
            summary: self.summary.clone(),
            source: self.source.clone(),
            has_header: self.header,
            ecn,
            capacity,
            sent: self.sender.callbacks.iter().any(|name| name == "on_sent"),
            samples: self.samples,
            queue: self.queue.clone(),
            queue_settings: self.queue_settings.clone(),
            parameters: self.parameters.iter().map(DeclaredParameter::read).collect::<Result<_, _>>()?,
        })
    }
}
