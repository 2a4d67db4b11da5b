//! Tables for the terminal, from results.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers fail as tests do")]

mod comparisons {
    use millpond_results::{Comparison, ComparisonRow, DelayEstimates, Estimate, TraceKey, TransferCounts};
    use millpond_terminal::comparison;

    fn row(run: &str, group: Option<&str>, jain: f64, half_width: Option<f64>) -> ComparisonRow {
        ComparisonRow {
            run: run.into(),
            group: group.map(str::to_owned),
            protocols: vec!["lgcc".into()],
            jain: Some(Estimate { mean: jain, half_width }),
            flows: 2,
            ..ComparisonRow::default()
        }
    }

    #[test]
    fn rows_have_confidence_intervals_and_groups_are_indented_below_their_run() {
        let rows = vec![
            row("lgcc", None, 0.9, Some(0.1271)),
            row("lgcc", Some("near"), 0.8, None),
            row("mixed", Some("far"), 0.7, None),
        ];
        let findings = vec!["lgcc: flow \"far\" starves".to_owned()];
        let text = comparison(&Comparison { rows, findings, ..Comparison::default() }).to_string();
        let line = |name: &str| text.lines().find(|line| line.contains(name)).unwrap();
        assert!(text.starts_with("lgcc: flow \"far\" starves\n"), "{text}");
        assert!(line("│ lgcc ").contains("0.900 ± 0.127"), "{text}");
        assert!(line("│   near ").contains(" 0.800 "), "{text}");
        assert!(line("│   far (lgcc) ").contains(" 0.700 "), "{text}");
    }

    #[test]
    fn the_index_of_one_flow_and_the_loss_without_a_delivered_packet_are_dashes() {
        let one = ComparisonRow { jain: None, ..row("lgcc", None, 1.0, None) };
        let text = comparison(&Comparison { rows: vec![one], ..Comparison::default() }).to_string();
        let line = text.lines().find(|line| line.contains("lgcc")).unwrap();
        assert!(line.contains(" - ") && !line.contains("1.000"), "{text}");
        assert!(!line.contains("0.000 %"), "nothing was delivered: {text}");
    }

    #[test]
    fn transfers_of_which_none_is_complete_have_their_numbers_and_no_times() {
        let count = |mean| Estimate { mean, half_width: None };
        let transfers = Some(TransferCounts { transfers: count(7.0), completed: count(0.0) });
        let none = ComparisonRow { transfers, ..row("lgcc", None, 1.0, None) };
        let document = comparison(&Comparison { rows: vec![none], ..Comparison::default() });
        let text = document.to_string();
        assert!(text.contains("┆         7 ┆         0 ┆"), "{text}");
        let csv = document.csv();
        let (_, table) = csv.split_once("\r\n\r\n").unwrap();
        assert!(table.starts_with("run,group,protocols,transfers,completed,\"completion"), "{csv}");
        assert!(table.lines().nth(1).unwrap().starts_with("lgcc,,lgcc,7,0,,,,,"), "{csv}");
    }

    /// A row of CSV says by itself from which runs it is.
    #[test]
    fn rows_of_csv_have_run_group_overrides_and_the_keys_of_the_runs() {
        let far = ComparisonRow {
            world: "packets".into(),
            seeds: vec![1, 2],
            version: "0.1.0 (abc)".into(),
            scenario_sha256: "5ca1e".into(),
            traces: vec![TraceKey { name: "my.down".into(), sha256: "7ace".into() }],
            overrides: vec!["links.L.rate=5Mbps".into()],
            transfers: Some(TransferCounts::default()),
            completion_ms: Some(DelayEstimates::default()),
            ..row("mixed", Some("far"), 0.7, None)
        };
        let csv = comparison(&Comparison { rows: vec![far], ..Comparison::default() }).csv();
        for table in csv.split("\r\n\r\n") {
            let (heading, row) = table.trim_end().split_once("\r\n").unwrap();
            assert!(heading.starts_with("run,group,protocols,"), "{heading}");
            let keys = ",overrides,world,seeds,scenario_sha256,trace_sha256,version";
            assert!(heading.ends_with(keys), "{heading}");
            assert!(row.starts_with("mixed,far,lgcc,"), "{row}");
            assert!(row.ends_with(",links.L.rate=5Mbps,packets,1 2,5ca1e,7ace,0.1.0 (abc)"), "{row}");
        }
        assert_eq!(csv.matches("mixed,far").count(), 2, "{csv}");
    }
}

