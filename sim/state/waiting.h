// A message that waits for a link.
#pragma once

#include <cstdint>
#include <type_traits>

namespace podsim::sim {

/// A waiting message in 16 bytes, since there are many. Lower `order` goes first. If it is equal,
/// the executor compares keys: rank within the schedule, hop, index of the source among the places
/// that share a server. It is passed by value: a copy in memory, written in fields and read as a
/// whole, would stall the processor at every hop.
struct Waiting {
    static constexpr unsigned kInstantBits = 40;
    static constexpr unsigned kSourceBits = 24;
    static constexpr std::uint32_t kLaterHop = 0x80000000;
    static constexpr std::uint32_t kMoreBehind = 0x40000000;

    /// The number of its priority (class, operation, phase), then that of the instant of its
    /// arrival.
    std::uint64_t order = 0;
    /// On the first hop: the transfer, with kMoreBehind if the next of the root's row follows when
    /// this one has gone (transfer_table.h). On later hops: kLaterHop and the message.
    std::uint32_t what = 0;
    std::uint32_t source = 0;

    [[nodiscard]] bool on_later_hop() const { return (what & kLaterHop) != 0; }
    [[nodiscard]] bool more_behind() const { return (what & kMoreBehind) != 0 && !on_later_hop(); }
    [[nodiscard]] std::uint32_t message() const { return what & ~kLaterHop; }
    [[nodiscard]] std::uint32_t transfer() const { return what & ~kMoreBehind; }

    [[nodiscard]] std::uint32_t priority() const {
        return static_cast<std::uint32_t>(order >> kInstantBits);
    }
    [[nodiscard]] std::uint64_t instant() const {
        return order & ((std::uint64_t{1} << kInstantBits) - 1);
    }
};
static_assert(sizeof(Waiting) == 16 && std::is_trivially_copyable_v<Waiting>);

}  // namespace podsim::sim
