//! The warning about a loop whose sender cannot send as slowly as its share of a link.

use crate::delays::base_rtts;
use crate::flow_instances::FlowInstance;
use crate::protocols::{ConfiguredProtocol, labelled, labels_of_loops};
use crate::traffic::hop_name;
use millpond_endpoint::RelayBuffer;
use millpond_scenario::{Hop, RateDistribution, Scenario};
use millpond_units::format::{megabits, number, percent};
use millpond_units::{Bytes, Rate, Span};
use std::collections::BTreeMap;

/// A shorter share of the time has no warning: it does not change the 95th percentile of the delay.
const LEAST_SHARE_OF_TIME: f64 = 0.05;

/// A link with flows of the protocol.
struct SharedLink {
    rates: RateDistribution,
    /// Flows of the protocol that cross it.
    flows: u64,
}

type SharedLinks = BTreeMap<(usize, bool), SharedLink>;

/// A loop whose sender has a minimum rate, and a link from there to the end of the flow.
struct LoopAndLink<'a> {
    flow: &'a str,
    /// From 1.
    loop_number: usize,
    loops: usize,
    base_rtt: Span,
    least_rate: Rate,
    packet: Bytes,
    link: String,
    /// True if a relay is between the loop and the link.
    relayed: bool,
    /// Mean rate of the link, per flow of the protocol.
    mean_share: Rate,
    /// Share of the time in which the link is up, and its rate per flow is below the minimum rate.
    share_of_time: f64,
}

impl LoopAndLink<'_> {
    /// True if the link is longer, or by more, too slow for its loop than that of `other` is.
    fn is_worse_than(&self, other: &Self) -> bool {
        let longer = self.share_of_time.total_cmp(&other.share_of_time);
        longer.then(other.mean_share.cmp(&self.mean_share)).is_gt()
    }

    fn warning(&self) -> String {
        let per_packet = self.mean_share.time_for(self.packet).millis();
        let loop_name = match self.loops {
            1 => String::new(),
            loops => format!("of loop {} of {loops} ", self.loop_number),
        };
        let consequence = if self.relayed {
            let packets = RelayBuffer::LEAST_PACKETS;
            let delay = number(per_packet * packets as f64);
            format!(
                "The relay before that link stays full. Use fewer flows, smaller packets or fewer relays; \
                 relay_buffer = \"{packets}packets\" bounds the delay in the relay to {delay} ms"
            )
        } else {
            "The queue of that link stays full. Use fewer flows, smaller packets or a longer base RTT"
                .to_owned()
        };
        format!(
            "flow \"{}\": the minimum rate {loop_name}is {} Mbit/s (one initial window per base RTT of {} ms), above the flow's \
             equal share of link \"{}\" for {} of the time (mean share {} Mbit/s, {} ms per packet). {consequence}",
            self.flow,
            megabits(self.least_rate.as_f64()),
            number(self.base_rtt.millis()),
            self.link,
            percent(self.share_of_time),
            megabits(self.mean_share.as_f64()),
            number(per_packet),
        )
    }
}

/// A warning about the loop whose sender is for the longest time faster than the flow's equal share of a link from there to
/// the end of the flow; of equal ones, about the smallest mean share. The transfers of a source count as one flow.
pub(crate) fn least_rate_warning(
    scenario: &Scenario,
    protocols: &[ConfiguredProtocol<'_>],
    configured: &ConfiguredProtocol<'_>,
    instances: &[FlowInstance<'_>],
) -> Option<String> {
    let label = &configured.label.value;
    let flows: Vec<_> = instances.iter().filter(|one| one.group.protocol.value == *label).collect();
    let links = shared_links(scenario, &flows);
    let pairs = flows.iter().flat_map(|flow| loops_and_links(scenario, protocols, configured, flow, &links));
    let too_fast = pairs.filter(|pair| pair.share_of_time > LEAST_SHARE_OF_TIME);
    let worst = too_fast.reduce(|worst, other| if other.is_worse_than(&worst) { other } else { worst });
    worst.map(|worst| worst.warning())
}

fn shared_links(scenario: &Scenario, flows: &[&FlowInstance<'_>]) -> SharedLinks {
    let mut links = SharedLinks::new();
    for hop in flows.iter().flat_map(|flow| flow.forward_path) {
        let link = links.entry((hop.link, hop.forward)).or_insert_with(|| {
            let schedule = scenario.links[hop.link].direction(hop.forward).rate.schedule();
            SharedLink { rates: schedule.distribution(scenario.duration), flows: 0 }
        });
        link.flows += 1;
    }
    links
}

/// One entry for each loop of the flow and each link from there to the end of the flow.
fn loops_and_links<'a>(
    scenario: &Scenario,
    protocols: &[ConfiguredProtocol<'_>],
    configured: &ConfiguredProtocol<'_>,
    flow: &'a FlowInstance<'_>,
    links: &SharedLinks,
) -> Vec<LoopAndLink<'a>> {
    let packet = flow.group.packet;
    let shared = |hop: &Hop| links.get(&(hop.link, hop.forward));
    let loops = scenario.loops(flow.forward_path, configured.entry);
    let labels = labels_of_loops(scenario, flow, &loops);
    let base_rtts = base_rtts(scenario, flow, &loops);
    let (mut ahead, mut found) = (flow.forward_path, Vec::new());
    for (index, ((path, label), delay)) in loops.iter().zip(labels).zip(base_rtts).enumerate() {
        let service: Span =
            path.iter().filter_map(shared).map(|link| link.rates.mean().time_for(packet)).sum();
        let base_rtt = delay + service;
        let least_rate = labelled(protocols, label)
            .and_then(|in_loop| in_loop.protocol.least_rate(&in_loop.settings, packet, base_rtt));
        for (place, hop) in ahead.iter().enumerate() {
            let (Some(least_rate), Some(link)) = (least_rate, shared(hop)) else { continue };
            found.push(LoopAndLink {
                flow: &flow.name,
                loop_number: index + 1,
                loops: loops.len(),
                base_rtt,
                least_rate,
                packet,
                link: hop_name(scenario, *hop),
                relayed: place >= path.len(),
                mean_share: link.rates.mean() / link.flows,
                // In an outage no rate is slow enough.
                share_of_time: link.rates.share_below(least_rate * link.flows)
                    - link.rates.share_below(Rate::from_bps(1)),
            });
        }
        ahead = ahead.get(path.len()..).unwrap_or_default();
    }
    found
}
