//! Writes the key tables of `docs/scenario.md` and the JSON Schema that the scenarios name, from the tables in the source:
//! `make scenario-reference`.

use millpond_scenario::{schema, update_reference};
use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = root.join("docs/scenario.md");
    let text = fs::read_to_string(&page)?;
    fs::write(&page, update_reference(&text)?)?;
    fs::write(root.join("scenarios/scenario.schema.json"), format!("{:#}\n", schema()))?;
    Ok(())
}
