//! Runs the cells of a sweep.

use crate::dataset::Dataset;
use crate::error::Error;
use crate::plan::{SweepCell, SweepPlan};
use crate::record::{SweepRecord, SweepRow};
use crate::shared::Shared;
use millpond_lab::run;
use millpond_results::{About, RunOrigin, Watch};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The record of a cell whose run has failed with this message.
pub fn failed_cell(plan: &SweepPlan<'_>, cell: &SweepCell, message: String) -> SweepRecord {
    SweepRecord { error: Some(message), ..empty_record(plan, cell) }
}

/// The record of a cell without results.
fn empty_record(plan: &SweepPlan<'_>, cell: &SweepCell) -> SweepRecord {
    SweepRecord {
        run: cell.key.clone(),
        settings: plan.settings(cell).into(),
        protocol: cell.protocol.as_deref().map(Shared::from),
        world: plan.world().name().into(),
        seed: cell.seed,
        version: plan.version().into(),
        ..SweepRecord::default()
    }
}

/// Runs one cell. `index` numbers it for `watch`. A run that fails is a record with its message.
///
/// # Errors
/// That `watch` stopped the run.
pub fn run_cell(
    plan: &SweepPlan<'_>,
    cell: &SweepCell,
    index: usize,
    watch: &dyn Watch,
) -> Result<SweepRecord, Error> {
    let failed = |error: Error| match error {
        Error::Run(stopped @ millpond_lab::Error::Stopped { .. }) => Err(Error::Run(stopped)),
        Error::Scenario(faults) => Ok(failed_cell(plan, cell, faults.render_within(false, usize::MAX))),
        other => Ok(failed_cell(plan, cell, other.to_string())),
    };
    let case = match plan.case(cell) {
        Ok(case) => case,
        Err(error) => return failed(error),
    };
    let origin = RunOrigin { version: plan.version().to_owned(), ..RunOrigin::default() };
    let about = About { label: case.label.clone(), origin, index, world: case.world };
    match run(&case.scenario, plan.registry(), about, watch) {
        Ok(finished) => Ok(SweepRecord {
            scenario_sha256: finished.run.summary.scenario_sha256.clone().into(),
            rows: SweepRow::of_run(finished.run),
            ..empty_record(plan, cell)
        }),
        Err(error) => failed(error.into()),
    }
}

/// Runs the cells that the dataset does not have, on all threads, and adds each as soon as it has ended.
///
/// # Errors
/// A dataset that cannot be written, or that `watch` stopped the sweep.
pub fn run_cells(plan: &SweepPlan<'_>, dataset: &Dataset, watch: &dyn Watch) -> Result<(), Error> {
    let missing: Vec<&SweepCell> =
        dataset.missing().iter().filter_map(|&number| plan.cells().get(number)).collect();
    let ended = AtomicUsize::new(plan.cells().len() - missing.len());
    let one = |(index, cell): (usize, &&SweepCell)| -> Result<(), Error> {
        let record = run_cell(plan, cell, index, watch)?;
        dataset.append(&record)?;
        ended.fetch_add(1, Ordering::Relaxed);
        watch.progress(index, 1.0);
        Ok(())
    };
    missing.par_iter().enumerate().try_for_each(one).map_err(|error| match error {
        Error::Run(millpond_lab::Error::Stopped { .. }) => {
            Error::Stopped { finished: ended.load(Ordering::Relaxed), of: plan.cells().len() }
        }
        other => other,
    })
}
