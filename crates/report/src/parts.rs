//! Tables of the parts of each run: its groups with transfers or adaptive video, and its links.

use super::document::Section;
use super::run_view::RunView;
use super::table::estimate;
use maud::{Markup, html};
use millpond_results::{ComparisonRow, Estimate, Group, Link, Playback};
use millpond_units::format::{at_most_decimals, number};

/// A table of more links has the most utilized ones.
const MOST_LINKS: usize = 40;

/// Which columns the table of transfers has beside those that it always has.
#[derive(Clone, Copy)]
struct FurtherColumns {
    slowdown: bool,
    video: bool,
}

/// The groups with transfers or adaptive video.
pub(super) fn applications(views: &[RunView]) -> Option<Section> {
    let further = FurtherColumns {
        slowdown: views.iter().any(|view| view.row.slowdown.is_some()),
        video: views.iter().any(|view| !view.groups_with(|group| group.playback.is_some()).is_empty()),
    };
    let headings = ["Group", "Transfers", "Complete", "Mean time, ms", "p50", "p95", "p99"];
    let of_slowdown = ["Slowdown, p50", "p95", "p99"].iter().filter(|_| further.slowdown);
    let of_video = ["Bitrate, Mbit/s", "Begins after, s", "Stands still, s", "Changes of bitrate"];
    let of_video = of_video.iter().filter(|_| further.video);
    let headings: Vec<&str> = headings.iter().chain(of_slowdown).chain(of_video).copied().collect();
    let slowdown = if further.slowdown {
        " Slowdown: this time divided by the shortest one, which a transfer has alone in the network with all its packets sent \
         at once."
    } else {
        ""
    };
    let video = if further.video {
        " Video: means over its viewers; it stands still while it has no picture to show."
    } else {
        ""
    };
    section(
        "applications",
        "Transfers and applications",
        format!(
            "Times from the start of a transfer, page, segment or frame to the delivery of its last byte, without those that \
             are not complete when the run ends.{slowdown}{video}"
        ),
        &headings,
        views,
        |view| {
            let groups = view.groups_with(|group| group.transfers > 0 || group.playback.is_some());
            groups.into_iter().map(|group| (group.name.clone(), application(view, group, further))).collect()
        },
    )
}

fn application(view: &RunView, group: &Group, further: FurtherColumns) -> Vec<Markup> {
    let is_own = |row: &&ComparisonRow| row.group.as_ref() == Some(&group.name);
    let row = view.groups.iter().find(is_own).unwrap_or(&view.row);
    let counts = row.transfers.map(|counts| [counts.transfers, counts.completed]);
    let counts = [0, 1].map(|index| estimate(counts.map(|counts| counts[index]), count));
    let times = row.completion_ms.map(|times| [times.mean, times.p50, times.p95, times.p99]);
    let times = [0, 1, 2, 3].map(|index| estimate(times.map(|times| times[index]), number));
    let slowdown = row.slowdown.map(|slowdown| [slowdown.p50, slowdown.p95, slowdown.p99]);
    let slowdown = [0, 1, 2].map(|index| estimate(slowdown.map(|slowdown| slowdown[index]), number));
    let video = |value: fn(&Playback) -> f64| {
        Estimate::of(view.of_group(&group.name).filter_map(|group| group.playback.as_ref().map(value)))
    };
    let video = [
        estimate(video(|video| video.bitrate_bps.mean / 1e6), number),
        estimate(video(|video| video.startup_s.mean), number),
        estimate(video(|video| video.rebuffering_s.mean), number),
        estimate(video(|video| video.switches.mean), count),
    ];
    let slowdown = slowdown.into_iter().filter(|_| further.slowdown);
    counts
        .into_iter()
        .chain(times)
        .chain(slowdown)
        .chain(video.into_iter().filter(|_| further.video))
        .collect()
}

/// The directions of links with packets, from the most utilized one on if they are many.
pub(super) fn links(views: &[RunView]) -> Option<Section> {
    let most = views.iter().map(|view| busy_links(view).len()).max().unwrap_or_default();
    let left_out = if most > MOST_LINKS {
        format!(" The {MOST_LINKS} most utilized of {most} directions; summary.json has all of them.")
    } else {
        String::new()
    };
    section(
        "links",
        "Links",
        format!(
            "Dropped packets include random loss. A sender declares a packet lost when later ones are acknowledged, so that \
             the loss that it measures can be smaller.{left_out}"
        ),
        &[
            "Link",
            "Capacity, Mbit/s",
            "Utilization, %",
            "Queue, packets",
            "Arrived",
            "Dropped",
            "Dropped, %",
            "Marked",
        ],
        views,
        |view| {
            let links = busy_links(view).into_iter().take(MOST_LINKS);
            links.map(|link| (format!("{} {}", link.name, link.direction), link_row(view, link))).collect()
        },
    )
}

fn busy_links<'a>(view: &RunView<'a>) -> Vec<&'a Link> {
    let mut busy: Vec<&Link> = view.run.summary.links.iter().filter(|link| link.arrivals > 0).collect();
    if busy.len() > MOST_LINKS {
        busy.sort_by(|one, other| other.utilization.total_cmp(&one.utilization));
    }
    busy
}

fn link_row(view: &RunView, link: &Link) -> Vec<Markup> {
    let is_same = |other: &&Link| (&other.name, &other.direction) == (&link.name, &link.direction);
    let cell = |value: fn(&Link) -> f64, show: fn(f64) -> String| {
        let of_seeds = view.seeds.iter().filter_map(|run| run.summary.links.iter().find(is_same));
        estimate(Estimate::of(of_seeds.map(value)), show)
    };
    vec![
        cell(|link| link.capacity_bps / 1e6, number),
        cell(|link| 100.0 * link.utilization, number),
        cell(|link| link.queue_packets.mean, number),
        cell(|link| link.arrivals as f64, count),
        cell(|link| link.drops as f64, count),
        cell(|link| 100.0 * link.drops as f64 / link.arrivals as f64, number),
        cell(|link| link.marks as f64, count),
    ]
}

/// A whole number without decimals; a mean over seeds may have one.
fn count(value: f64) -> String {
    at_most_decimals(value, 1)
}

/// A table with these rows of each run under the name of the run; none without rows.
fn section<'a>(
    id: &str,
    title: &str,
    intro: String,
    headings: &[&str],
    views: &[RunView<'a>],
    rows: impl Fn(&RunView<'a>) -> Vec<(String, Vec<Markup>)>,
) -> Option<Section> {
    let of_runs: Vec<_> =
        views.iter().map(|view| (view, rows(view))).filter(|(_, rows)| !rows.is_empty()).collect();
    let body = html! {
        div.scrolls tabindex="0" role="region" aria-label=(title) {
            table.headline {
                thead { tr { @for heading in headings { th scope="col" { (heading) } } } }
                @for (view, rows) in &of_runs {
                    tbody {
                        @if views.len() > 1 {
                            tr { th scope="rowgroup" colspan=(headings.len()) { (view.style.badge()) (view.run.label) } }
                        }
                        @for (name, cells) in rows {
                            tr { th scope="row" { (name) } @for cell in cells { td { (cell) } } }
                        }
                    }
                }
            }
        }
    };
    (!of_runs.is_empty()).then(|| Section { id: id.to_owned(), title: title.to_owned(), intro, body })
}
