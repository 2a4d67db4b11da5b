//! Names that live as long as the process.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The same text with a life as long as the process. Equal texts are stored once.
pub fn intern(text: &str) -> &'static str {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(name) = names.get(text) {
        return name;
    }
    let name: &'static str = Box::leak(text.into());
    names.insert(name);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_stored_once() {
        let (one, other) = (intern("window"), intern(&String::from("window")));
        assert!(std::ptr::eq(one, other));
        assert_eq!(intern("pace"), "pace");
    }
}
