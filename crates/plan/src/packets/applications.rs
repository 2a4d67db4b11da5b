//! From the applications of a scenario to those of the simulator.

use crate::flow_instances::FlowInstance;
use crate::sampling::{FlowStream, bytes, span};
use millpond_law::Random;
use millpond_scenario::{AdaptiveVideo, ObjectCount, Scenario, VideoCall, WebPages, Workload};
use millpond_sim::{
    Application, ApplicationSpec, CallSettings, FlowId, Page, PageLoads, RequestPath, VideoClient,
    VideoSettings,
};
use millpond_units::Time;

/// The flows of a group in the simulator.
pub(super) type GroupFlows<'a, 's> = [(&'a FlowInstance<'s>, FlowId)];

/// The applications of the flows of a group, each with its name: one for all of them, or one for each.
pub(super) fn applications<'a, 's>(
    scenario: &Scenario,
    flows: &GroupFlows<'a, 's>,
) -> Vec<(String, &'a FlowInstance<'s>, ApplicationSpec)> {
    let Some((first, _)) = flows.first() else { return Vec::new() };
    match &first.group.workload {
        Workload::Pages(pages) => {
            let name = first.group.name.value.clone();
            let paths = flows.iter().map(|(flow, _)| request_path(scenario, flow, pages.handshakes));
            let stream = FlowStream { seed: scenario.seed, flow: &name };
            let browser = PageLoads::new(Box::new(web_pages(stream, pages)), paths);
            let spec = specification(scenario, flows, Box::new(browser));
            vec![(name, first, spec)]
        }
        Workload::Video(video) => each(scenario, flows, |flow| {
            Box::new(VideoClient::new(video_settings(video), request_path(scenario, flow, video.handshakes)))
        }),
        Workload::Call(call) => each(scenario, flows, |flow| {
            let stream = FlowStream { seed: scenario.seed, flow: &flow.name };
            Box::new(millpond_sim::VideoCall::new(call_settings(call), stream.part("frames")))
        }),
        _ => Vec::new(),
    }
}

fn each<'a, 's>(
    scenario: &Scenario,
    flows: &GroupFlows<'a, 's>,
    application: impl Fn(&FlowInstance<'_>) -> Box<dyn Application>,
) -> Vec<(String, &'a FlowInstance<'s>, ApplicationSpec)> {
    let one = |pair: &(&'a FlowInstance<'s>, FlowId)| {
        let spec = specification(scenario, std::slice::from_ref(pair), application(pair.0));
        (pair.0.name.clone(), pair.0, spec)
    };
    flows.iter().map(one).collect()
}

/// An application over these flows, from the start of the last of them to the stop of the first.
fn specification(
    scenario: &Scenario,
    flows: &GroupFlows<'_, '_>,
    application: Box<dyn Application>,
) -> ApplicationSpec {
    let start = flows.iter().map(|(flow, _)| flow.samples.start).max().unwrap_or_default();
    let stops = flows.iter().filter_map(|(flow, _)| flow.samples.stop);
    let until = stops.min().unwrap_or(Time::ZERO + scenario.duration);
    ApplicationSpec { flows: flows.iter().map(|(_, id)| *id).collect(), start, until, application }
}

/// A request takes the propagation time of the return path.
fn request_path(scenario: &Scenario, flow: &FlowInstance<'_>, handshakes: u32) -> RequestPath {
    let request = scenario.propagation(&flow.return_path);
    RequestPath { setup: flow.base_rtt * u64::from(handshakes), request }
}

/// The pages that a browser loads, each sampled after the one before.
fn web_pages(stream: FlowStream<'_>, pages: &WebPages) -> impl Iterator<Item = Page> + Send + use<> {
    let WebPages { first, objects, object, parse, think, handshakes: _ } = pages.clone();
    let (mut sizes, mut counts, mut times) =
        (stream.part("size"), stream.part("objects"), stream.part("think"));
    std::iter::repeat_with(move || {
        let first = bytes(&first, &mut sizes);
        let others = (0..object_count(objects, &mut counts)).map(|_| bytes(&object, &mut sizes)).collect();
        Page { first, others, parse: span(&parse, &mut times), think: span(&think, &mut times) }
    })
}

/// The number of objects beside the first: `min(X, most) - least` with a Pareto distributed `X`, rounded.
fn object_count(count: ObjectCount, random: &mut Random) -> u32 {
    match count {
        ObjectCount::Constant(count) => count,
        ObjectCount::Pareto { least, shape, most } => {
            let number = random.pareto(shape, f64::from(least)).min(f64::from(most.max(least)));
            (number - f64::from(least)).round() as u32
        }
    }
}

fn video_settings(video: &AdaptiveVideo) -> VideoSettings {
    let AdaptiveVideo { ladder, segment, buffer, reservoir, cushion, handshakes: _ } = video.clone();
    VideoSettings { ladder, segment, buffer, reservoir, cushion }
}

fn call_settings(call: &VideoCall) -> CallSettings {
    let VideoCall {
        range,
        frames_per_s,
        reaction,
        burst_frames,
        burst_size,
        least_share,
        interval_scale,
        size_scale,
        abrupt,
        pauses,
    } = call.clone();
    CallSettings {
        range,
        frames_per_s,
        reaction,
        burst_frames,
        burst_size,
        least_share,
        interval_scale,
        size_scale,
        abrupt,
        pauses,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_objects_has_the_mean_of_its_specification() {
        // 3GPP TR 25.892: a mean of 5.64 with alpha = 1.1, k = 2, m = 55. The exact value is the integral of the tail,
        // k^alpha (k^(1-alpha) - m^(1-alpha)) / (alpha - 1).
        let mut random = Random::stream(1, "objects");
        let count = ObjectCount::Pareto { least: 2, shape: 1.1, most: 55 };
        let samples = 100_000;
        let counts: Vec<f64> = (0..samples).map(|_| f64::from(object_count(count, &mut random))).collect();
        let mean = counts.iter().sum::<f64>() / f64::from(samples);
        // Standard deviation below 11; five standard errors and half of the grid's curvature at the minimum.
        assert!((mean - 5.64).abs() < 5.0 * 11.0 / libm::sqrt(1e5) + 0.05, "{mean}");
        assert!(counts.iter().all(|count| *count <= 53.0));
        assert_eq!(object_count(ObjectCount::Constant(7), &mut random), 7);
    }
}
