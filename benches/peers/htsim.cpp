// A case of `make bench` as a program of htsim: flows with access links of their own over one trunk, and as many links back.
//
// usage: htsim KEY=VALUE...   with the words that `millpond-bench describe NAME` prints, of which the last one of a key counts
//
// It prints a line as `millpond-bench run` does: packet-hops, and what happened at the trunk after the warm-up. A packet-hop is counted
// at the receiver: each data packet that arrives has crossed three links, and so will its acknowledgement; a lost packet has crossed one.
// Packets that are in the network at the end are not counted. The slow-start threshold is htsim's own, 100 packets: its NewReno without
// selective acknowledgements retransmits one packet per round trip, so that the losses of an unlimited slow start last for many seconds.

#include <cmath>

#include "dctcp.h"
#include "network.h"
#include "parts.h"
#include "tcp.h"

namespace {

// How often the length of the queue is read.
const simtime_picosec SAMPLE_PERIOD = timeFromMs(10);
const uint64_t LINKS_EACH_WAY = 3;

// A sender, its receiver, the routes between them, and the access links: two on the way there and two on the way back.
struct Flow {
    std::vector<Link> access;
    Route there, back;
    std::unique_ptr<TcpSrc> sender;
    TcpSink receiver;

    uint64_t received_packets(uint64_t packet) const { return receiver._packets / packet; }
};

// Reads the length of a queue periodically, and counts what has arrived from the end of the warm-up on.
class Observer : public EventSource {
  public:
    Observer(EventList& events, const Queue& queue, const std::vector<std::unique_ptr<Flow>>& flows, simtime_picosec warm_up)
        : EventSource(events, "observer"), _queue(queue), _flows(flows) {
        events.sourceIsPending(*this, warm_up);
    }

    void doNextEvent() override {
        if (_samples == 0) {
            for (const auto& flow : _flows) _received_before.push_back(flow->receiver._packets);
            _drops_before = _queue.num_drops();
        }
        const mem_b length = _queue.queuesize();
        _sum += double(length);
        _maximum = std::max(_maximum, length);
        _samples++;
        eventlist().sourceIsPendingRel(*this, SAMPLE_PERIOD);
    }

    // Mean and maximum of the queue are those of the samples.
    void print(uint64_t packet, double capacity_bytes) const {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < _received_before.size(); i++) {
            const double received = double(_flows[i]->receiver._packets - _received_before[i]);
            sum += received;
            squares += received * received;
        }
        std::cout << "utilization " << sum / capacity_bytes << ", queue mean " << std::llround(_sum / _samples / packet) << " max "
                  << _maximum / mem_b(packet) << " packets, drops " << _queue.num_drops() - _drops_before << "; Jain "
                  << sum * sum / (_received_before.size() * squares) << std::endl;
    }

  private:
    const Queue& _queue;
    const std::vector<std::unique_ptr<Flow>>& _flows;
    std::vector<uint64_t> _received_before;
    int _drops_before = 0;
    double _sum = 0;
    mem_b _maximum = 0;
    uint64_t _samples = 0;
};

std::unique_ptr<TcpSrc> new_sender(const std::string& protocol, EventList& events) {
    if (protocol == "newreno") return std::unique_ptr<TcpSrc>(new TcpSrc(nullptr, nullptr, events));
    if (protocol == "dctcp") return std::unique_ptr<TcpSrc>(new DCTCPSrc(nullptr, nullptr, events));
    fail("protocol: expected newreno or dctcp, found \"" + protocol + "\"");
}

std::unique_ptr<Flow> new_flow(const Arguments& arguments, uint64_t delay, EventList& events, const Link& trunk, const Link& trunk_back) {
    const uint64_t rate = arguments.number("access_rate");
    std::unique_ptr<Flow> flow(new Flow);
    for (int i = 0; i < 4; i++) flow->access.emplace_back(unlimited_queue(rate, events), delay, events);
    flow->sender = new_sender(arguments.text("protocol"), events);
    flow->access[0].append_to(flow->there);
    trunk.append_to(flow->there);
    flow->access[1].append_to(flow->there);
    flow->there.push_back(&flow->receiver);
    flow->access[2].append_to(flow->back);
    trunk_back.append_to(flow->back);
    flow->access[3].append_to(flow->back);
    flow->back.push_back(flow->sender.get());
    flow->sender->set_cwnd(arguments.number("initial_window") * arguments.number("packet"));
    return flow;
}

}  // namespace

int main(int count, char** words) {
    const Arguments arguments(std::vector<std::string>(words + 1, words + count));
    // One trunk, and flows of one kind.
    const std::vector<uint64_t> trunk_words = arguments.numbers("trunks", 3), users = arguments.numbers("users", 3);
    const uint64_t packet = arguments.number("packet"), flow_count = users[0], access_delay = users[1];
    const simtime_picosec second = timeFromSec(1);
    const uint64_t warm_up = arguments.number("warm_up"), seconds = arguments.number("seconds");
    if (flow_count == 0 || packet == 0 || seconds <= warm_up) fail("expected flows, packet and seconds after the warm-up above zero");
    Packet::set_packet_size(int(packet));
    EventList& events = EventList::getTheEventList();
    events.setEndtime(seconds * second);
    const uint64_t rate = trunk_words[0], delay = trunk_words[1];
    const uint64_t mark_above = arguments.number("mark_above");
    const Link trunk(limited_queue(rate, packet, trunk_words[2], mark_above, events), delay, events);
    const Link trunk_back(unlimited_queue(rate, events), delay, events);
    TcpRtxTimerScanner timeouts(TIMEOUT_SCAN, events);
    std::vector<std::unique_ptr<Flow>> flows;
    for (uint64_t i = 0; i < flow_count; i++) {
        flows.push_back(new_flow(arguments, access_delay, events, trunk, trunk_back));
        Flow& flow = *flows.back();
        flow.sender->connect(flow.there, flow.back, flow.receiver, second / flow_count * i);
        timeouts.registerTcp(*flow.sender);
    }
    const Observer observer(events, *trunk.queue, flows, warm_up * second);
    std::cout.setstate(std::ios::failbit);  // htsim prints a line for each timeout.
    while (events.doNextEvent()) {}
    std::cout.clear();
    uint64_t received = 0;
    for (const auto& flow : flows) received += flow->received_packets(packet);
    std::cout << received * 2 * LINKS_EACH_WAY + uint64_t(trunk.queue->num_drops()) << " ";
    observer.print(packet, double(rate) / 8 * double(seconds - warm_up));
    return 0;
}
