//! What the attributes of nodes and edges mean. `rate` and `delay` are Millpond's own; the others are those of the
//! Internet Topology Zoo.

use super::Text;
use super::distance::Coordinates;
use crate::source::Fault;
use millpond_units::{Rate, Span};
use std::collections::BTreeMap;
use std::str::FromStr;

/// The highest rate that is accepted, in bit/s.
const FASTEST: f64 = 1e14;
/// SONET: OC-1 in bit/s.
const OPTICAL_CARRIER: f64 = 51.84e6;

/// The attributes of one node or edge: name, value, first byte.
#[derive(Default)]
pub(super) struct Attributes<'a>(pub(super) BTreeMap<&'a str, (&'a str, usize)>);

impl<'a> Attributes<'a> {
    /// The text of an attribute, if it is not empty.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).map(|&(text, _)| text.trim()).filter(|text| !text.is_empty())
    }

    /// The coordinates of the node, if the file contains them.
    pub(super) fn coordinates(&self, text: &Text<'_>) -> Result<Option<Coordinates>, Fault> {
        let latitude = self.number(text, "Latitude", -90.0, 90.0)?;
        let longitude = self.number(text, "Longitude", -180.0, 180.0)?;
        Ok(latitude.zip(longitude).map(|(latitude, longitude)| Coordinates { latitude, longitude }))
    }

    /// The speed of the edge: `rate`, `LinkSpeedRaw`, `LinkSpeed` with `LinkSpeedUnits`, or `LinkType` as `OC-192`.
    pub(super) fn rate(&self, text: &Text<'_>) -> Result<Option<Rate>, Fault> {
        if let Some(rate) = self.quantity::<Rate>(text, "rate", "a rate such as 10Gbps")? {
            return Ok(Some(rate));
        }
        let raw = self.number(text, "LinkSpeedRaw", 1.0, FASTEST)?;
        let speed = match self.unit() {
            Some(unit) => {
                self.number(text, "LinkSpeed", 1.0 / unit, FASTEST / unit)?.map(|speed| speed * unit)
            }
            None => None,
        };
        let carriers = self.text("LinkType").and_then(|kind| kind.strip_prefix("OC-")?.parse::<u16>().ok());
        let carried = carriers.filter(|&n| n > 0).map(|n| f64::from(n) * OPTICAL_CARRIER);
        Ok(raw.or(speed).or(carried).map(Rate::from_bps_f64))
    }

    /// The edge's own delay, if the file contains it.
    pub(super) fn delay(&self, text: &Text<'_>) -> Result<Option<Span>, Fault> {
        self.quantity(text, "delay", "a time such as 15ms")
    }

    /// The unit of `LinkSpeed`, in bit/s.
    fn unit(&self) -> Option<f64> {
        match self.text("LinkSpeedUnits")? {
            "K" => Some(1e3),
            "M" => Some(1e6),
            "G" => Some(1e9),
            "T" => Some(1e12),
            _ => None,
        }
    }

    fn number(&self, text: &Text<'_>, name: &str, low: f64, high: f64) -> Result<Option<f64>, Fault> {
        let Some(written) = self.text(name) else { return Ok(None) };
        match written.parse::<f64>() {
            Ok(x) if (low..=high).contains(&x) => Ok(Some(x)),
            _ => Err(self.wrong(text, name, &format!("a number from {low} to {high}"))),
        }
    }

    /// A quantity above zero.
    fn quantity<T: FromStr + Default + PartialOrd>(
        &self,
        text: &Text<'_>,
        name: &str,
        expected: &str,
    ) -> Result<Option<T>, Fault> {
        let Some(written) = self.text(name) else { return Ok(None) };
        match written.parse::<T>() {
            Ok(quantity) if quantity > T::default() => Ok(Some(quantity)),
            _ => Err(self.wrong(text, name, expected)),
        }
    }

    fn wrong(&self, text: &Text<'_>, name: &str, expected: &str) -> Fault {
        let (written, start) = self.0.get(name).copied().unwrap_or_default();
        let what = format!("{name} is \"{}\"", written.trim());
        text.wrong(start, &what, &format!("not {expected}"), format!("expected {expected}"))
    }
}