mod summaries {
    use millpond_results::{Group, Link, Summary};
    use millpond_terminal::summary;

    #[test]
    fn of_thousands_the_first_groups_and_the_most_utilized_links_are_shown_and_counted() {
        let group = |i: u32| Group { name: format!("g{i}"), ..Group::default() };
        let link = |i: u32| {
            let (name, utilization) = (format!("L{i}-"), f64::from(i) / 3000.0);
            Link { name, utilization, arrivals: 1, ..Link::default() }
        };
        let (groups, links) = ((0..2000).map(group).collect(), (0..3000).map(link).collect());
        let run =
            Summary { groups, links, scenario_sha256: "5ca1e".to_owned(), seed: 7, ..Summary::default() };
        let text = summary(&run).to_string();
        assert!(text.lines().count() < 100, "{text}");
        assert!(text.contains("the first 40 of 2000 groups of flows; --json, --csv and summary.json"));
        assert!(text.contains("the most utilized 40 of 3000 link directions"), "{text}");
        assert!(text.contains("g39 ") && !text.contains("g40 "), "{text}");
        assert!(text.contains("L2999-") && text.contains("L2960-") && !text.contains("L2959-"), "{text}");
        assert!(!text.contains("5ca1e"), "{text}");
        let csv = summary(&run).csv();
        let rows = |begin: &str| csv.lines().filter(|line| line.starts_with(begin)).count();
        assert_eq!((rows("g"), rows("L")), (2000 + 1, 3000), "and the heading of the groups");
        assert_eq!(csv.lines().filter(|line| line.contains(",7,5ca1e,")).count(), 5000);
    }

    #[test]
    fn the_first_line_begins_with_the_title_if_there_is_one() {
        let line = |title: &str| {
            let run = Summary { scenario: title.to_owned(), simulated_s: 60.0, ..Summary::default() };
            summary(&run).to_string().lines().next().unwrap_or_default().to_owned()
        };
        assert!(line("").starts_with("60 s simulated"), "{}", line(""));
        assert!(line("A dumbbell").starts_with("A dumbbell: 60 s simulated"));
    }
}

mod sweeps {
    use millpond_sweep::{Mean, MeanRow};
    use millpond_terminal::sweep;
    use std::collections::BTreeMap;

    #[test]
    fn failures_are_a_sentence_above_the_table() {
        let row = |failed, error: Option<&str>| MeanRow {
            settings: BTreeMap::from([("links.L.rate".to_owned(), "5Mbps".to_owned())]).into(),
            protocol: Some("cubic".into()),
            runs: 2,
            failed,
            error: error.map(str::to_owned),
            means: [("total_goodput_bps", Mean { mean: 4.8e6, half_width: Some(2e5) })].into_iter().collect(),
        };
        let text = sweep(&[row(0, None), row(1, Some("no such link\n"))]).fitted(None);
        assert!(
            text.starts_with("1 of 4 runs have no results. The first error is:\nno such link\n"),
            "{text}"
        );
        assert!(text.contains("4.80 ± 0.20"), "{text}");
        assert!(!sweep(&[row(0, None)]).fitted(None).contains("no results"));
        assert!(!text.contains("completion"), "no run has transfers: {text}");
        let with_transfers = MeanRow {
            means: [("completion_p95_ms", Mean { mean: 64.3, half_width: None })].into_iter().collect(),
            ..row(0, None)
        };
        let csv = sweep(&[with_transfers]).csv();
        assert!(
            csv.starts_with(
                "links.L.rate,protocol,runs,\"completion time, ms p95\"\r\n5Mbps,cubic,2,64.3\r\n"
            ),
            "{csv}"
        );
    }
}

mod emulated_links {
    use millpond_results::{EmulatedDirection, EmulatedLink, Lateness, Machine, Milliseconds};
    use millpond_terminal::{emulated_link, emulated_link_sentences};

