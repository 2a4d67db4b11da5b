//! Writes the key tables of `docs/scenario.md` from the tables in the source: `make scenario-reference`.

use millpond_scenario::update_reference;
use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenario.md");
    let text = fs::read_to_string(&page)?;
    fs::write(&page, update_reference(&text)?)?;
    Ok(())
}
