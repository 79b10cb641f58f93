#include "collectives/algorithms/messages.h"

#include <algorithm>
#include <cmath>

namespace podsim::collectives {

TooManyMessages::TooManyMessages()
    : sim::InputError("the array would be cut into more than 20 million messages",
                      "use a smaller array or a larger message cap") {}

std::uint32_t message_count(sim::Bytes block, sim::Bytes message_cap) {
    const double count = std::ceil(block / message_cap);
    if (!(count < kMostMessages)) {
        throw TooManyMessages();
    }
    const auto messages = static_cast<std::uint32_t>(count);
    return messages <= 1 ? 1 : messages + messages % 2;
}

std::uint32_t messages_of(sim::Bytes bytes, sim::Bytes message_cap) {
    return static_cast<std::uint32_t>(std::max(1.0, std::ceil(bytes / message_cap)));
}

}  // namespace podsim::collectives
