// The memory of a place, or of several that do the same at the same times: one for all of them.
//
// Of streams that are not followed the last of a kind of each resource or link stands in a slot: they come one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/time.h"
#include "sim/memory/held_message.h"
#include "sim/memory/shared_server.h"
#include "sim/workload/task_graph.h"

namespace podsim::sim {

/// A stream's beginning, whichever place's memory it is.
struct StreamBegun {
    SharedServer::Key owner;  ///< kind; resource, link or way
    std::uint32_t task = 0;   ///< of work
    HeldMessage message{};    ///< of a link
    std::int64_t demand = 0;  ///< of the message and its copies
    std::int64_t beside =
        0;  ///< what the same message asks of the other memory, of its source or destination
    Time end;

    friend bool operator==(const StreamBegun&, const StreamBegun&) = default;
};

class MemoryGroup {
public:
    static constexpr std::uint32_t kWork = 0;     ///< by resource, key: task
    static constexpr std::uint32_t kRead = 1;     ///< by link or way
    static constexpr std::uint32_t kWrite = 2;    ///< by link or way
    static constexpr std::uint32_t kOverdue = 3;  ///< no stream: a task that should have ended
    static constexpr Time kNoWake{-1};

    struct Load {
        std::int64_t demand = 0;
        Time end;
    };
    struct Stream {
        SharedServer::Key owner;
        std::uint32_t task = 0;
        HeldMessage message{};

        /// Of its kind, among all of the place's at one time.
        [[nodiscard]] SharedServer::Key key() const {
            return owner.kind == kWork ? SharedServer::Key{kWork, task} : owner;
        }
    };

    MemoryGroup(std::int64_t rate, bool may_exceed) : at_risk(may_exceed), server(rate) {}

    [[nodiscard]] bool any_followed() const { return wake != kNoWake; }
    /// The owner's slot; a new one where it has none.
    [[gnu::noinline]] std::size_t find_slot(SharedServer::Key owner);
    /// A stream begins, and the one before in its slot is no more.
    void begin(std::size_t slot, const StreamBegun& begun) {
        streams[slot].task = begun.task;
        streams[slot].message = begun.message;
        load(slot, begun.demand, begun.end);
    }
    void load(std::size_t slot, std::int64_t demand, Time end) {
        bound += demand - loads[slot].demand;
        loads[slot] = {demand, end};
    }
    /// Whether its streams ask for more than there is.
    [[nodiscard]] bool asks_too_much(Time now, std::int64_t rate);
    /// All its streams are followed from now on.
    void follow(Time now, const std::vector<OperationSpec>& operations);
    void skip(Time later_by, std::uint32_t tasks);

    std::int64_t bound = 0;     ///< of all demands, those of ended streams included
    std::int64_t followed = 0;  ///< of it, those of streams that are followed: right until `wake`
    Time wake = kNoWake;        ///< when the first that is followed ends
    bool at_risk = false;
    bool unsettled = false;
    bool ended = false;                   ///< streams that were followed, since it was settled
    std::vector<std::uint32_t> places{};  ///< whose memory this is
    std::vector<Load> loads{};            ///< [slot]
    std::vector<Stream> streams{};        ///< [slot]
    SharedServer server;
    std::vector<std::uint32_t> overdue{};   ///< tasks that should have ended
    std::vector<SharedServer::Key> held{};  ///< streams that hold links up
};

}  // namespace podsim::sim
