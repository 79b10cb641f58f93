// The content of an event, in 64 bits: its kind in the lowest three, then fields as wide as the run
// needs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>

#include "sim/state/waiting.h"

namespace podsim::sim {

enum class EventKind : std::uint8_t {
    link_free,  ///< server
    /// Message and source, at a link between its first and its last.
    head_arrived,
    transfer_arrived,    ///< operation, source, transfer
    task_ended,          ///< task, place
    operation_launched,  ///< task, place
    memory_wake,         ///< place
    mark_reached,        ///< task, place: an early mark (task_graph.h)
};

/// True if events of this kind concern a place (with a task or 0 as their number), not hops.
constexpr bool of_place(EventKind kind) {
    return kind == EventKind::task_ended || kind == EventKind::operation_launched ||
           kind == EventKind::memory_wake || kind == EventKind::mark_reached;
}

class EventCodec {
public:
    struct Fields {
        std::uint32_t number = 0;  ///< operation or task
        std::uint32_t place = 0;
        std::uint32_t transfer = 0;
    };

    /// Every number must be below these counts. Throws std::logic_error if 61 bits cannot hold the
    /// fields, or if a Waiting cannot hold the places.
    EventCodec(std::uint64_t operations, std::uint64_t places, std::uint64_t transfers,
               std::uint64_t tasks)
        : place_shift_(kKindBits + width(transfers)),
          number_shift_(place_shift_ + width(places)),
          place_mask_(mask(width(places))),
          transfer_mask_(mask(width(transfers))) {
        if (number_shift_ + std::max(width(operations), width(tasks)) > 63 ||
            width(places) > Waiting::kSourceBits) {
            throw std::logic_error("too many places, operations and transfers for one run");
        }
    }

    static EventKind kind(std::uint64_t what) { return static_cast<EventKind>(what & 7U); }

    /// Encodes an event of a server, a wave, or a message without its source.
    static std::uint64_t of(EventKind kind, std::uint32_t number) {
        return std::uint64_t{number} << kKindBits | static_cast<std::uint64_t>(kind);
    }
    static std::uint32_t number(std::uint64_t what) {
        return static_cast<std::uint32_t>(what >> kKindBits);
    }

    /// Encodes the source of an arrived message, to be combined with the message's number.
    static std::uint64_t of_source(std::uint32_t source) {
        return std::uint64_t{source} << kSourceShift;
    }
    static std::uint32_t source(std::uint64_t what) {
        return static_cast<std::uint32_t>(what >> kSourceShift);
    }

    /// Encodes an arrival or a task.
    [[nodiscard]] std::uint64_t of(EventKind kind, const Fields& fields) const {
        return std::uint64_t{fields.number} << number_shift_ |
               std::uint64_t{fields.place} << place_shift_ |
               std::uint64_t{fields.transfer} << kKindBits | static_cast<std::uint64_t>(kind);
    }
    [[nodiscard]] Fields fields(std::uint64_t what) const {
        return {.number = static_cast<std::uint32_t>(what >> number_shift_),
                .place = static_cast<std::uint32_t>(what >> place_shift_) & place_mask_,
                .transfer = static_cast<std::uint32_t>(what >> kKindBits) & transfer_mask_};
    }

    /// Bit positions of a server's number, a message's source and an arrival's place.
    static constexpr unsigned number_shift() { return kKindBits; }
    static constexpr unsigned source_shift() { return kSourceShift; }
    [[nodiscard]] unsigned place_shift() const { return place_shift_; }

private:
    static constexpr unsigned kKindBits = 3;
    static constexpr unsigned kSourceShift = kKindBits + 32;

    static unsigned width(std::uint64_t count) {
        return count <= 1 ? 0 : static_cast<unsigned>(std::bit_width(count - 1));
    }
    static std::uint32_t mask(unsigned bits) {
        return static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
    }

    unsigned place_shift_;
    unsigned number_shift_;
    std::uint32_t place_mask_;
    std::uint32_t transfer_mask_;
};

}  // namespace podsim::sim
