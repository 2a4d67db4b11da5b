//! A law whose callbacks are C functions.

use millpond_guest::abi::PARAMETERS;
use millpond_guest::{NativeLaw, NativeSetting, value_in_si};
use millpond_law::{
    Card, Link, LinkFacts, PlainReceiver, Protocol, Receiver, Sender, SettingError, Settings,
};

/// A law whose callbacks are C functions.
pub(super) struct NativeProtocol {
    card: &'static Card,
    law: NativeLaw,
}

impl NativeProtocol {
    pub(super) fn new(card: &'static Card, address: usize) -> Result<Self, String> {
        let refused = |reason: String| format!("law \"{}\": {reason}", card.name);
        if card.parameters.len() > PARAMETERS {
            return Err(refused(format!("a law in C has at most {PARAMETERS} parameters")));
        }
        Ok(Self { card, law: NativeLaw::at(address).map_err(refused)? })
    }

    fn setting(&self, settings: &Settings) -> NativeSetting {
        let mut parameters = [0.0; PARAMETERS];
        for (place, key) in parameters.iter_mut().zip(self.card.parameters) {
            let declared = key.parameter();
            let written = settings.written().find(|(name, _)| *name == declared.name);
            *place = written.and_then(|(_, value)| value_in_si(declared.domain, value)).unwrap_or(f64::NAN);
        }
        NativeSetting { law: self.card.name, parameters, header_id: self.card.needs.header }
    }
}

impl Protocol for NativeProtocol {
    fn card(&self) -> &'static Card {
        self.card
    }

    /// What the functions read is not known.
    fn reads_weight(&self) -> bool {
        true
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(self.law.sender(self.setting(settings))))
    }

    fn receiver(&self, settings: &Settings) -> Result<Box<dyn Receiver>, SettingError> {
        match self.law.receiver(self.setting(settings)) {
            Some(receiver) => Ok(Box::new(receiver)),
            None => Ok(Box::new(PlainReceiver)),
        }
    }

    fn link(&self, settings: &Settings, _facts: &LinkFacts) -> Result<Option<Box<dyn Link>>, SettingError> {
        let link = self.law.link(self.setting(settings));
        Ok(link.map(|link| Box::new(link) as Box<dyn Link>))
    }
}
