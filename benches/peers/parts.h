// What the programs for htsim share: their words, and links.
#ifndef MILLPOND_HTSIM_PARTS_H
#define MILLPOND_HTSIM_PARTS_H

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "ecnqueue.h"
#include "eventlist.h"
#include "pipe.h"
#include "queue.h"
#include "route.h"

// The period in which htsim's own programs look for timeouts.
const simtime_picosec TIMEOUT_SCAN = timeFromMs(10);
// A queue without limit, in bytes.
const mem_b UNLIMITED = mem_b(1) << 50;

[[noreturn]] inline void fail(const std::string& message) {
    std::cerr << "error: " << message << std::endl;
    std::exit(2);
}

inline uint64_t integer(const std::string& key, const std::string& value) {
    char* end = nullptr;
    const uint64_t number = std::strtoull(value.c_str(), &end, 10);
    if (value.empty() || *end != '\0') fail(key + ": expected an integer, found \"" + value + "\"");
    return number;
}

class Arguments {
  public:
    explicit Arguments(const std::vector<std::string>& words) {
        for (const std::string& word : words) {
            const size_t equals = word.find('=');
            if (equals == std::string::npos) fail("expected KEY=VALUE, found \"" + word + "\"");
            _values[word.substr(0, equals)] = word.substr(equals + 1);
        }
    }

    const std::string& text(const std::string& key) const {
        const auto found = _values.find(key);
        if (found == _values.end()) fail("key \"" + key + "\" is missing");
        return found->second;
    }

    uint64_t number(const std::string& key) const { return integer(key, text(key)); }

    // The numbers of a value such as 10/2000/1.
    std::vector<uint64_t> numbers(const std::string& key, size_t count) const {
        std::vector<uint64_t> found;
        std::istringstream rest(text(key));
        for (std::string part; std::getline(rest, part, '/');) found.push_back(integer(key, part));
        if (found.size() != count) fail(key + ": expected " + std::to_string(count) + " integers, found \"" + text(key) + "\"");
        return found;
    }

  private:
    std::map<std::string, std::string> _values;
};

// A queue and the propagation delay behind it.
struct Link {
    std::unique_ptr<Queue> queue;
    std::unique_ptr<Pipe> pipe;

    Link(std::unique_ptr<Queue> first, simtime_picosec delay, EventList& events)
        : queue(std::move(first)), pipe(new Pipe(delay, events)) {}

    void append_to(Route& route) const {
        route.push_back(queue.get());
        route.push_back(pipe.get());
    }
};

inline std::unique_ptr<Queue> unlimited_queue(uint64_t rate, EventList& events) {
    return std::unique_ptr<Queue>(new Queue(rate, UNLIMITED, events, nullptr));
}

// A queue with a limit in packets, which marks above a threshold in packets; zero: drop-tail.
inline std::unique_ptr<Queue> limited_queue(uint64_t rate, uint64_t packet, uint64_t limit, uint64_t threshold, EventList& events) {
    const mem_b buffer = mem_b(limit * packet);
    if (threshold == 0) return std::unique_ptr<Queue>(new Queue(rate, buffer, events, nullptr));
    return std::unique_ptr<Queue>(new ECNQueue(rate, buffer, events, nullptr, mem_b(threshold * packet)));
}

#endif
