//! Drawings as SVG: axes, curves, scales. Knows nothing of runs or protocols.

pub(crate) mod decimate;
pub(crate) mod figure;
pub(crate) mod markup;
pub(crate) mod plot;
pub(crate) mod scale;
pub(crate) mod theme;
