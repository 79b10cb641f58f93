#include "sim/memory/stream_slots.h"

namespace podsim::sim {

std::size_t StreamSlots::find_slot(std::uint32_t place, SharedServer::Key owner) {
    std::size_t slot = 0;
    while (slot < count(place) && stream(place, slot).owner != owner) {
        ++slot;
    }
    if (slot == count(place)) {
        if (slot == room_) {
            make_room(2 * room_);
        }
        ++counts_[place];
        stream(place, slot).owner = owner;
    }
    return slot;
}

}  // namespace podsim::sim
