// What is found of a step's collectives, once for all that are alike: layers repeat theirs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// Of one thread at a time, and of collectives that outlive it. Where kinds are many, it is found anew for those beyond the first.
template <class Value>
class KnownKinds {
public:
    /// Valid until the next call.
    template <class Find>
    const Value& of(const Collective& collective, Find find) {
        const auto known =
            std::ranges::find_if(known_, [&](const auto& one) { return *one.first == collective; });
        if (known != known_.end()) {
            return known->second;
        }
        if (known_.size() < kMost) {
            return known_.emplace_back(&collective, find()).second;
        }
        beyond_ = find();
        return beyond_;
    }

private:
    static constexpr std::size_t kMost = 64;

    std::vector<std::pair<const Collective*, Value>> known_;
    Value beyond_{};
};

}  // namespace podsim::workloads
