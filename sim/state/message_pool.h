// A pool of messages between their first and their last link. Numbers are reused.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/time.h"

namespace podsim::sim {

/// A transfer over several links, between its first and its last: one message for all sources that
/// are equally far.
struct Message {
    /// Earliest time at which its last byte can leave the next link.
    Time tail_arrival;
    std::uint32_t operation = 0;
    std::uint32_t transfer = 0;
    std::uint32_t hop = 0;  ///< the next hop
    /// Number of sources on their way to that link, or waiting there.
    std::uint32_t sources = 0;

    [[nodiscard]] bool is_equally_far(const Message& other) const {
        return tail_arrival == other.tail_arrival && operation == other.operation &&
               transfer == other.transfer && hop == other.hop;
    }
};

class Messages {
public:
    [[nodiscard]] const Message& operator[](std::uint32_t number) const { return all_[number]; }

    /// Returns the message's number, valid until its last source has left. It has no source yet.
    std::uint32_t add(const Message& message) {
        if (unused_.empty()) {
            all_.push_back(message);
            return static_cast<std::uint32_t>(all_.size() - 1);
        }
        const std::uint32_t number = unused_.back();
        unused_.pop_back();
        all_[number] = message;
        return number;
    }
    void join(std::uint32_t number) { ++all_[number].sources; }
    /// Called when a source's message crosses the link.
    void leave(std::uint32_t number) {
        if (--all_[number].sources == 0) {
            unused_.push_back(number);
        }
    }

    /// Calls use(Message&) for each that has sources.
    template <class Use>
    void for_each(const Use& use) {
        for (Message& message : all_) {
            if (message.sources > 0) {
                use(message);
            }
        }
    }

private:
    std::vector<Message> all_;
    std::vector<std::uint32_t> unused_;
};

}  // namespace podsim::sim
