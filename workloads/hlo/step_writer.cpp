#include "workloads/hlo/step_writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>
#include <variant>

namespace podsim::workloads::hlo {
namespace {

/// Limit of the instructions and dependencies that are visited. Dependencies that are kept, and
/// letters of names, count more, because they take memory.
constexpr double kMostPlayed = 2e8;
constexpr double kStepsOfKept = 5;
constexpr double kStepsOfLetter = 4;

void sort_once(Ready& ready) {
    std::ranges::sort(ready);
    ready.erase(std::unique(ready.begin(), ready.end()), ready.end());
}

}  // namespace

StepWriter::StepWriter(const Module& module) : module_(module), budget_(module, kMostPlayed) {
    step_.scheduled = module.is_scheduled();
}

void StepWriter::barrier(const Instruction& at, const std::string& name, int layer, OpIndex since,
                         const Ready& needs) {
    Op op{.name = name, .pass = Pass::forward, .layer = layer, .work = Compute{}, .after = {}};
    op.after.assign(beside_.lower_bound(since), beside_.end());
    layer_ = layer;
    step_.program.turns.push_back(static_cast<OpIndex>(ops().size()));
    add_kernel(at, std::move(op), needs);
    barrier_ = last_kernel_;
}

OpIndex StepWriter::add(const Instruction& at, Op op) {
    spend(at, kStepsOfKept * static_cast<double>(op.after.size() + op.needs.size()) +
                  kStepsOfLetter * static_cast<double>(op.name.size()));
    if (ops().size() >= kMostOperations) {
        throw module_.error(
            at, fmt::format("with it the module runs more than {} operations", kMostOperations),
            "give a module of fewer iterations, or fewer with --trips");
    }
    sort_once(op.after);
    ops().push_back(std::move(op));
    return static_cast<OpIndex>(ops().size() - 1);
}

OpIndex StepWriter::add_kernel(const Instruction& at, Op op, const Ready& needs) {
    op.needs = needs;
    op.after.insert(op.after.end(), needs.begin(), needs.end());
    op.after.insert(op.after.end(), waits_.begin(), waits_.end());
    if (last_kernel_) {
        op.after.push_back(*last_kernel_);
    }
    for (const OpIndex each : op.after) {
        beside_.erase(each);
    }
    waits_.clear();
    last_kernel_ = add(at, std::move(op));
    return *last_kernel_;
}

OpIndex StepWriter::add_beside(const Instruction& at, Op op, const Ready& needs, bool blocks) {
    op.needs = needs;
    op.after = needs;
    if (const auto from = step_.scheduled ? last_kernel_ : barrier_) {
        op.after.push_back(*from);
    }
    if (step_.scheduled) {
        // The stream reaches this operation when its waits have ended.
        op.after.insert(op.after.end(), waits_.begin(), waits_.end());
    }
    const OpIndex number = add(at, std::move(op));
    if (blocks && step_.scheduled) {
        // Waiting for this operation includes waiting for those.
        for (const OpIndex each : waits_) {
            beside_.erase(each);
        }
        waits_ = {number};
    }
    beside_.insert(number);
    return number;
}

void StepWriter::wait_for(const Ready& ready) {
    std::ranges::copy_if(ready, std::back_inserter(waits_),
                         [&](OpIndex each) { return step_.scheduled && !is_kernel(each); });
}

Ready StepWriter::exchange_waits(Ready waits) {
    return std::exchange(waits_, std::move(waits));
}

void StepWriter::join(const Instruction& at, Ready& into, const Ready& more) {
    constexpr std::size_t kFew = 1024;
    spend(at, static_cast<double>(more.size()));
    // Sorts only when the size doubles, however small the additions are.
    if (into.size() + more.size() > std::max(into.capacity(), kFew)) {
        sort_once(into);
        into.reserve(2 * (into.size() + more.size()));
    }
    std::ranges::copy_if(more, std::back_inserter(into), [&](OpIndex each) {
        return !barrier_ || each > *barrier_ || beside_.contains(each);
    });
}

bool StepWriter::is_kernel(OpIndex number) const {
    return std::holds_alternative<Compute>(step_.program.ops[number].work);
}

Ready StepWriter::reduced(Ready ready) const {
    std::optional<OpIndex> last;
    std::erase_if(ready, [&](OpIndex each) {
        if (is_kernel(each)) {
            last = std::max(last.value_or(0), each);
            return true;
        }
        return false;
    });
    if (last) {
        ready.push_back(*last);
    }
    sort_once(ready);
    return ready;
}

SharedReady StepWriter::kept(const Instruction& at, Ready ready) {
    spend(at, kStepsOfKept * static_cast<double>(ready.size()));
    return ready.empty() ? nothing_ : std::make_shared<const Ready>(std::move(ready));
}

}  // namespace podsim::workloads::hlo
