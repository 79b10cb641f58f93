#include "scenarios/src/search/longest_path.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace podsim::scenarios {
namespace {

using workloads::Op;
using workloads::OpIndex;

/// Returns the front at which all predecessors have ended.
template <class EndOf>
TimeFront begin_of(const Op& op, Edges edges, TimeFront earliest, FrontWidth width, EndOf end_of) {
    TimeFront begin = earliest;
    const auto wait_for = [&](const std::vector<OpIndex>& ops) {
        for (const OpIndex other : ops) {
            begin.wait_for(end_of(other), width);
        }
    };
    if (edges == Edges::scheduled) {
        wait_for(op.after);
    } else {
        wait_for(op.needs);
        wait_for(op.limits);
    }
    return begin;
}

FrontWidth width_of(std::span<const LeastTime> times) {
    FrontWidth width = 1;
    for (const LeastTime& time : times) {
        if (time.family < kMostFamilies) {
            width = std::max<FrontWidth>(width, 2U + time.family);
        }
    }
    return width;
}

/// The ends of one program's operations.
class SinglePath {
public:
    SinglePath(const workloads::StepProgram& program, std::span<const LeastTime> times, Edges edges)
        : program_(program),
          times_(times),
          edges_(edges),
          width_(width_of(times)),
          ends_(program.ops.size()) {}

    std::int64_t length(std::span<const RepeatedStretch> stretches) {
        OpIndex next = 0;
        for (const RepeatedStretch& stretch : stretches) {
            go(next, stretch.from + 1);
            const TimeFront before = ends_[stretch.from];
            ends_[stretch.to] = repeated(stretch, before);
            longest_ = std::max(longest_, ends_[stretch.to].latest(width_));
            first_ = stretch.to;
            earliest_ = TimeFront::unreached();
            next = stretch.to + 1;
        }
        go(next, static_cast<OpIndex>(program_.ops.size()));
        return longest_;
    }

private:
    void go(OpIndex begin, OpIndex end) {
        for (OpIndex i = begin; i < end; ++i) {
            ends_[i] = begin_of(program_.ops[i], edges_, earliest_, width_,
                                [&](OpIndex op) -> const TimeFront& {
                                    return op < first_ ? unreached_ : ends_[op];
                                })
                           .behind(times_[i], width_);
            longest_ = std::max(longest_, ends_[i].latest(width_));
        }
    }

    /// Returns the front behind the stretch and its copies.
    TimeFront repeated(const RepeatedStretch& stretch, TimeFront front) {
        first_ = stretch.from;
        earliest_ = TimeFront::unreached();
        const std::int64_t reached = std::exchange(longest_, 0);
        FrontMatrix matrix;
        for (std::size_t from = 0; from < width_; ++from) {
            ends_[stretch.from] = TimeFront::unreached();
            ends_[stretch.from].ps[from] = 0;
            go(stretch.from + 1, stretch.to + 1);
            matrix[from] = ends_[stretch.to];
        }
        longest_ = reached;
        for (std::int64_t copy = 0; copy <= stretch.copies; ++copy) {
            front = through(matrix, front, width_);
        }
        return front;
    }

    const workloads::StepProgram& program_;
    const std::span<const LeastTime> times_;
    const Edges edges_;
    const FrontWidth width_;
    const TimeFront unreached_ = TimeFront::unreached();
    std::vector<TimeFront> ends_;
    TimeFront earliest_{};
    OpIndex first_ = 0;  ///< first operation of the path
    std::int64_t longest_ = 0;
};

/// The ends of the operations of all programs, each found after those that it waits for.
class JointPath {
public:
    JointPath(const workloads::StepPrograms& programs,
              std::span<const std::vector<LeastTime>> times, Edges edges, sim::Time launch)
        : programs_(programs), times_(times), edges_(edges), launch_{launch} {
        for (std::size_t p = 0; p < programs.programs.size(); ++p) {
            ends_.emplace_back().reserve(programs.programs[p].ops.size());
            width_ = std::max(width_, width_of(times[p]));
        }
    }

    std::int64_t length() {
        for (bool goes_on = true; std::exchange(goes_on, false);) {
            for (std::size_t p = 0; p < ends_.size(); ++p) {
                goes_on = advance(p) || goes_on;
            }
        }
        return longest_;
    }

private:
    /// Advances until a receiver's bytes have not been sent.
    bool advance(std::size_t p) {
        const std::vector<Op>& ops = programs_.programs[p].ops;
        const std::size_t before = ends_[p].size();
        while (ends_[p].size() < ops.size()) {
            const std::size_t i = ends_[p].size();
            std::optional<TimeFront> end = end_of(p, i);
            if (!end) {
                break;
            }
            longest_ = std::max(longest_, end->latest(width_));
            ends_[p].push_back(*end);
        }
        return ends_[p].size() > before;
    }

    /// Returns none for a receiver whose sender has not reached the handover.
    std::optional<TimeFront> end_of(std::size_t p, std::size_t i) {
        const Op& op = programs_.programs[p].ops[i];
        TimeFront begin = begin_of(op, edges_, {}, width_, [&](OpIndex other) -> const TimeFront& {
            return ends_[p][other];
        });
        const auto* handover = std::get_if<workloads::Handover>(&op.work);
        if (handover == nullptr) {
            return begin.behind(times_[p][i], width_);
        }
        if (handover->sends) {
            sent_[{handover->message, p}] = begin.behind(launch_, width_);
            return begin;
        }
        const auto sent = sent_.find({handover->message, programs_.peer(p, *handover)});
        if (sent == sent_.end()) {
            return std::nullopt;
        }
        begin.wait_for(sent->second.behind(times_[p][i], width_), width_);
        return begin;
    }

    const workloads::StepPrograms& programs_;
    const std::span<const std::vector<LeastTime>> times_;
    const Edges edges_;
    const LeastTime launch_;
    FrontWidth width_ = 1;
    std::vector<std::vector<TimeFront>> ends_;
    std::map<std::pair<std::uint32_t, std::size_t>, TimeFront> sent_;  ///< by message and sender
    std::int64_t longest_ = 0;
};

}  // namespace

sim::Time longest_path(const workloads::StepProgram& program, std::span<const LeastTime> times,
                       Edges edges, std::span<const RepeatedStretch> stretches) {
    return {SinglePath(program, times, edges).length(stretches)};
}

sim::Time longest_path(const workloads::StepPrograms& programs,
                       std::span<const std::vector<LeastTime>> times, Edges edges,
                       sim::Time launch) {
    if (programs.programs.size() == 1) {
        return longest_path(programs.programs.front(), times.front(), edges);
    }
    return {JointPath(programs, times, edges, launch).length()};
}

}  // namespace podsim::scenarios
