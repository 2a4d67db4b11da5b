//! The statistics that Millpond computes and the distributions that it samples, each defined once. They do not depend on
//! units, runs or protocols.
//!
//! There are three kinds of quantile, because there are three kinds of data:
//!
//! | data | function | definition |
//! |---|---|---|
//! | a sorted list of samples | [`quantile_of_sorted`] | Hyndman-Fan type 7: linear between order statistics |
//! | weighted samples | [`WeightedDistribution::quantile`] | Hyndman-Fan type 1: inverse of the empirical distribution function |
//! | whole numbers, counted in buckets | [`Histogram::quantile`] | type 1 as well, of the middles of the buckets |
//! | a distribution given by points | [`quantile_of_curve`] | linear between the points |
//!
//! Hyndman, Fan: *Sample Quantiles in Statistical Packages*, The American Statistician 50, 1996.

#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod confidence;
mod fairness;
mod histogram;
mod max_min;
mod moments;
mod quantile;
mod random;
mod weighted;

pub use confidence::{ConfidenceInterval, confidence_interval, student_t};
pub use fairness::{jain, jain_of_several, min_over_max};
pub use histogram::Histogram;
pub use max_min::{MaxMinFlow, MaxMinShares, connected_components, max_min_shares};
pub use moments::{
    autocorrelation, coefficient_of_variation, maximum, mean, minimum, root_mean_square, standard_deviation,
    variance,
};
pub use quantile::{
    CURVE_POINTS, curve_of_values, quantile_of_curve, quantile_of_sorted, thinned_curve, with_quantiles,
};
pub use random::{Random, stable_hash};
pub use weighted::{WeightedDistribution, WeightedSamples};
