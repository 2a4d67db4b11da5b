//! `millpond schema`: the JSON Schema of scenario files.

use crate::failure::Outcome;
use crate::output::print;
use std::process::ExitCode;

pub(crate) fn schema() -> Outcome {
    print(format_args!("{:#}\n", millpond_scenario::schema()))?;
    Ok(ExitCode::SUCCESS)
}
