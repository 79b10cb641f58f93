// The whole state of a component at one instant, relative to the instant and to a mark of its task
// graph, and the comparison of two states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/time.h"
#include "sim/workload/result.h"

namespace podsim::sim {

/// A sequence of numbers, each in as few bytes as it needs (seven bits a byte, lowest first). Equal
/// bytes are equal sequences.
class Signature {
public:
    void push_back(std::int64_t value) {
        // Small numbers of either sign become small: 0, -1, 1, -2, ...
        auto rest =
            static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
        for (; rest >= 0x80; rest >>= 7) {
            bytes_.push_back(static_cast<std::uint8_t>(rest | 0x80));
        }
        bytes_.push_back(static_cast<std::uint8_t>(rest));
    }
    /// Appends bytes. Earlier numbers must determine their count, since the bytes do not encode it.
    void append(const std::vector<std::uint8_t>& bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    /// Releases unused memory.
    void shrink() { bytes_.shrink_to_fit(); }
    [[nodiscard]] std::size_t size_in_bytes() const { return bytes_.size(); }

    friend bool operator==(const Signature&, const Signature&) = default;

private:
    std::vector<std::uint8_t> bytes_;
};

struct Snapshot {
    static constexpr std::int64_t kEnded = -1;

    /// The task that had just ended, or that was about to end if `early`.
    std::uint32_t mark = 0;
    bool early = false;
    Time now;
    std::size_t ended_tasks = 0;  ///< length of the history's log
    /// The first task that had not ended at all places.
    std::uint32_t lowest_open = 0;
    /// Operations, links with their waiting messages, and pending events, renumbered. Equal futures
    /// require equal values.
    Signature state;
    /// Touched tasks that differ from their initial state, ascending, and `needs`: [index in
    /// tasks][place of the component], the number of needs left before it starts, or kEnded. The
    /// start of a running task affects nothing.
    std::vector<std::uint32_t> tasks;
    std::vector<std::int64_t> needs;
    std::vector<LinkTotals> links;  ///< of the component; they may differ

    [[nodiscard]] std::size_t size_in_bytes() const;
    /// Returns the number of `tasks` that belong to the repeat of that period; the others are more
    /// than a period later.
    [[nodiscard]] std::size_t near_tasks(std::uint32_t period) const;
    /// Returns the last near task. Precondition: there is one.
    [[nodiscard]] std::uint32_t last_near_task(std::uint32_t period) const {
        return tasks[near_tasks(period) - 1];
    }
    /// True if this is the state of `earlier`, moved by the distance of the marks (the period).
    /// Tasks far ahead must be unchanged, and none of them may run.
    [[nodiscard]] bool is_image_of(const Snapshot& earlier) const;
};

}  // namespace podsim::sim
