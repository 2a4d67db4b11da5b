//! Pages about finished runs: texts and tables.

use millpond_report::runs;
use millpond_results::{Group, Link, Playback, Run, Silence, Spread, Summary, findings};

#[test]
fn the_page_of_one_run_has_the_sentences_of_the_terminal_and_its_links() {
    let link =
        Link { name: "L".into(), direction: "A -> B".into(), arrivals: 34, drops: 34, ..Link::default() };
    let silence = |from_s: f64| Silence { flow: "f".into(), from_s, silent_s: 1.0, ..Silence::default() };
    let silences = (0..5).map(|index| silence(f64::from(index))).collect();
    let summary = Summary { links: vec![link], silences, ..Summary::default() };
    let html = runs(&[Run { summary: summary.clone(), ..Run::default() }], "Total loss");
    for sentence in findings(&summary) {
        assert!(html.contains(&sentence.replace('"', "&quot;")), "{sentence}");
    }
    assert!(html.contains("no packet was delivered"), "{html}");
    assert!(
        html.contains("<th scope=\"row\">L A -&gt; B</th>") && html.contains("<td>34</td><td>100</td>"),
        "{html}"
    );
}

/// Two viewers see 2.35 Mbit/s; the other group has no application.
#[test]
fn the_page_of_a_run_has_a_row_for_each_group_with_transfers_or_video() {
    let spread = |mean| Spread { mean, min: mean, max: mean };
    let playback = Playback {
        bitrate_bps: spread(2.35e6),
        rebuffering_s: spread(3.2),
        switches: spread(7.0),
        startup_s: spread(0.6),
    };
    let group = |name: &str| Group { name: name.into(), flows: 1, ..Group::default() };
    let groups = vec![
        Group { transfers: 3, completed: 2, playback: Some(playback), ..group("tv") },
        Group { transfers: 6, completed: 6, ..group("browser") },
        group("bulk"),
    ];
    let html = runs(&[Run { summary: Summary { groups, ..Summary::default() }, ..Run::default() }], "Home");
    let (_, section) = html.split_once("<section id=\"applications\">").unwrap_or_default();
    let (section, _) = section.split_once("</section>").unwrap_or_default();
    let row =
        |name: &str| section.split("<tr>").find(|row| row.contains(name)).unwrap_or_default().to_owned();
    for cell in ["<td>3</td><td>2</td>", "<td>2.35</td><td>0.600</td><td>3.20</td><td>7</td>"] {
        assert!(row("tv").contains(cell), "{section}");
    }
    assert!(row("browser").contains("<td>6</td><td>6</td>"), "{section}");
    assert!(!section.contains("bulk"), "{section}");
}
