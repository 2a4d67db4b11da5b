//! The laws of Paganini, Wang, Doyle and Low ("Congestion control for high performance, stability and fairness in
//! general networks", IEEE/ACM Transactions on Networking, 2005), which estimate the price of their path from marks or
//! from queueing delay. See README.md in this folder.

mod base_rtt;
mod delay;
mod fluid;
mod law;
mod marks;
mod params;
mod price;
mod stability;

use millpond_law::fluid::FluidModel;
use millpond_law::{Card, Needs, Protocol, QueueChoice, Sender, SettingError, Settings};

/// The form with marks: the protocol `paganini-ecn`.
pub struct PaganiniMarks;

/// The form with queueing delay: the protocol `paganini-delay`.
pub struct PaganiniDelay;

const SOURCE: &str = "Paganini, Wang, Doyle, Low, IEEE/ACM Trans. Networking 13(1), 2005, pp. 43-56";

static MARKS: Card = Card {
    name: "paganini-ecn",
    title: "Paganini-Wang-Doyle-Low primal-dual control, ECN form",
    summary: "links have prices and mark exponentially; a window follows the price and, slowly, its own utility",
    source: SOURCE,
    needs: Needs { ecn: Some(false), ..Needs::NONE },
    queue: QueueChoice { name: "rem", settings: &[] },
    parameters: params::MARKS,
};

static DELAY: Card = Card {
    name: "paganini-delay",
    title: "Paganini-Wang-Doyle-Low primal-dual control, delay form",
    summary: "the queueing delay of a path is its price; a window follows it and, slowly, its own utility",
    source: SOURCE,
    needs: Needs::NONE,
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::DELAY,
};

impl Protocol for PaganiniMarks {
    fn card(&self) -> &'static Card {
        &MARKS
    }

    fn reads_weight(&self) -> bool {
        true
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(marks::MarksSender::new(settings)))
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(Some(Box::new(fluid::MarksFluid::read(settings))))
    }

    fn warnings(&self, settings: &Settings) -> Vec<String> {
        stability::warnings_of_marks(settings)
    }
}

impl Protocol for PaganiniDelay {
    fn card(&self) -> &'static Card {
        &DELAY
    }

    fn reads_weight(&self) -> bool {
        true
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(delay::DelaySender::new(settings)))
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(Some(Box::new(fluid::DelayFluid::read(settings))))
    }

    fn warnings(&self, settings: &Settings) -> Vec<String> {
        stability::warnings_of_delay(settings)
    }
}
