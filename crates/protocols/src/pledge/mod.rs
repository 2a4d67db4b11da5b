//! Pledge: explicit rates from routers that keep the share of late bytes below a bound. A law of this project; see README.md
//! in this folder and docs/extensions/pledge.md.

mod factors;
mod flow_queues;
mod fluid;
mod header;
mod label_count;
#[cfg(test)]
mod label_model;
mod link;
mod offers;
mod params;
mod sender;
mod service;
mod shown_capacity;

pub use header::PledgeHeader;

use millpond_law::fluid::FluidModel;
use millpond_law::{
    Card, Link, LinkFacts, Needs, Protocol, QueueChoice, RateField, Sender, SettingError, Settings,
};

/// The protocol `pledge`.
pub struct Pledge;

static CARD: Card = Card {
    name: "pledge",
    title: "Pledge",
    summary: "routers keep the share of bytes that wait longer than a target below 5 %, and offer max-min fair rates",
    source: "this project, docs/extensions/pledge.md",
    needs: Needs { header: header::ID, ..Needs::NONE },
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for Pledge {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn rate_field(&self) -> Option<RateField> {
        Some(header::PledgeHeader::replace_rate)
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(sender::PledgeSender::new(settings)))
    }

    fn link(&self, settings: &Settings, facts: &LinkFacts) -> Result<Option<Box<dyn Link>>, SettingError> {
        let params = params::RouterParams::read(settings);
        Ok(Some(match facts.has_flow_queues {
            true => Box::new(flow_queues::FlowRouters::new(params, facts)),
            false => Box::new(link::PledgeRouter::new(params, facts)),
        }))
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(Some(Box::new(fluid::PledgeFluid::read(settings))))
    }

    fn warnings(&self, settings: &Settings) -> Vec<String> {
        params::warnings(settings)
    }
}
