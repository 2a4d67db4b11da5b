//! How long light takes from one place on the Earth to another.

use millpond_units::Span;

/// The Earth's mean radius, in metres (IUGG).
const EARTH_RADIUS: f64 = 6_371_008.8;
/// Light in fibre: two thirds of its speed in vacuum, in metres per second.
const LIGHT_IN_FIBRE: f64 = 299_792_458.0 * 2.0 / 3.0;

/// A place on the Earth, in degrees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coordinates {
    pub(super) latitude: f64,
    pub(super) longitude: f64,
}

impl Coordinates {
    /// Propagation along the great circle to another place (haversine formula).
    pub(super) fn delay_to(self, other: Self) -> Span {
        let half_sine = |degrees: f64| libm::sin(degrees.to_radians() / 2.0);
        let cosine = |degrees: f64| libm::cos(degrees.to_radians());
        let (north, east) = (other.latitude - self.latitude, other.longitude - self.longitude);
        let chord = half_sine(north) * half_sine(north)
            + cosine(self.latitude) * cosine(other.latitude) * half_sine(east) * half_sine(east);
        let distance = 2.0 * EARTH_RADIUS * libm::asin(libm::sqrt(chord.min(1.0)));
        Span::from_secs(distance / LIGHT_IN_FIBRE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(latitude: f64, longitude: f64) -> Coordinates {
        Coordinates { latitude, longitude }
    }

    fn close(delay: Span, seconds: f64) -> bool {
        (delay.secs() - seconds).abs() < 1e-9
    }

    /// A quarter of a great circle is pi/2 * 6371.0088 km = 10007.5572 km: 50.072426 ms at 199861.6387 km/s.
    #[test]
    fn a_quarter_of_a_great_circle_takes_50_ms_in_every_direction() {
        let quarter = std::f64::consts::FRAC_PI_2 * 6_371_008.8 / 199_861_638.666_666_67;
        assert!((quarter - 0.050_072_426).abs() < 1e-8);
        assert!(close(at(0.0, 0.0).delay_to(at(90.0, 123.0)), quarter));
        assert!(close(at(0.0, -30.0).delay_to(at(0.0, 60.0)), quarter));
        assert!(close(at(0.0, 170.0).delay_to(at(0.0, -100.0)), quarter));
        assert!(close(at(45.0, 90.0).delay_to(at(-45.0, -90.0)), 2.0 * quarter));
        assert!(at(51.5, -0.1).delay_to(at(51.5, -0.1)).is_zero());
    }
}
