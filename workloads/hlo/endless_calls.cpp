#include "workloads/hlo/endless_calls.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "sim/base/error.h"

namespace podsim::workloads::hlo {
namespace {

constexpr int kDeepestCalls = 64;
/// Limit of the instructions that are reached beyond those of the text; walking them takes seconds.
/// Each instruction counts once for every chain of calls that leads to it, as in the sums of
/// totals. Those of branches count once more, for the choice of the longest branch.
constexpr double kMostReached = 4e6;

template <class Use>
void for_each_call(const Computation& caller, const Use& use) {
    for (const Instruction& instruction : caller.instructions) {
        for (const std::uint32_t callee : instruction.called) {
            if (callee != kNothing) {
                use(callee);
            }
        }
    }
}

sim::InputError error_at(const Module& module, std::uint32_t computation, const std::string& what) {
    const Computation& at = module.computations[computation];
    return sim::InputError(fmt::format("'{}' {}", at.name, what), {},
                           {module.file, at.line, at.column});
}

/// Returns the number of instructions that the branches of conditionals reach.
double in_branches(const Computation& computation, const std::vector<double>& reached) {
    double sum = 0;
    for (const Instruction& each : computation.instructions) {
        for (const std::uint32_t callee : each.called) {
            sum += each.opcode == "conditional" && callee != kNothing ? reached[callee] : 0;
        }
    }
    return sum;
}

/// Returns a computation that reaches itself through open calls: the first in the text of its
/// cycle.
std::uint32_t in_a_circle(const Module& module, const std::vector<std::size_t>& open) {
    const auto callee_of = [&](std::uint32_t caller) {
        std::uint32_t found = kNothing;
        for_each_call(module.computations[caller], [&](std::uint32_t callee) {
            found = found == kNothing && open[callee] > 0 ? callee : found;
        });
        return found;
    };
    std::vector<bool> seen(open.size());
    auto at = static_cast<std::uint32_t>(
        std::ranges::find_if(open, [](std::size_t calls) { return calls > 0; }) - open.begin());
    for (; !seen[at]; at = callee_of(at)) {
        seen[at] = true;
    }
    std::uint32_t first = at;
    for (std::uint32_t next = callee_of(at); next != at; next = callee_of(next)) {
        first = std::min(first, next);
    }
    return first;
}

}  // namespace

void refuse_endless_calls(const Module& module) {
    const std::size_t count = module.computations.size();
    std::vector<std::vector<std::uint32_t>> callers(count);
    std::vector<std::size_t> open(count);  // calls whose callee is not in `order` yet
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < count; ++i) {
        for_each_call(module.computations[i], [&](std::uint32_t callee) {
            callers[callee].push_back(i);
            ++open[i];
        });
        if (open[i] == 0) {
            order.push_back(i);
        }
    }
    std::vector<int> depth(count);
    std::vector<double> reached(count);
    double most = kMostReached;
    for (const Computation& computation : module.computations) {
        most += static_cast<double>(computation.instructions.size());
    }
    double whole = 0;
    for (std::size_t next = 0; next < order.size(); ++next) {
        const std::uint32_t at = order[next];
        reached[at] = static_cast<double>(module.computations[at].instructions.size());
        for_each_call(module.computations[at], [&](std::uint32_t callee) {
            depth[at] = std::max(depth[at], depth[callee] + 1);
            reached[at] += reached[callee];
        });
        if (depth[at] > kDeepestCalls) {
            throw error_at(module, at,
                           fmt::format("calls others more than {} deep", kDeepestCalls));
        }
        whole +=
            in_branches(module.computations[at], reached) + (callers[at].empty() ? reached[at] : 0);
        if (std::max(reached[at], whole) > most) {
            throw error_at(module, at,
                           fmt::format("reaches more than {:.0f} instructions{}", most,
                                       reached[at] > most ? "" : " with those before it"));
        }
        for (const std::uint32_t caller : callers[at]) {
            if (--open[caller] == 0) {
                order.push_back(caller);
            }
        }
    }
    if (order.size() < count) {
        throw error_at(module, in_a_circle(module, open), "calls itself");
    }
}

}  // namespace podsim::workloads::hlo
