// The number of messages that bytes are cut into, and the limit of a schedule.
#pragma once

#include <cstdint>

#include "sim/base/error.h"
#include "sim/base/quantity.h"

namespace podsim::collectives {

/// Limit of the messages of one schedule.
inline constexpr double kMostMessages = 20e6;
class TooManyMessages : public sim::InputError {
public:
    TooManyMessages();
};

/// Returns the number of messages that a block of a ring step is cut into: ceil(block / cap). It is
/// made even beyond one so that half of a block is a whole number of messages. Throws
/// sim::InputError beyond 20 million.
std::uint32_t message_count(sim::Bytes block, sim::Bytes message_cap);

/// Returns the number of messages that bytes on one route are cut into: ceil(bytes / cap), at least
/// one.
std::uint32_t messages_of(sim::Bytes bytes, sim::Bytes message_cap);

}  // namespace podsim::collectives
