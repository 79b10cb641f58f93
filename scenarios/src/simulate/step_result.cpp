#include "scenarios/src/simulate/step_result.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <numeric>
#include <string>
#include <variant>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/run_step.h"

namespace podsim::scenarios {
namespace {

std::int64_t factorial(std::size_t n) {
    std::int64_t product = 1;
    for (std::size_t i = 2; i <= n; ++i) {
        product *= static_cast<std::int64_t>(i);
    }
    return product;
}

/// The value whole + parts / n!, with 0 <= parts < n!.
struct ExactShare {
    std::int64_t whole = 0;
    std::int64_t parts = 0;
};

/// Weights add up to n!, so that neither sum leaves the range of its differences.
ExactShare exact_share(std::size_t cause, std::size_t count, std::span<const sim::Time> times) {
    const std::int64_t all = factorial(count);
    const std::size_t bit = std::size_t{1} << cause;
    ExactShare share;
    for (std::size_t set = 0; set < times.size(); ++set) {
        if ((set & bit) != 0) {
            continue;
        }
        const auto removed = static_cast<std::size_t>(std::popcount(set));
        const std::int64_t weight = factorial(removed) * factorial(count - removed - 1);
        const std::int64_t saved = times[set].ps - times[set | bit].ps;
        share.whole += weight * (saved / all);
        share.parts += weight * (saved % all);
    }
    std::int64_t carried = share.parts / all;
    if (share.parts % all < 0) {
        --carried;
    }
    return {share.whole + carried, share.parts - carried * all};
}

/// Returns the cause whose removal most changes the saving of removing `cause`.
std::string partner(std::size_t cause, std::span<const std::string> names,
                    std::span<const sim::Time> times) {
    const std::size_t bit = std::size_t{1} << cause;
    const std::int64_t alone = times[0].ps - times[bit].ps;
    std::int64_t most = 0;
    std::string found;
    for (std::size_t other = 0; other < names.size(); ++other) {
        const std::size_t its = std::size_t{1} << other;
        if (other == cause) {
            continue;
        }
        const std::int64_t then = times[its].ps - times[its | bit].ps;
        if (std::abs(then - alone) > most) {
            most = std::abs(then - alone);
            found = names[other];
        }
    }
    return found;
}

/// The maximum over the mean of the programs' values.
template <class Value>
double most_over_mean(std::size_t programs, const Value& value) {
    double most = 0;
    double sum = 0;
    for (std::size_t p = 0; p < programs; ++p) {
        most = std::max(most, value(p));
        sum += value(p);
    }
    return sum > 0 ? most * static_cast<double>(programs) / sum : 1;
}

double attention_flops(const workloads::StepProgram& program) {
    sim::Flops sum;
    for (const workloads::Op& op : program.ops) {
        const auto* work = std::get_if<workloads::Compute>(&op.work);
        sum += work != nullptr && work->attention ? work->flops : sim::Flops(0);
    }
    return sum.value();
}

/// Returns `compute`, `offload`, or the purpose of a collective or handover.
std::string track_of(const workloads::Op& op) {
    if (const auto* collective = std::get_if<workloads::Collective>(&op.work)) {
        return std::string(workloads::to_string(collective->purpose));
    }
    if (const auto* handover = std::get_if<workloads::Handover>(&op.work)) {
        return std::string(workloads::to_string(handover->purpose));
    }
    return std::holds_alternative<workloads::HostTransfer>(op.work) ? "offload" : "compute";
}

}  // namespace

bool LedgerRow::agrees() const {
    return std::abs(static_cast<double>((share - alone).ps)) <=
           kLoneAgreement * std::abs(static_cast<double>(share.ps));
}

std::vector<LedgerRow> ledger_of(std::span<const std::string> names,
                                 std::span<const sim::Time> times) {
    const std::size_t count = names.size();
    assert(count <= kMostCauses && times.size() == std::size_t{1} << count);
    std::vector<LedgerRow> rows;
    std::vector<ExactShare> exact;
    for (std::size_t cause = 0; cause < count; ++cause) {
        exact.push_back(exact_share(cause, count, times));
        rows.push_back({.name = names[cause],
                        .share = {exact.back().whole},
                        .alone = times[0] - times[std::size_t{1} << cause],
                        .together = partner(cause, names, times)});
    }
    // The fractions add up to whole picoseconds.
    std::vector<std::size_t> by_remainder(count);
    std::iota(by_remainder.begin(), by_remainder.end(), 0U);
    std::ranges::stable_sort(by_remainder, std::ranges::greater(),
                             [&](std::size_t i) { return exact[i].parts; });
    const std::int64_t left = std::accumulate(
        exact.begin(), exact.end(), std::int64_t{0},
        [](std::int64_t sum, const ExactShare& share) { return sum + share.parts; });
    for (std::int64_t i = 0; i < left / factorial(count); ++i) {
        rows[by_remainder[static_cast<std::size_t>(i)]].share += sim::Time{1};
    }
    return rows;
}

std::optional<Imbalance> imbalance_of(const TrainingStep& described,
                                      const workloads::StepPrograms& programs,
                                      const LoweredStep& step) {
    const std::size_t members = programs.members();
    if (members == 1) {
        return std::nullopt;
    }
    Imbalance imbalance;
    if (described.plan.experts.uneven()) {
        imbalance.experts = std::ranges::max(described.plan.experts.loads);
    }
    for (std::size_t stage = 0; stage < programs.stages; ++stage) {
        const std::size_t first = stage * members;
        imbalance.attention =
            std::max(imbalance.attention, most_over_mean(members, [&](std::size_t p) {
                         return attention_flops(programs.programs[first + p]);
                     }));
        imbalance.compute = std::max(imbalance.compute, most_over_mean(members, [&](std::size_t p) {
                                         return work_of(step.workload.graphs[first + p]).seconds();
                                     }));
    }
    return imbalance;
}

std::optional<Scenario> with_even_work(const Scenario& scenario) {
    const workloads::TrainingPlan& plan = scenario.step().plan;
    if (plan.attention.placement != workloads::Placement::plain && !plan.experts.uneven()) {
        return std::nullopt;
    }
    Scenario even = scenario;
    even.step().evaluation.reset();
    even.step().plan.attention.placement = workloads::Placement::zig_zag;
    even.step().plan.experts.loads.clear();
    return even;
}

std::string member_text(const workloads::StepPrograms& programs, const topology::DeviceMesh& mesh,
                        std::size_t program) {
    std::string text;
    std::size_t rest = program % programs.members();
    for (std::size_t axis = programs.axes.size(); axis-- > 1;) {
        const auto size = static_cast<std::size_t>(mesh.size(programs.axes[axis]));
        text = fmt::format("{} rank {}{}{}", programs.axes[axis], rest % size,
                           text.empty() ? "" : ", ", text);
        rest /= size;
    }
    return text;
}

std::vector<Span> spans_of(const ReportedChip& chip) {
    std::vector<Span> spans;
    if (chip.programs == nullptr) {
        return spans;
    }
    const std::vector<workloads::Op>& ops = chip.programs->programs[chip.program].ops;
    spans.reserve(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
        spans.push_back({.name = ops[i].name,
                         .track = track_of(ops[i]),
                         .start = chip.run.began[i],
                         .end = chip.run.ended[i]});
    }
    return spans;
}

}  // namespace podsim::scenarios
