#include "sim/memory/memory_group.h"

#include <utility>

namespace podsim::sim {

std::size_t MemoryGroup::find_slot(SharedServer::Key owner) {
    std::size_t slot = 0;
    while (slot < streams.size() && streams[slot].owner != owner) {
        ++slot;
    }
    if (slot == streams.size()) {
        streams.push_back({.owner = owner});
        loads.emplace_back();
    }
    return slot;
}

bool MemoryGroup::asks_too_much(Time now, std::int64_t rate) {
    if (wake <= now && any_followed()) {
        followed = server.demand(now);
    }
    bound = followed;
    for (Load& load : loads) {
        load.demand = load.end > now ? load.demand : 0;
        bound += load.demand;
    }
    return bound > rate;
}

void MemoryGroup::follow(Time now, const std::vector<OperationSpec>& operations) {
    for (std::size_t slot = 0; slot < loads.size(); ++slot) {
        if (loads[slot].demand > 0) {
            const Stream& stream = streams[slot];
            const bool work = stream.owner.kind == kWork;
            const std::uint32_t alike = work ? 1 : stream.message.copies;
            using Kind = SharedServer::Kind;
            const Kind kind = work ? Kind::work
                              : operations[stream.message.operation].priority_class == 0
                                  ? Kind::urgent
                                  : Kind::other;
            server.add(stream.key(), loads[slot].demand / alike, loads[slot].end - now, now, kind,
                       alike);
            bound -= std::exchange(loads[slot].demand, 0);
        }
    }
}

void MemoryGroup::skip(Time later_by, std::uint32_t tasks) {
    for (Load& load : loads) {
        load.end += later_by;
    }
    for (Stream& stream : streams) {
        stream.task += tasks;
    }
    server.skip(later_by,
                [&](SharedServer::Key& key) { key.number += key.kind == kWork ? tasks : 0; });
    wake += any_followed() ? later_by : Time{};
    for (std::uint32_t& task : overdue) {
        task += tasks;
    }
}

}  // namespace podsim::sim
