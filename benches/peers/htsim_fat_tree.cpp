// The data centre of `millpond-bench fat-tree` as a program of htsim: equal links, and DCTCP flows of given sizes over them.
//
// usage: millpond-bench describe fat-tree | htsim-fat-tree
//
// It prints packet-hops and what happened. A packet-hop is counted at the receiver: each data packet that arrives has crossed the
// links of its path, and so will its acknowledgement. Nothing is lost: the queues have room for all packets.

#include <algorithm>
#include <cmath>

#include "dctcp.h"
#include "network.h"
#include "parts.h"
#include "tcp.h"

namespace {

// A sender that stores when all data was acknowledged.
class TimedSender : public DCTCPSrc {
  public:
    // htsim sends packets as long as at most its size and a byte have been sent.
    TimedSender(EventList& events, uint64_t size, uint64_t packet)
        : DCTCPSrc(nullptr, nullptr, events), _size((size + packet - 1) / packet * packet) {
        _flow_size = _size - packet;
    }

    void receivePacket(Packet& acknowledgement) override {
        DCTCPSrc::receivePacket(acknowledgement);
        if (_completed == 0 && _last_acked >= _size) _completed = eventlist().now();
    }

    simtime_picosec completed() const { return _completed; }

  private:
    uint64_t _size;
    simtime_picosec _completed = 0;
};

struct Flow {
    uint64_t start, size, hops;
    Route there, back;
    std::unique_ptr<TimedSender> sender;
    TcpSink receiver;
};

// Appends the links with these numbers, separated by commas. Returns how many there are.
uint64_t append_path(const std::string& numbers, const std::vector<std::unique_ptr<Link>>& links, Route& route) {
    std::istringstream rest(numbers);
    uint64_t count = 0;
    for (std::string number; std::getline(rest, number, ','); count++) {
        const uint64_t link = integer("link", number);
        if (link >= links.size()) fail("link " + number + " is not there");
        links[link]->append_to(route);
    }
    return count;
}

std::unique_ptr<Flow> read_flow(const std::string& line, const Arguments& arguments, const std::vector<std::unique_ptr<Link>>& links, EventList& events) {
    std::unique_ptr<Flow> flow(new Flow);
    std::istringstream words(line);
    std::string there, back;
    if (!(words >> flow->start >> flow->size >> there >> back)) fail("expected a start, a size and two paths, found \"" + line + "\"");
    const uint64_t packet = arguments.number("packet");
    flow->sender.reset(new TimedSender(events, flow->size, packet));
    flow->hops = append_path(there, links, flow->there) + append_path(back, links, flow->back);
    flow->there.push_back(&flow->receiver);
    flow->back.push_back(flow->sender.get());
    flow->sender->set_cwnd(arguments.number("initial_window") * packet);
    return flow;
}

Arguments read_arguments() {
    std::string line;
    std::getline(std::cin, line);
    std::istringstream rest(line);
    std::vector<std::string> words;
    for (std::string word; rest >> word;) words.push_back(word);
    return Arguments(words);
}

void print(const std::vector<std::unique_ptr<Flow>>& flows, const std::vector<std::unique_ptr<Link>>& links, uint64_t packet) {
    uint64_t hops = 0, drops = 0;
    std::vector<double> times;
    for (const auto& flow : flows) {
        hops += flow->receiver._packets / packet * flow->hops;
        if (flow->sender->completed() > 0) times.push_back(double(flow->sender->completed() - flow->start) * 1e-9);
    }
    for (const auto& link : links) drops += uint64_t(link->queue->num_drops());
    if (times.empty()) fail("no flow is complete");
    std::sort(times.begin(), times.end());
    const auto quantile = [&](double share) { return times[size_t(double(times.size() - 1) * share)]; };
    std::cout << hops << " complete " << times.size() << " of " << flows.size() << ", completion time median " << quantile(0.5) << " p99 "
              << quantile(0.99) << " ms, drops " << drops << std::endl;
}

}  // namespace

int main() {
    const Arguments arguments = read_arguments();
    const uint64_t packet = arguments.number("packet"), rate = arguments.number("rate");
    Packet::set_packet_size(int(packet));
    EventList& events = EventList::getTheEventList();
    events.setEndtime(arguments.number("end"));
    std::vector<std::unique_ptr<Link>> links;
    for (uint64_t i = 0; i < arguments.number("links"); i++) {
        auto queue = limited_queue(rate, packet, arguments.number("buffer"), arguments.number("mark_above"), events);
        links.emplace_back(new Link(std::move(queue), arguments.number("delay"), events));
    }
    std::cout.setstate(std::ios::failbit);  // htsim prints lines of its own.
    TcpRtxTimerScanner timeouts(TIMEOUT_SCAN, events);
    std::vector<std::unique_ptr<Flow>> flows;
    for (std::string line; std::getline(std::cin, line);) {
        flows.push_back(read_flow(line, arguments, links, events));
        Flow& flow = *flows.back();
        flow.sender->connect(flow.there, flow.back, flow.receiver, flow.start);
        timeouts.registerTcp(*flow.sender);
    }
    while (events.doNextEvent()) {}
    std::cout.clear();
    print(flows, links, packet);
    return 0;
}
