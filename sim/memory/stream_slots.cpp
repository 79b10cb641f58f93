#include "sim/memory/stream_slots.h"

#include <algorithm>

namespace podsim::sim {

std::size_t StreamSlots::find_slot(std::uint32_t place, SharedServer::Key owner) {
    const std::span<Stream> all = streams(place);
    const auto slot =
        static_cast<std::size_t>(std::ranges::find(all, owner, &Stream::owner) - all.begin());
    if (slot == all.size()) {
        if (slot == room_) {
            make_room(2 * room_);
        }
        ++counts_[place];
        streams_[place * room_ + slot].owner = owner;
    }
    const std::size_t known = index_of(owner);
    if (known >= known_.size()) {
        known_.resize(known + 1);
    }
    known_[known] = {place, static_cast<std::uint32_t>(slot)};
    return slot;
}

void StreamSlots::make_room(std::size_t slots) {
    std::vector<Load> loads(counts_.size() * slots);
    std::vector<Stream> streams(counts_.size() * slots);
    for (std::uint32_t place = 0; place < counts_.size(); ++place) {
        std::ranges::copy(this->loads(place),
                          loads.begin() + static_cast<std::ptrdiff_t>(place * slots));
        std::ranges::copy(this->streams(place),
                          streams.begin() + static_cast<std::ptrdiff_t>(place * slots));
    }
    room_ = slots;
    loads_ = std::move(loads);
    streams_ = std::move(streams);
}

}  // namespace podsim::sim
