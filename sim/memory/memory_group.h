// The memory of a place, or of several places that do the same at the same times.
//
// Streams of one kind on one resource or link come one after another. Unless the group tracks them
// one by one, the last of them occupies a slot.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/time.h"
#include "sim/memory/shared_server.h"
#include "sim/workload/task_graph.h"

namespace podsim::sim {

/// A message on a link: hop `hop` of the transfer from `source`.
struct HeldMessage {
    std::uint32_t operation = 0;
    std::uint32_t transfer = 0;
    std::uint32_t source = 0;
    std::uint16_t hop = 0;
    /// Number of equal messages at the same places, on links that are not simulated.
    std::uint16_t copies = 1;

    friend bool operator==(const HeldMessage&, const HeldMessage&) = default;
};

struct MessageId {
    std::uint32_t operation = 0;
    std::uint32_t transfer = 0;
    std::uint32_t source = 0;

    friend auto operator<=>(const MessageId&, const MessageId&) = default;
};

inline MessageId id_of(const HeldMessage& message) {
    return {message.operation, message.transfer, message.source};
}

/// The start of a stream, at any place's memory.
struct StreamBegun {
    SharedServer::Key owner;  ///< kind; resource, link or route
    std::uint32_t task = 0;   ///< of work
    HeldMessage message{};    ///< of a link
    std::int64_t demand = 0;  ///< of the message and its copies
    /// The same message's demand on the other memory, of its source or destination.
    std::int64_t beside = 0;
    Time end;

    friend bool operator==(const StreamBegun&, const StreamBegun&) = default;
};

class MemoryGroup {
public:
    static constexpr std::uint32_t kWork = 0;   ///< by resource, key: task
    static constexpr std::uint32_t kRead = 1;   ///< by link or route
    static constexpr std::uint32_t kWrite = 2;  ///< by link or route
    /// No stream: a task that should have ended.
    static constexpr std::uint32_t kOverdue = 3;
    static constexpr Time kNoWake{-1};

    struct Load {
        std::int64_t demand = 0;
        Time end;
    };
    struct Stream {
        SharedServer::Key owner;
        std::uint32_t task = 0;
        HeldMessage message{};

        /// Returns a key that is unique among the place's streams at one time.
        [[nodiscard]] SharedServer::Key key() const {
            return owner.kind == kWork ? SharedServer::Key{kWork, task} : owner;
        }
    };

    MemoryGroup(std::int64_t rate, bool may_exceed) : at_risk(may_exceed), server(rate) {}

    [[nodiscard]] bool any_followed() const { return wake != kNoWake; }
    /// Returns the owner's slot; adds one if it has none.
    [[gnu::noinline]] std::size_t find_slot(SharedServer::Key owner);
    /// Begins a stream, which replaces the previous one in its slot.
    void begin(std::size_t slot, const StreamBegun& begun) {
        streams[slot].task = begun.task;
        streams[slot].message = begun.message;
        load(slot, begun.demand, begun.end);
    }
    void load(std::size_t slot, std::int64_t demand, Time end) {
        bound += demand - loads[slot].demand;
        loads[slot] = {demand, end};
    }
    /// True if its streams ask for more than `rate`. Recomputes `bound`.
    [[nodiscard]] bool asks_too_much(Time now, std::int64_t rate);
    /// Follows all its streams from now on.
    void follow(Time now, const std::vector<OperationSpec>& operations);
    void skip(Time later_by, std::uint32_t tasks);

    /// Sum of all demands, including those of ended streams.
    std::int64_t bound = 0;
    /// Demand of followed streams, included in `bound`; exact until `wake`.
    std::int64_t followed = 0;
    Time wake = kNoWake;  ///< end of the first followed stream
    bool at_risk = false;
    bool unsettled = false;
    /// True if followed streams have ended since it was settled.
    bool ended = false;
    std::vector<std::uint32_t> places{};  ///< places with this memory
    std::vector<Load> loads{};            ///< [slot]
    std::vector<Stream> streams{};        ///< [slot]
    SharedServer server;
    std::vector<std::uint32_t> overdue{};   ///< tasks that should have ended
    std::vector<SharedServer::Key> held{};  ///< streams that hold up links
};

}  // namespace podsim::sim
