//! Web pages, adaptive video and video calls, against times and rates computed by hand.

use crate::common::{flow, near, results, scenario};
use millpond_lab::run;
use millpond_protocols::Registry;
use millpond_results::{About, Group, Run, Transfer, Unwatched, World};

/// 40 ms of propagation there and back; a packet of 1000 bytes is served in 0.8 ms.
fn text(flows: &str) -> String {
    format!(
        "title = \"Applications\"\nduration = \"20s\"\nhosts = {{ jitter = \"0s\" }}\n\
         links = [{{ name = \"L\", between = [\"A\", \"B\"], rate = \"10Mbps\", delay = \"20ms\", buffer = \"64KB\", queue = \"droptail\" }}]\n\
         [[flows]]\nname = \"app\"\nprotocol = \"newreno\"\npath = [\"A\", \"B\"]\n{flows}\n"
    )
}

const PAGES: &str = "count = 2\nworkload = { pages = { first = \"1000B\", objects = 4, object = \"1000B\", \
                     parse = \"100ms\", think = \"1s\", handshakes = 1 } }";
const VIDEO: &str = "workload = { video = { ladder = [\"1Mbps\", \"3Mbps\"], segment = \"2s\", buffer = \"20s\", \
                     reservoir = \"6s\", cushion = \"10s\", handshakes = 1 } }";
const CALL: &str = "workload = { call = \"rfc8593\" }";

fn parts(run: &Run) -> impl Iterator<Item = &Transfer> {
    run.transfers.iter().filter(|transfer| transfer.name.contains('/'))
}

fn group(run: &Run) -> &Group {
    &run.summary.groups[0]
}

#[test]
fn a_page_takes_its_handshakes_requests_and_objects() {
    let run = results(&text(PAGES), &[]);
    let pages: Vec<&Transfer> = parts(&run).collect();
    let times: Vec<f64> = pages.iter().filter_map(|page| page.completion_ms()).collect();
    // A handshake is 40 ms, a request 20 ms, an object 20.8 ms.
    let (handshake, object) = (40.0, 20.0 + 20.8);
    // The second connection opens with its first object. The first one takes a second object meanwhile, so that the last
    // one is the second of the second connection.
    assert!(near(times[0], handshake + object + 100.0 + handshake + 2.0 * object, 1e-6), "{times:?}");
    // Later both connections are open, and of two objects at the same time one waits for the service of the other.
    let later = object + 100.0 + 2.0 * object + 0.8;
    assert!(times[1..].iter().all(|time| near(*time, later, 1e-6)), "{later} {times:?}");
    // Each begins a second after the one before.
    assert!(pages.windows(2).all(|pair| near(pair[1].start_s, pair[0].completed_s.unwrap() + 1.0, 1e-9)));
    assert!(pages.iter().all(|page| page.size_bytes == Some(5000)), "{pages:?}");
    let group = group(&run);
    assert_eq!((group.transfers, group.completed), (pages.len() as u64, times.len() as u64));
    assert!(near(group.completion_ms.unwrap().p50, later, 1e-6));
    assert!(near(group.completion_ms.unwrap().max, times[0], 1e-6));
    // Browsers do not compete for capacity all the time, and are left out of fairness.
    assert_eq!(run.summary.fairness.jain, None);
}

/// The connections of the browser start at 1 and 3 s and stop at 12 and 10 s.
#[test]
fn a_browser_loads_pages_while_all_its_connections_run() {
    let sets = [
        "flows.app.start={ first = \"1s\", every = \"2s\" }",
        "flows.app.stop={ uniform = [\"10s\", \"12s\"] }",
    ];
    let run = results(&text(PAGES), &sets);
    let starts: Vec<f64> = parts(&run).map(|page| page.start_s).collect();
    let first_stop = run.summary.flows.iter().map(|flow| flow.stop_s).fold(f64::INFINITY, f64::min);
    assert!(near(starts[0], 3.0, 1e-9), "{starts:?}");
    assert!(first_stop < 12.0 && starts.iter().all(|start| *start < first_stop), "{first_stop} {starts:?}");
    // Three handshakes instead of one before the first object. During those of the second connection, the first one takes three of the
    // four others instead of two: the last one arrives after three handshakes and an object, not after one and two objects.
    let first =
        |sets: &[&str]| parts(&results(&text(PAGES), sets)).next().and_then(Transfer::completion_ms).unwrap();
    let more = first(&["flows.app.workload.pages.handshakes=3"]) - first(&[]);
    assert!(near(more, 2.0 * 40.0 + (3.0 * 40.0 + 40.8) - (40.0 + 2.0 * 40.8), 1e-6), "{more}");
}

#[test]
fn more_connections_load_a_page_in_fewer_rounds() {
    let rounds = |count: u32| {
        let run = results(&text(PAGES), &[&format!("flows.app.count={count}"), "measure.from=2s"]);
        let object = 20.0 + 20.8;
        (group(&run).completion_ms.unwrap().p50 - object - 100.0) / object
    };
    // Four objects in rounds of `count`, each served in 0.8 ms.
    for (count, expected) in [(1, 4.0), (2, 2.0), (4, 1.0), (8, 1.0)] {
        assert!((rounds(count) - expected).abs() < 4.0 * 0.8 / 40.8, "{count}: {}", rounds(count));
    }
}

