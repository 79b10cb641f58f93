// The streams at the places' memories that are not followed: the last of a kind of each resource or link of a place,
// which come one after the other.
//
// What decides whether streams fit, 16 bytes each, lies side by side for each place; what they are lies apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/time.h"
#include "sim/memory/held_message.h"
#include "sim/memory/shared_server.h"

namespace podsim::sim {

class StreamSlots {
public:
    struct Load {
        std::int64_t demand = 0;
        Time end;
    };
    struct Stream {
        SharedServer::Key owner;   ///< kind, and resource or link
        std::uint32_t number = 0;  ///< task or server
        HeldMessage message{};

        [[nodiscard]] SharedServer::Key key() const { return {owner.kind, number}; }
    };

    explicit StreamSlots(std::size_t places) : counts_(places) { make_room(kFirstRoom); }

    /// Of the place's slots.
    [[nodiscard]] std::span<Load> loads(std::uint32_t place) {
        return {&loads_[place * room_], counts_[place]};
    }
    [[nodiscard]] std::span<const Load> loads(std::uint32_t place) const {
        return {&loads_[place * room_], counts_[place]};
    }
    [[nodiscard]] std::span<Stream> streams(std::uint32_t place) {
        return {&streams_[place * room_], counts_[place]};
    }
    [[nodiscard]] std::span<const Stream> streams(std::uint32_t place) const {
        return {&streams_[place * room_], counts_[place]};
    }

    /// The slot of that owner, among the place's. Mostly the one in which it was when last asked for.
    std::size_t slot_of(std::uint32_t place, SharedServer::Key owner) {
        const std::size_t known = owner.number * std::size_t{kKinds} + owner.kind;
        if (known < known_.size() && known_[known] < counts_[place] &&
            streams_[place * room_ + known_[known]].owner == owner) {
            return known_[known];
        }
        return find_slot(place, owner);
    }

    /// Asks for the memory that a stream of the place will touch.
    void prefetch(std::uint32_t place) const {
        __builtin_prefetch(&loads_[place * room_], 1);
        __builtin_prefetch(&loads_[place * room_ + room_ / 2], 1);
    }

private:
    static constexpr std::uint32_t kKinds = 3;
    static constexpr std::size_t kFirstRoom = 16;  ///< six links there and back, and some work

    std::size_t find_slot(std::uint32_t place, SharedServer::Key owner);
    void make_room(std::size_t slots);

    std::size_t room_ = 0;  ///< slots of each place
    std::vector<std::uint32_t> counts_;
    std::vector<Load> loads_;           ///< [place][slot]
    std::vector<Stream> streams_;       ///< [place][slot]
    std::vector<std::uint32_t> known_;  ///< [kKinds x link or resource + kind]: the last found
};

}  // namespace podsim::sim
