//! Sizes of transfers that may be sampled at random.

use crate::distribution::Size;
use crate::lognormal::Lognormal;
use crate::size_table::{SizeShare, SizeTable};
use crate::table::{Field, Form, KeyTable, PlainForm, Rule, ScenarioKey, Written, array, put, set};
use crate::tree::Raw;
use millpond_units::Bytes;

/// Sizes are sampled again until they are within their bounds, which at least this share of them must be.
const LEAST_PROBABILITY: f64 = 0.01;

/// The forms of the size of a transfer.
pub(crate) static SIZE: KeyTable<Size> = KeyTable {
    name: "size",
    blank: || Size::Constant(Bytes::ZERO),
    plain: Some(PlainForm {
        form: Form::SOME_BYTES,
        example: "\"1MB\"",
        meaning: "always this size",
        read: |written| Bytes::read(written).map(Size::Constant),
        write: |size| match size {
            Size::Constant(bytes) => put(bytes),
            _ => None,
        },
    }),
    keys: &[
        ScenarioKey {
            name: "uniform",
            form: Form::Range(&Form::ANY_BYTES),
            rule: Rule::OneOf("[\"1KB\", \"1MB\"]"),
            meaning: "uniformly distributed",
            read: |size, written| {
                let (low, high) = written.range("[\"1KB\", \"1MB\"]")?;
                set(size, Some(Size::Uniform(low, high)))
            },
            write: |size| match size {
                Size::Uniform(low, high) => Some(array([low.to_toml(), high.to_toml()])),
                _ => None,
            },
        },
        ScenarioKey {
            name: "exponential",
            form: Form::SOME_BYTES,
            rule: Rule::OneOf("\"1MB\""),
            meaning: "exponentially distributed with this mean",
            read: |size, written| set(size, Bytes::read(written).map(Size::Exponential)),
            write: |size| match size {
                Size::Exponential(mean) => put(mean),
                _ => None,
            },
        },
        ScenarioKey {
            name: "pareto",
            form: Form::SOME_BYTES,
            rule: Rule::OneOf("\"1MB\""),
            meaning: "Pareto distributed with this mean",
            read: |size, written| {
                set(size, Some(Size::Pareto { mean: Bytes::read(written)?, shape: f64::INFINITY }))
            },
            write: |size| match size {
                Size::Pareto { mean, .. } => put(mean),
                _ => None,
            },
        },
        ScenarioKey {
            name: "pareto_from",
            form: Form::SOME_BYTES,
            rule: Rule::OneOf("\"1KB\""),
            meaning: "Pareto distributed with this minimum",
            read: |size, written| {
                set(size, Some(Size::ParetoFrom { least: Bytes::read(written)?, shape: f64::INFINITY }))
            },
            write: |size| match size {
                Size::ParetoFrom { least, .. } => put(least),
                _ => None,
            },
        },
        ScenarioKey {
            name: "shape",
            form: Form::PARETO_SHAPE,
            rule: Rule::With(&["pareto", "pareto_from"], &Rule::Required("1.2")),
            meaning: "shape of the Pareto distribution: the smaller, the heavier the tail",
            read: |size, written| match size {
                Size::Pareto { shape, .. } | Size::ParetoFrom { shape, .. } => written.store(shape),
                _ => None,
            },
            write: |size| match size {
                Size::Pareto { shape, .. } | Size::ParetoFrom { shape, .. } => put(shape),
                _ => None,
            },
        },
        ScenarioKey {
            name: "lognormal",
            form: Form::SOME_BYTES,
            rule: Rule::OneOf("\"10KB\""),
            meaning: "lognormal distributed with this median",
            read: |size, written| {
                let (median, sigma) = (Bytes::read(written)?, f64::NAN);
                set(size, Some(Size::Lognormal { median, sigma, within: (Bytes::ZERO, Bytes::MAX) }))
            },
            write: |size| match size {
                Size::Lognormal { median, .. } => put(median),
                _ => None,
            },
        },
        ScenarioKey {
            name: "sigma",
            form: Form::Number { least: 0.01, most: 10.0 },
            rule: Rule::With(&["lognormal"], &Rule::Required("1.37")),
            meaning: "standard deviation of the natural logarithm",
            read: |size, written| match size {
                Size::Lognormal { sigma, .. } => written.store(sigma),
                _ => None,
            },
            write: |size| match size {
                Size::Lognormal { sigma, .. } => put(sigma),
                _ => None,
            },
        },
        ScenarioKey {
            name: "within",
            form: Form::Range(&Form::ANY_BYTES),
            rule: Rule::With(&["lognormal"], &Rule::Absent("all sizes")),
            meaning: "a size out of this range is sampled again",
            read: |size, written| match size {
                Size::Lognormal { within, .. } => set(within, written.range("[\"100B\", \"2MB\"]")),
                _ => None,
            },
            write: |size| match size {
                Size::Lognormal { within: (_, Bytes::MAX), .. } => None,
                Size::Lognormal { within: (least, most), .. } => {
                    Some(array([least.to_toml(), most.to_toml()]))
                }
                _ => None,
            },
        },
        ScenarioKey {
            name: "cdf",
            form: Form::AnyOf(&[Form::Text, Form::List { item: &SIZE_SHARE, least: 1 }]),
            rule: Rule::OneOf("\"web-search.cdf\""),
            meaning: "distributed as a file says, or a list of sizes and cumulative shares, as in \
                      `[[\"10KB\", 0.15], [\"30MB\", 1]]`: linear between its points",
            read: |size, written| set(size, size_table(written).map(Size::Table)),
            write: |size| match size {
                Size::Table(table) => Some(array(
                    table.points().iter().map(|point| array([point.size.to_toml(), point.share.to_toml()])),
                )),
                _ => None,
            },
        },
    ],
};

/// A size, and the share of transfers that are at most this large.
const SIZE_SHARE: Form = Form::Pair(&Form::ANY_BYTES, &Form::PROBABILITY);

/// A distribution of sizes, from a file or a list.
fn size_table(written: &Written<'_>) -> Option<SizeTable> {
    let table = match &written.node.value {
        Raw::Text(file) => {
            let path = written.context.path(written.place(), file);
            SizeTable::parse(&written.context.text(written.place(), &path, "distribution of sizes")?)
        }
        _ => SizeTable::new(size_shares(written)?),
    };
    let wrong = |reason| {
        let message = format!("this is not a distribution of sizes: {reason}");
        let help =
            "write sizes in ascending order, each with the share of transfers that are at most this large";
        written.report(message, "this distribution", help)
    };
    table.map_or_else(wrong, Some)
}

fn size_shares(written: &Written<'_>) -> Option<Vec<SizeShare>> {
    let example = "[[\"10KB\", 0.15], [\"30MB\", 1]]";
    let point = |item| {
        let item = written.part(item, &SIZE_SHARE);
        let (size, share) = item.pair([&Form::ANY_BYTES, &Form::PROBABILITY], "[\"10KB\", 0.15]")?;
        Some(SizeShare { size: Bytes::read(&size)?, share: f64::read(&share)? })
    };
    written.list(example)?.iter().map(point).collect()
}

impl Field for Size {
    fn read(written: &Written<'_>) -> Option<Self> {
        let size = SIZE.read(written)?;
        match size {
            Self::Lognormal { median, sigma, within }
                if Lognormal::new(median, sigma).probability(within) < LEAST_PROBABILITY =>
            {
                written.report("sizes that almost never occur", "in here", "let `within` contain the median")
            }
            _ => Some(size),
        }
    }
    fn to_toml(&self) -> String {
        SIZE.write(self)
    }
}
