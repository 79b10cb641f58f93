// Messages between their first and their last link, in a pool whose numbers are used again.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/time.h"

namespace podsim::sim {

/// A transfer over several links, between its first and its last.
struct Message {
    Time tail_arrival;  ///< when its last byte can leave the next link, at the earliest
    std::uint32_t operation = 0;
    std::uint32_t transfer = 0;
    std::uint32_t source = 0;
    std::uint32_t hop = 0;  ///< the next
};

class Messages {
public:
    [[nodiscard]] Message& operator[](std::uint32_t number) { return all_[number]; }
    [[nodiscard]] const Message& operator[](std::uint32_t number) const { return all_[number]; }

    /// Its number, until it is released.
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
    void release(std::uint32_t number) { unused_.push_back(number); }

    /// Calls use(Message&) for each that has been added and not released.
    template <class Use>
    void for_each(const Use& use) {
        std::vector<bool> is_unused(all_.size());
        for (const std::uint32_t number : unused_) {
            is_unused[number] = true;
        }
        for (std::size_t number = 0; number < all_.size(); ++number) {
            if (!is_unused[number]) {
                use(all_[number]);
            }
        }
    }

private:
    std::vector<Message> all_;
    std::vector<std::uint32_t> unused_;
};

}  // namespace podsim::sim