#[test]
fn the_pages_of_the_specification_are_the_same_under_every_protocol() {
    let sampled = |protocol: &str| {
        let sets = [format!("flows.app.protocol={protocol}"), "duration=60s".to_owned()];
        let workload = "count = 6\nworkload = { pages = { think = \"100ms\" } }";
        let run = results(&text(workload), &sets.each_ref().map(String::as_str));
        parts(&run).map(|page| page.size_bytes).collect::<Vec<_>>()
    };
    let (newreno, cubic) = (sampled("newreno"), sampled("cubic"));
    assert!(newreno.len() > 50 && cubic.len() > 50, "{} {}", newreno.len(), cubic.len());
    let both = newreno.len().min(cubic.len());
    assert_eq!(newreno[..both], cubic[..both]);
}

#[test]
fn no_new_page_begins_after_the_stop_and_relays_deliver_pages() {
    // After the first page one begins every 1.2232 s: at 0, 1.30, 2.53, 3.75 and 4.97 s.
    let run = results(&text(PAGES), &["flows.app.stop=5s"]);
    assert_eq!((parts(&run).count(), group(&run).completed), (5, 4));
    let relayed = text(PAGES).replace("\"newreno\"", "\"lgcc\"").replace(
        "links = [",
        "links = [{ name = \"M\", between = [\"B\", \"C\"], rate = \"10Mbps\", delay = \"5ms\" }, ",
    );
    let relayed = relayed.replace("path = [\"A\", \"B\"]", "path = [\"A\", \"B\", \"C\"]");
    let run = results(&format!("{relayed}[protocols.lgcc]\nrelays = [\"B\"]\n"), &[]);
    let group = group(&run);
    assert!(group.completed > 10 && group.transfers - group.completed <= 1, "{group:?}");
}

#[test]
fn a_video_above_the_capacity_stands_still_for_the_missing_share() {
    // Segments of the least bitrate, 1 Mbit/s, arrive at 0.5 Mbit/s: playback stands still for half of the time.
    let run = results(&text(VIDEO), &["links.L.rate=500kbps", "duration=400s", "measure.from=100s"]);
    let playback = group(&run).playback.unwrap();
    // Less the pauses of one round trip for each segment of 4 s, and what is left of a segment at both ends.
    let share = playback.rebuffering_s.mean / 300.0;
    assert!((share - 0.5).abs() < 0.03, "{share}");
    assert_eq!((playback.bitrate_bps.mean, playback.switches.mean), (1e6, 0.0));
    // Handshake, request, and 250 kB at 500 kbit/s.
    let first = playback.startup_s.mean;
    assert!((first - 4.1).abs() < 0.1, "{first}");
}

#[test]
fn a_video_between_two_bitrates_has_the_capacity_as_its_mean() {
    let run = results(&text(VIDEO), &["links.L.rate=2Mbps", "duration=400s", "measure.from=100s"]);
    let playback = group(&run).playback.unwrap();
    assert_eq!(playback.rebuffering_s.mean, 0.0);
    // The buffer neither fills nor empties over 300 s by more than 20 s, and a segment has a pause of one round trip.
    let bitrate = playback.bitrate_bps.mean;
    assert!(bitrate > 2e6 * (1.0 - 20.0 / 300.0 - 0.04) && bitrate < 2e6 * (1.0 + 20.0 / 300.0), "{bitrate}");
    assert!(playback.switches.mean > 10.0, "{playback:?}");
}

#[test]
fn a_video_below_the_capacity_has_its_greatest_bitrate_and_one_segment_per_segment_time() {
    let run = results(&text(VIDEO), &["duration=60s", "measure.from=30s"]);
    let group = group(&run);
    let playback = group.playback.unwrap();
    assert_eq!((playback.bitrate_bps.mean, playback.rebuffering_s.mean), (3e6, 0.0));
    // 30 s are 15 segments.
    assert!(group.transfers.abs_diff(15) <= 1, "{}", group.transfers);
    assert!(near(flow(&run, "app").goodput_bps, 3e6, 0.07));
}

#[test]
fn a_call_reaches_its_greatest_rate_if_the_path_permits_it() {
    let run = results(&text(CALL), &["duration=60s", "measure.from=10s"]);
    let group = group(&run);
    // 1500 frames in 50 s; five standard errors of Laplacian deviations of sizes and of intervals.
    let error = 5.0 * 0.15 * std::f64::consts::SQRT_2 / 1500.0_f64.sqrt();
    assert!((group.transfers as f64 / 1500.0 - 1.0).abs() < error, "{}", group.transfers);
    assert!((group.goodput_bps.mean / 1.5e6 - 1.0).abs() < 2.0 * error, "{}", group.goodput_bps.mean);
    // Frames of 6250 bytes take 20 ms and their service of 5 ms.
    let delay = group.completion_ms.unwrap();
    assert!((delay.p50 - 25.0).abs() < 0.5 && delay.min > 20.0, "{delay:?}");
}

#[test]
fn a_call_over_a_slow_path_stays_below_the_capacity() {
    let run = results(&text(CALL), &["links.L.rate=600kbps", "duration=60s", "measure.from=10s"]);
    let goodput = group(&run).goodput_bps.mean;
    assert!((3e5..=6e5).contains(&goodput), "{goodput}");
}

#[test]
fn the_fluid_world_refuses_applications_by_name() {
    let refusal = |workload: &str| {
        let about = About { world: World::Fluid, ..About::default() };
        let text = text(workload);
        run(&scenario(&text, &[]), &Registry::builtin(), about, &Unwatched).err().unwrap().to_string()
    };
    for (workload, name) in [(PAGES, "web pages"), (VIDEO, "adaptive video"), (CALL, "video calls")] {
        let text = refusal(workload);
        assert!(text.contains(&format!("flows \"app\": the fluid world has no {name}")), "{text}");
    }
}
