// The streams at the places' memories that are not followed: the last of a kind of each resource or link of a place,
// which come one after the other.
//
// What decides whether streams fit, 16 bytes each, lies apart from what they are. The same slot of neighbouring places lies
// side by side: places that do the same at once share lines of the cache.
#pragma once

#include <algorithm>
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
        SharedServer::Key owner;  ///< kind, and resource or link
        std::uint32_t task = 0;   ///< of work

        /// Of its kind, among all of the place's at one time.
        [[nodiscard]] SharedServer::Key key() const {
            return owner.kind == kWork ? SharedServer::Key{kWork, task} : owner;
        }
    };
    static constexpr std::uint32_t kWork = 0;   ///< by resource, key: task
    static constexpr std::uint32_t kRead = 1;   ///< by link
    static constexpr std::uint32_t kWrite = 2;  ///< by link

    /// Where the last of a kind was: its place, and where its load lies.
    struct Known {
        std::uint32_t place = kNoPlace;
        std::uint32_t index = 0;
    };
    /// The message that crosses a link, or was the last to do so, and where the last was that was read and written.
    struct OfLink {
        HeldMessage message{};
        Known read{};
        Known written{};
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

    [[nodiscard]] OfLink& of_link(std::size_t link) {
        if (link >= of_links_.size()) {
            of_links_.resize(link + 1);
        }
        return of_links_[link];
    }
    [[nodiscard]] const HeldMessage& message_on(std::size_t link) const {
        return of_links_[link].message;
    }
    /// Of all links that have had one.
    template <class Use>
    void for_each_message(const Use& use) {
        std::ranges::for_each(of_links_, use, &OfLink::message);
    }

    /// What the owner's stream asks for: mostly where that of its last stream lies, which mostly was at the same place.
    Load& load_of(std::uint32_t place, SharedServer::Key owner, Known& known) {
        if (known.place != place) {
            const std::size_t slot = find_slot(place, owner);
            known = {place, static_cast<std::uint32_t>(index_of(place, slot))};
        }
        return loads_[known.index];
    }
    /// The owner's slot, among the place's; a new one where it has none.
    [[gnu::noinline]] std::size_t find_slot(std::uint32_t place, SharedServer::Key owner);

private:
    static constexpr std::size_t kFirstRoom = 16;  ///< six links there and back, and some work

    [[nodiscard]] std::size_t index_of(std::size_t place, std::size_t slot) const {
        return slot * places_ + place;
    }
    void make_room(std::size_t slots) {
        room_ = slots;
        loads_.resize(slots * places_);
        streams_.resize(slots * places_);
    }

    std::size_t places_;
    std::size_t room_ = 0;  ///< slots of each place
    std::vector<std::uint32_t> counts_;
    LargeArray<Load> loads_;        ///< [slot][place]
    LargeArray<Stream> streams_;    ///< [slot][place]
    std::vector<OfLink> of_links_;  ///< [server]
};

}  // namespace podsim::sim
