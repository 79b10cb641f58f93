// How many messages bytes are cut into, and how many a schedule may have.
#pragma once

#include <cstdint>

#include "sim/base/error.h"
#include "sim/base/quantity.h"

namespace podsim::collectives {

/// Messages that a schedule may have at most.
inline constexpr double kMostMessages = 20e6;
class TooManyMessages : public sim::InputError {
public:
    TooManyMessages();
};

/// Messages that a block of a ring step is cut into: ceil(block / cap), made even beyond one so that half
/// of a block is a whole number of messages. Throws sim::InputError beyond 20 million.
std::uint32_t message_count(sim::Bytes block, sim::Bytes message_cap);

/// Messages that bytes on one route are cut into: ceil(bytes / cap), one at the least.
std::uint32_t messages_of(sim::Bytes bytes, sim::Bytes message_cap);

}  // namespace podsim::collectives