    fn link() -> EmulatedLink {
        let direction = |name: &str, overrun| EmulatedDirection {
            name: name.to_owned(),
            capacity_bps: Some(20e6),
            rate_bps: 19e6,
            utilization: Some(0.95),
            packets: 1583,
            queueing_ms: Some(Milliseconds { p50: 1.5, p95: 4.0, p99: 6.0, ..Milliseconds::default() }),
            marks: 12,
            overrun,
            ..EmulatedDirection::default()
        };
        EmulatedLink {
            duration_s: 10.0,
            machine: Machine {
                lateness_us: Some(Lateness { p50: 20.0, ..Lateness::default() }),
                ..Machine::default()
            },
            directions: vec![direction("down", 0), direction("up", 7)],
            ..EmulatedLink::default()
        }
    }

    #[test]
    fn each_direction_has_a_row_with_all_digits_in_csv() {
        let csv = emulated_link(&link()).csv();
        let rows: Vec<&str> = csv.lines().collect();
        assert!(rows.iter().any(|row| row.starts_with("down,20,19,0.95,1583,1.5,4,6,12,0,0,0")), "{csv}");
        assert!(rows.iter().any(|row| row.starts_with("up,")));
        assert!(rows[0].contains(",queueing ms p50,queueing ms p95,queueing ms p99,"), "{csv}");
    }

    #[test]
    fn a_direction_without_limit_and_packets_has_neither_a_used_share_nor_a_delay() {
        let idle = EmulatedDirection { name: "up".to_owned(), ..EmulatedDirection::default() };
        let link = EmulatedLink { directions: vec![idle], ..EmulatedLink::default() };
        let csv = emulated_link(&link).csv();
        assert!(csv.lines().any(|row| row == "up,unlimited,0,,0,,,,0,0,0,0"), "{csv}");
        let sentences = emulated_link_sentences(&link);
        assert!(sentences[0].contains("No packet left.") && !sentences[0].contains(" us "), "{sentences:?}");
    }

    #[test]
    fn lateness_above_a_tenth_of_the_round_trip_time_is_a_warning() {
        // Twice 10 ms of propagation, and once 5 ms of queueing: a tenth is 2.5 ms.
        let late_by = |micros: f64| {
            let mut link = link();
            link.directions
                .iter_mut()
                .for_each(|direction| (direction.delay_ms, direction.overrun) = (10.0, 0));
            link.directions[0].queueing_ms = Some(Milliseconds { mean: 5.0, ..Milliseconds::default() });
            link.machine.lateness_us = Some(Lateness { p99: micros, ..Lateness::default() });
            emulated_link_sentences(&link)
        };
        assert_eq!(late_by(2500.0).len(), 1);
        let sentences = late_by(2600.0);
        assert!(
            sentences[1].contains("more than 2.6 ms late") && sentences[1].contains("is 25.0 ms"),
            "{sentences:?}"
        );
    }

    #[test]
    fn lost_packets_of_the_machine_are_a_warning() {
        let sentences = emulated_link_sentences(&link());
        assert_eq!(sentences.len(), 2);
        assert!(sentences[1].contains("7 packets were lost before the up link"));
        assert!(sentences[0].contains("20 us (median)") && sentences[0].contains("normal priority"));
    }
}

mod agreements {
    use millpond_diagnosis::agreement::tabulate_agreement;
    use millpond_results::{Link, Packets, Run, Summary};
    use millpond_terminal::agreement;
    use millpond_theory::equilibrium::{EquilibriumSummary, LinkOperatingPoint};

    fn run(mean: f64) -> Run {
        let queue_packets = Packets { mean, ..Packets::default() };
        let link = Link { name: "L".into(), utilization: 0.9, queue_packets, ..Link::default() };
        Run { summary: Summary { links: vec![link], ..Summary::default() }, ..Run::default() }
    }

    #[test]
    fn the_difference_is_a_share_of_the_packet_runs_value() {
        let link = LinkOperatingPoint { utilization: 1.0, queue_packets: 9.5, marked_share: 0.0 };
        let equilibrium = EquilibriumSummary { links: vec![Some(link)], ..EquilibriumSummary::default() };
        let text = agreement(&tabulate_agreement(&run(8.0), &run(10.0), Ok(equilibrium))).to_string();
        let row = text.lines().find(|line| line.contains("queue packets")).unwrap();
        for cell in ["9.50", "10.0", "8.00", "+25.0 %"] {
            assert!(row.contains(cell), "{row}");
        }
        assert!(text.contains("0.0 %") && text.contains(" - "), "{text}");
    }

    #[test]
    fn the_reason_for_a_missing_equilibrium_is_printed() {
        let text = agreement(&tabulate_agreement(&run(8.0), &run(10.0), Err("it cycles".into()))).to_string();
        assert!(text.ends_with("no equilibrium: it cycles\n"), "{text}");
    }
}

