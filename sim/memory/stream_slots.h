// The streams at the places' memories that are not followed: the last of a kind of each resource or link of a place,
// which come one after the other.
//
// What decides whether streams fit, 16 bytes each, lies apart from what they are. The same slot of neighbouring places lies
// side by side: places that do the same at once share lines of the cache.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/huge_pages.h"
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

    explicit StreamSlots(std::size_t places) : places_(places), counts_(places) {
        make_room(kFirstRoom);
    }

    /// How many slots the place has.
    [[nodiscard]] std::size_t count(std::uint32_t place) const { return counts_[place]; }
    [[nodiscard]] Load& load(std::uint32_t place, std::size_t slot) {
        return loads_[index_of(place, slot)];
    }
    [[nodiscard]] const Load& load(std::uint32_t place, std::size_t slot) const {
        return loads_[index_of(place, slot)];
    }
    [[nodiscard]] Stream& stream(std::uint32_t place, std::size_t slot) {
        return streams_[index_of(place, slot)];
    }
    [[nodiscard]] const Stream& stream(std::uint32_t place, std::size_t slot) const {
        return streams_[index_of(place, slot)];
    }

    /// The slot of that owner, among the place's. Mostly the one in which it was when last asked for: of a link without a
    /// look at what is in it, since its streams mostly are at one place.
    std::size_t slot_of(std::uint32_t place, SharedServer::Key owner) {
        const std::vector<Known>& known = known_[owner.kind];
        if (owner.number < known.size()) {
            const auto [at, slot] = known[owner.number];
            if (at == place || (slot < counts_[place] && stream(place, slot).owner == owner)) {
                return slot;
            }
        }
        return find_slot(place, owner);
    }

private:
    static constexpr std::size_t kKinds = 3;
    static constexpr std::size_t kFirstRoom = 16;  ///< six links there and back, and some work

    struct Known {
        std::uint32_t place = kNoPlace;
        std::uint32_t slot = 0;
    };

    [[nodiscard]] std::size_t index_of(std::size_t place, std::size_t slot) const {
        return slot * places_ + place;
    }
    [[gnu::noinline]] std::size_t find_slot(std::uint32_t place, SharedServer::Key owner);
    void make_room(std::size_t slots) {
        room_ = slots;
        loads_.resize(slots * places_);
        streams_.resize(slots * places_);
    }

    std::size_t places_;
    std::size_t room_ = 0;  ///< slots of each place
    std::vector<std::uint32_t> counts_;
    LargeArray<Load> loads_;                        ///< [slot][place]
    LargeArray<Stream> streams_;                    ///< [slot][place]
    std::array<std::vector<Known>, kKinds> known_;  ///< [kind][number]: the last found
};

}  // namespace podsim::sim
