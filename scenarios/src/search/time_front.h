// Bounds of when the chips of a step reach a point: no chip reaches it before `first`, and the last
// chip of each group of a family does not before `last` of that family.
//
// A family is a grouping of chips by a collective whose members do not all do the same at the same
// time (the ends of a line have one neighbour, those within it two). A collective of members that
// are alike takes B from their common begin. One of unlike members takes B from the begin of its
// first member to the end of its last: chips that are done earlier go on, so the B of several
// collectives do not add up. These hold for every group:
//   no member has its result before it has received it:         end_m >= first begin + receive
//   the result needs something of every member:                 end_m >= last begin
//   what a member sends it sends after it has begun:            last end >= last begin + send
//   the bound of the operation:                                 last end >= first begin + B
// All of these are sums and maxima. A stretch of operations therefore acts on a front as a matrix
// of sums and maxima, which can be repeated.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "sim/base/time.h"

namespace podsim::scenarios {

inline constexpr std::size_t kMostFamilies = 5;

/// Lower bound of the time of an operation.
struct LeastTime {
    /// All chips begin it together, and it takes `all`.
    static constexpr std::uint8_t kAlike = 0xff;
    /// Nothing is known but that it has an end: `receive`.
    static constexpr std::uint8_t kNobody = 0xfe;

    sim::Time all{};
    sim::Time receive{};
    sim::Time send{};
    std::uint8_t family = kAlike;

    /// Returns the time of a member that must receive and send.
    [[nodiscard]] sim::Time both() const { return std::max(receive, send); }
};

/// Number of values of a front that count: one, and one for each family.
using FrontWidth = std::size_t;

struct TimeFront {
    static constexpr std::int64_t kUnreached = std::numeric_limits<std::int64_t>::min() / 4;

    std::array<std::int64_t, 1 + kMostFamilies> ps{};  ///< `first`, then `last` by family

    static TimeFront unreached() {
        TimeFront front;
        front.ps.fill(kUnreached);
        return front;
    }
    /// Advances to the point where both fronts have been reached.
    void wait_for(const TimeFront& other, FrontWidth width) {
        for (std::size_t i = 0; i < width; ++i) {
            ps[i] = std::max(ps[i], other.ps[i]);
        }
    }
    /// Returns the front behind an operation that begins here.
    [[nodiscard]] TimeFront behind(const LeastTime& least, FrontWidth width) const {
        TimeFront end = *this;
        if (least.family == LeastTime::kAlike) {
            for (std::size_t i = 0; i < width; ++i) {
                end.ps[i] += least.all.ps;
            }
            return end;
        }
        end.ps[0] = ps[0] + least.receive.ps;
        if (least.family == LeastTime::kNobody) {
            return end;
        }
        const std::size_t own = 1U + least.family;
        end.ps[0] = std::max(end.ps[0], ps[own]);
        end.ps[own] = std::max(ps[0] + least.all.ps, ps[own] + least.send.ps);
        return end;
    }
    [[nodiscard]] std::int64_t latest(FrontWidth width) const {
        return *std::max_element(ps.begin(), ps.begin() + static_cast<std::ptrdiff_t>(width));
    }
};

/// Effect of a stretch of operations on a front: [from][to].
using FrontMatrix = std::array<TimeFront, 1 + kMostFamilies>;

/// Returns the front behind the stretch from the front before it.
inline TimeFront through(const FrontMatrix& matrix, const TimeFront& front, FrontWidth width) {
    TimeFront end = TimeFront::unreached();
    for (std::size_t from = 0; from < width; ++from) {
        for (std::size_t to = 0; to < width; ++to) {
            end.ps[to] = std::max(
                end.ps[to], std::max(front.ps[from] + matrix[from].ps[to], TimeFront::kUnreached));
        }
    }
    return end;
}

}  // namespace podsim::scenarios
