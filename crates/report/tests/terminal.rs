//! Tables for the terminal, from results.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers fail as tests do")]

mod comparisons {
    use millpond_report::terminal::comparison;
    use millpond_results::{Comparison, ComparisonRow, DelayEstimates, Estimate, TraceKey, TransferCounts};

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
    fn the_index_of_one_flow_is_a_dash() {
        let one = ComparisonRow { jain: None, ..row("lgcc", None, 1.0, None) };
        let text = comparison(&Comparison { rows: vec![one], ..Comparison::default() }).to_string();
        let line = text.lines().find(|line| line.contains("lgcc")).unwrap();
        assert!(line.contains(" - ") && !line.contains("1.000"), "{text}");
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
    use millpond_report::terminal::summary;
    use millpond_results::{Group, Link, Summary};

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
    use millpond_report::terminal::sweep;
    use millpond_sweep::{Mean, MeanRow};
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