mod live_agreements {
    use millpond_diagnosis::agreement::live::{InWorlds, LiveAgreement};
    use millpond_terminal::live_agreement;

    #[test]
    fn a_row_has_the_worlds_and_whether_they_agree() {
        let in_worlds = |packets, live| InWorlds { packets, fluid: None, live };
        let agreement = LiveAgreement {
            label: "cubic-live".into(),
            utilization: in_worlds(0.95, 0.94),
            queueing_ms: in_worlds(10.0, 15.0),
            share: ("f.1".into(), in_worlds(0.5, 0.52)),
            late_ms: Some(0.071),
            ..LiveAgreement::default()
        };
        let text = live_agreement(&[agreement]).to_string();
        for cell in ["cubic-live", "95.0 %", "94.0 %", "15.0", "f.1", "52.0 %", "0.0710", "not queueing"] {
            assert!(text.contains(cell), "{cell} is missing in {text}");
        }
        assert!(live_agreement(&[]).to_string().is_empty());
    }
}

mod protocol_pages {
    use millpond_protocols::Registry;
    use millpond_terminal::{parameter_default, protocol, protocols};

    #[test]
    fn every_registered_protocol_and_queue_is_listed_and_shown_with_all_its_parameters() {
        let registry = Registry::builtin();
        let list = protocols(&registry).to_string();
        let cards = registry.protocols().map(|p| (p.card().name, p.card().parameters));
        let queues = registry.queues().map(|q| (q.card().name, q.card().parameters));
        for (name, parameters) in cards.chain(queues) {
            assert!(list.contains(name), "{name}");
            let page = protocol(&registry, name).unwrap().to_string();
            for parameter in parameters.iter().map(|key| key.parameter()) {
                let line = format!("{} = {}", parameter.name, parameter_default(&parameter));
                assert!(page.contains(&line), "{name}: {page}");
            }
        }
        let vegas = protocol(&registry, "vegas").unwrap().to_string();
        assert!(vegas.contains("fluid model    without slow start"), "{vegas}");
        assert!(protocol(&registry, "no such thing").is_none());
    }
}

mod equilibria {
    use millpond_protocols::Registry;
    use millpond_scenario::{Disk, Scenario};
    use millpond_terminal::equilibrium;
    use millpond_theory::equilibrium::find_equilibrium;
    use std::path::Path;

    const FULL_BUFFER: &str = r#"
duration = "5s"
[[links]]
name = "L"
between = ["A", "B"]
rate = "100Mbps"
delay = "10ms"
buffer = "100packets"
[[flows]]
name = "f"
count = 4
protocol = "newreno"
path = ["A", "B"]
"#;

    /// The cells of the row that begins with `name`.
    fn row<'a>(table: &'a str, name: &str) -> Vec<&'a str> {
        let rows = table.lines().map(|line| line.trim_matches('│').split('┆').map(str::trim).collect());
        rows.into_iter().find(|cells: &Vec<_>| cells[0] == name).unwrap_or_else(|| panic!("{name}:\n{table}"))
    }

    /// A full buffer of 100 packets is 12 ms at 100 Mbit/s, on 20 ms of links. A window of w = 25 Mbit/s * 32 ms loses
    /// 2 / w^2 (Misra, Gong, Towsley 2000): .00045.
    #[test]
    fn an_equilibrium_without_a_closed_form_has_no_column_for_it_and_marks_its_bottleneck() {
        let scenario = Scenario::parse(FULL_BUFFER, "test.toml", Path::new(""), &[], &Disk).unwrap();
        let plan = millpond_plan::fluid::plan(&scenario, &Registry::builtin()).unwrap();
        let table = equilibrium(&find_equilibrium(&plan).unwrap()).to_string();
        assert!(table.starts_with("equilibrium of the equations (no closed form)\n"));
        assert_eq!(row(&table, "flow"), ["flow", "flows", "rate each, Mbit/s", "RTT, ms"]);
        assert_eq!(row(&table, "f"), ["f", "4", "25.0", "32.0"]);
        assert_eq!(row(&table, "link")[..2], ["link", "load"]);
        assert_eq!(row(&table, "L ->"), ["L ->", "100.0 %", "12.0", "0.00", "0.00045", "", "yes"]);
    }
}
