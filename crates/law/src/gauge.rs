//! How a law shows what goes on inside it.

/// Takes down named quantities. Pulled only at `measure.every`, so a law may compute here.
pub trait Gauge {
    /// `name` in plain words (`"marking probability"`), `unit` as printed (`"bit/s"`, `"packets"`, `"1"`).
    fn quantity(&mut self, name: &'static str, unit: &'static str, value: f64);
}

impl Gauge for Vec<(&'static str, &'static str, f64)> {
    fn quantity(&mut self, name: &'static str, unit: &'static str, value: f64) {
        self.push((name, unit, value));
    }
}
