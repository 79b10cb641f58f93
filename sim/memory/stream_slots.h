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
#include "sim/workload/machine.h"

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
        return {loads_.data() + place * room_, counts_[place]};
    }
    [[nodiscard]] std::span<const Load> loads(std::uint32_t place) const {
        return {loads_.data() + place * room_, counts_[place]};
    }
    [[nodiscard]] std::span<Stream> streams(std::uint32_t place) {
        return {streams_.data() + place * room_, counts_[place]};
    }
    [[nodiscard]] std::span<const Stream> streams(std::uint32_t place) const {
        return {streams_.data() + place * room_, counts_[place]};
    }

    /// The slot of that owner, among the place's. Mostly the one in which it was when last asked for: of a link without a
    /// look at what is in it, since its streams mostly are at one place.
    std::size_t slot_of(std::uint32_t place, SharedServer::Key owner) {
        const std::size_t index = index_of(owner);
        if (index < known_.size()) {
            const Known known = known_[index];
            if (known.place == place || (known.slot < counts_[place] &&
                                         streams_[place * room_ + known.slot].owner == owner)) {
                return known.slot;
            }
        }
        return find_slot(place, owner);
    }

private:
    static constexpr std::uint32_t kKinds = 3;
    static constexpr std::size_t kFirstRoom = 16;  ///< six links there and back, and some work

    struct Known {
        std::uint32_t place = kNoPlace;
        std::uint32_t slot = 0;
    };

    static std::size_t index_of(SharedServer::Key owner) {
        return owner.number * std::size_t{kKinds} + owner.kind;
    }
    std::size_t find_slot(std::uint32_t place, SharedServer::Key owner);
    void make_room(std::size_t slots);

    std::size_t room_ = 0;  ///< slots of each place
    std::vector<std::uint32_t> counts_;
    std::vector<Load> loads_;      ///< [place][slot]
    std::vector<Stream> streams_;  ///< [place][slot]
    std::vector<Known> known_;     ///< [index_of(owner)]: the last found
};

}  // namespace podsim::sim
