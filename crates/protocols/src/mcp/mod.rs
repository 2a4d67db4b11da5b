//! MCP, the Multimodal Control Protocol (Podlesny, Gorinsky: "Multimodal Congestion Control for Low Stable-State
//! Queuing", WUCSE-2006-41). See README.md in this folder.

mod automaton;
mod fairing;
mod fluid;
mod header;
mod link;
mod params;
mod requests;
mod sender;

pub use fairing::{fairness, fairness_bound};
pub use header::{Load, McpHeader};

use millpond_law::fluid::FluidModel;
use millpond_law::{Card, Link, LinkFacts, Needs, Protocol, QueueChoice, Sender, SettingError, Settings};

/// The protocol `mcp`.
pub struct Mcp;

static CARD: Card = Card {
    name: "mcp",
    title: "Multimodal Control Protocol",
    summary: "a link's load in two bits selects one of six modes; a new flow requests seven cycles of fairing from all flows",
    source: "Podlesny, Gorinsky, Washington University in St. Louis, WUCSE-2006-41, 2006",
    needs: Needs { header: header::ID, ..Needs::NONE },
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for Mcp {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn reads_weight(&self) -> bool {
        true
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        params::Ranges::read(settings)?;
        Ok(Box::new(sender::McpSender::new(settings)))
    }

    fn sender_parameters(&self) -> &'static [&'static str] {
        params::OF_SENDERS
    }

    fn link(&self, settings: &Settings, _facts: &LinkFacts) -> Result<Option<Box<dyn Link>>, SettingError> {
        Ok(Some(Box::new(link::McpRouter::new(settings)?)))
    }

    fn warnings(&self, settings: &Settings) -> Vec<String> {
        params::warnings(settings)
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(Some(Box::new(fluid::McpFluid::read(settings)?)))
    }
}
