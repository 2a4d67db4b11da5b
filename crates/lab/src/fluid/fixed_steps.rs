//! The fixed-step integration of a plan, on several threads if the network is large.

use crate::Error;
use millpond_fluid::{Executor, FixedStepIntegration, Integration};
use millpond_plan::fluid::FluidPlan;
use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};

/// The number of loops from which the steps of a network are shared among threads. A step of so many takes about half a
/// millisecond, and threads that meet twice per step cost about a twentieth of that.
const MANY_LOOPS: usize = 10_000;

/// The threads of runs: those of rayon's pool that executes the run.
struct RunThreads;

impl Executor for RunThreads {
    fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync + Send) {
        items.par_iter_mut().for_each(work);
    }
}

/// The integration at time zero with this step, up to a duration; both in seconds.
pub(super) fn begin(plan: &FluidPlan, step: f64, duration: f64) -> Result<Box<dyn Integration + '_>, Error> {
    let asm = &plan.assembly;
    if plan.loops.len() >= MANY_LOOPS {
        let integration = FixedStepIntegration::with_executor(asm, step, RunThreads)?;
        integration.check_reach(duration)?;
        return Ok(Box::new(integration));
    }
    let integration = FixedStepIntegration::new(asm, step)?;
    integration.check_reach(duration)?;
    Ok(Box::new(integration))
}
