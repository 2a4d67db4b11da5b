//! `millpond new`: a scenario file from a template.

use crate::args;
use crate::failure::Outcome;
use crate::output::{finish, new_file, print_line};
use millpond_results::files::AtomicFile;
use std::path::Path;
use std::process::ExitCode;

/// The file that the first line of every template names: the JSON Schema of scenario files.
const SCHEMA_FILE: &str = "scenario.schema.json";

/// Writes the scenario, and the schema that its first line names into the same folder. The schema of an earlier version
/// is replaced.
pub(crate) fn new(args: &args::New) -> Outcome {
    let scenario = new_file(&args.file, args.existing)?;
    let schema_file = args.file.parent().unwrap_or(Path::new("")).join(SCHEMA_FILE);
    let schema = AtomicFile::create(&schema_file).map_err(crate::failure::Failure::input)?;
    finish(schema, format!("{:#}\n", millpond_scenario::schema()).as_bytes())?;
    finish(scenario, args.template.text().as_bytes())?;
    print_line(format_args!(
        "{}: written, with {} for editors; run it with: millpond run {}",
        args.file.display(),
        schema_file.display(),
        args.file.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}
