//! LGCC, Logistic Growth Chain Control (Teymoori, Welzl, Hayes: "LGCC: A Novel High-Throughput and Low Delay
//! Paradigm Shift in Multi-Hop Congestion Control", IEEE/ACM Transactions on Networking, 2023).
//!
//! A chain of short loops: the carrying capacity of each is the rate of its downstream loop. See README.md.

mod chain;
mod cushion;
mod fluid;
mod header;
mod params;
mod price;
mod price_fluid;
mod receiver;
mod sender;
mod sharing;
mod upstream;

pub use header::{LgccEcho, NextRate};

use crate::parts::send_rate::INITIAL_WINDOW;
use millpond_law::fluid::FluidModel;
use millpond_law::{
    Card, Knowledge, Link, LinkFacts, Needs, Protocol, QueueChoice, RateField, Receiver, Sender,
    SettingError, Settings,
};
use millpond_units::{Bytes, Rate, Span};

/// The protocol `lgcc`.
pub struct Lgcc;

static CARD: Card = Card {
    name: "lgcc",
    title: "Logistic Growth Chain Control",
    summary: "relays split a path into loops; each loop grows logistically towards the rate of its downstream loop",
    source: "Teymoori, Welzl, Hayes, IEEE/ACM Trans. Networking, 2023, doi:10.1109/TNET.2023.3301291",
    needs: Needs {
        header: header::ID,
        ecn: Some(false),
        relays: true,
        capacity: Knowledge::Live,
        samples: true,
        ..Needs::NONE
    },
    queue: QueueChoice { name: "red", settings: &[("preset", "lgcc"), ("min_th", "3KB")] },
    parameters: params::PARAMETERS,
};

impl Protocol for Lgcc {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn reads_weight(&self) -> bool {
        true
    }

    fn needs(&self, settings: &Settings) -> Needs {
        Needs { capacity: params::knowledge(settings), ..CARD.needs }
    }

    fn rate_field(&self) -> Option<RateField> {
        Some(header::LgccEcho::replace_rate)
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(sender::LgccSender::new(settings)))
    }

    fn receiver(&self, settings: &Settings) -> Result<Box<dyn Receiver>, SettingError> {
        Ok(Box::new(receiver::LgccReceiver::new(settings)))
    }

    fn link(&self, settings: &Settings, _facts: &LinkFacts) -> Result<Option<Box<dyn Link>>, SettingError> {
        let price = params::price(settings)?;
        Ok(price.map(|price| Box::new(price::PriceLink::new(price)) as Box<dyn Link>))
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(Some(Box::new(fluid::LgccFluid::read(settings)?)))
    }

    fn warnings(&self, settings: &Settings) -> Vec<String> {
        params::warnings(settings)
    }

    fn path_warnings(&self, settings: &Settings, base_rtt: Span) -> Vec<String> {
        params::rtt_warning(settings, base_rtt).into_iter().collect()
    }

    fn chain_warnings(&self, settings: &Settings, loops: usize) -> Vec<String> {
        chain::amplification_warning(settings, loops).into_iter().collect()
    }

    fn least_rate(&self, settings: &Settings, packet: Bytes, base_rtt: Span) -> Option<Rate> {
        let probe_interval = settings.get(params::PROBE_INTERVAL);
        let packets = if probe_interval.is_zero() { settings.get(INITIAL_WINDOW) } else { 1.0 };
        let interval = base_rtt.max(probe_interval).secs().max(1e-9);
        Some(Rate::from_bps_f64(packets * packet.bits() as f64 / interval))
    }
}
