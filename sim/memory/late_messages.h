// Messages that may arrive later than their links alone would have them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/base/time.h"
#include "sim/memory/few.h"
#include "sim/memory/held_message.h"

namespace podsim::sim {

struct LateMessage {
    MessageId id;
    Few<std::uint32_t, 2> links;  ///< servers that are followed and not free: its first, its last
    Time by;                      ///< of those that are free
    std::optional<Time> arrival;  ///< when it would have arrived, once that has passed
    bool arrived = false;
};

/// By source: of one source few are late at a time.
class LateMessages {
public:
    explicit LateMessages(std::size_t places) : of_source_(places) {}

    [[nodiscard]] bool empty() const { return count_ == 0; }
    /// nullptr: it is not among them. Until the next is added or erased.
    [[nodiscard]] LateMessage* find(const MessageId& id) {
        std::vector<LateMessage>& all = of_source_[id.source];
        const auto found = std::ranges::find(all, id, &LateMessage::id);
        return found == all.end() ? nullptr : &*found;
    }
    LateMessage& find_or_add(const MessageId& id) {
        if (LateMessage* const found = find(id)) {
            return *found;
        }
        ++count_;
        LateMessage& added = of_source_[id.source].emplace_back();
        added.id = id;
        return added;
    }
    void erase(LateMessage* message) {
        std::vector<LateMessage>& all = of_source_[message->id.source];
        *message = all.back();
        all.pop_back();
        --count_;
    }
    /// Calls use(LateMessage&) for each; it may renumber its operation.
    template <class Use>
    void for_each(const Use& use) {
        for (std::vector<LateMessage>& all : of_source_) {
            std::ranges::for_each(all, use);
        }
    }
    /// By their ids.
    [[nodiscard]] std::vector<LateMessage> sorted() const {
        std::vector<LateMessage> sorted;
        sorted.reserve(count_);
        for (const std::vector<LateMessage>& all : of_source_) {
            sorted.insert(sorted.end(), all.begin(), all.end());
        }
        std::ranges::sort(sorted, {}, &LateMessage::id);
        return sorted;
    }

private:
    std::vector<std::vector<LateMessage>> of_source_;
    std::size_t count_ = 0;
};

}  // namespace podsim::sim
