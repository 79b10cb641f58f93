// Messages between their first and their last link, in a pool whose numbers are used again.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/time.h"

namespace podsim::sim {

/// A transfer over several links, between its first and its last: one for all sources that are equally far.
struct Message {
    Time tail_arrival;  ///< when its last byte can leave the next link, at the earliest
    std::uint32_t operation = 0;
    std::uint32_t transfer = 0;
    std::uint32_t hop = 0;      ///< the next
    std::uint32_t sources = 0;  ///< of which it is under way to that link, or waits there

    [[nodiscard]] bool is_equally_far(const Message& other) const {
        return tail_arrival == other.tail_arrival && operation == other.operation &&
               transfer == other.transfer && hop == other.hop;
    }
};

class Messages {
public:
    [[nodiscard]] const Message& operator[](std::uint32_t number) const { return all_[number]; }

    /// Its number, until its last source has left. So far it has no source.
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
    /// A source's message crosses the link.
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
