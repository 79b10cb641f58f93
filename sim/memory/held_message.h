// What a memory knows of a message.
#pragma once

#include <compare>
#include <cstdint>

namespace podsim::sim {

/// A message on a link: hop `hop` of the transfer from `source`.
struct HeldMessage {
    std::uint32_t operation = 0;
    std::uint32_t transfer = 0;
    std::uint32_t source = 0;
    std::uint16_t hop = 0;
    std::uint16_t copies = 1;  ///< at the same places, on links that are not simulated

    friend bool operator==(const HeldMessage&, const HeldMessage&) = default;
};

struct MessageId {
    std::uint32_t operation = 0;
    std::uint32_t transfer = 0;
    std::uint32_t source = 0;

    friend auto operator<=>(const MessageId&, const MessageId&) = default;
};

inline MessageId id_of(const HeldMessage& message) {
    return {message.operation, message.transfer, message.source};
}

}  // namespace podsim::sim
