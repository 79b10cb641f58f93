#include "workloads/hlo_step/import_step.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "workloads/hlo_costs/attention_kernels.h"
#include "workloads/hlo_step/purposes.h"
#include "workloads/hlo_totals/trips.h"
#include "workloads/hlo_totals/unpartitioned.h"

namespace podsim::workloads::hlo {
namespace {

/// Operations that must have ended for a value to be there: the last kernel, and what runs beside kernels.
using Ready = std::vector<OpIndex>;

/// What is the same each time a computation runs.
struct Known {
    std::vector<Item> items;
    std::vector<std::uint32_t> item_of;  ///< by instruction; kNothing
    Purposes purposes;
};

class Import {
public:
    Import(const Module& module, const DeviceAxes& axes, const CostRules& rules,
           const GivenTrips& trips)
        : module_(module), axes_(axes), rules_(rules), trips_(trips), passes_(module) {
        step_.scheduled = module.is_scheduled();
    }

    ImportedStep run() {
        refuse_unpartitioned(module_);
        for (const std::uint32_t entry : entries_of(module_)) {
            barrier("step", -1);
            play(module_.computations[entry], {});
        }
        barrier("end", -1);
        return std::move(step_);
    }

private:
    std::vector<Op>& ops() { return step_.program.ops; }

    const Known& known(const Computation& computation) {
        const auto found = known_.find(&computation);
        if (found != known_.end()) {
            return found->second;
        }
        Known fresh{items_of(module_, computation, rules_),
                    std::vector<std::uint32_t>(computation.instructions.size(), kNothing),
                    Purposes(module_, computation, passes_)};
        for (std::uint32_t i = 0; i < fresh.items.size(); ++i) {
            for (const std::uint32_t member : fresh.items[i].members) {
                fresh.item_of[member] = i;
            }
        }
        return known_.emplace(&computation, std::move(fresh)).first->second;
    }

    /// What has begun since operation `since` ends here, as do `needs`, and the next turn begins.
    void barrier(const std::string& name, int layer, OpIndex since = 0, const Ready& needs = {}) {
        Op op{.name = name, .pass = Pass::forward, .layer = layer, .work = Compute{}, .after = {}};
        op.after.assign(beside_.lower_bound(since), beside_.end());
        layer_ = layer;
        step_.program.turns.push_back(static_cast<OpIndex>(ops().size()));
        add_kernel(std::move(op), needs);
        barrier_ = last_kernel_;
    }

    OpIndex add(Op op) {
        if (ops().size() >= kMostOperations) {
            throw sim::InputError(
                fmt::format("the module runs more than {} operations", kMostOperations),
                "give a module of fewer iterations, or fewer with --trips");
        }
        std::ranges::sort(op.after);
        op.after.erase(std::unique(op.after.begin(), op.after.end()), op.after.end());
        ops().push_back(std::move(op));
        return static_cast<OpIndex>(ops().size() - 1);
    }

    /// On the stream: behind the kernel before it and what the stream has to wait for.
    OpIndex add_kernel(Op op, const Ready& needs) {
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
        last_kernel_ = add(std::move(op));
        return *last_kernel_;
    }

    /// Beside the stream, from where it is now (of a module that is not scheduled: from when its operands are there).
    OpIndex add_beside(Op op, const Ready& needs, bool blocks) {
        op.needs = needs;
        op.after = needs;
        if (const auto from = step_.scheduled ? last_kernel_ : barrier_) {
            op.after.push_back(*from);
        }
        if (step_.scheduled) {
            // The stream has come here when what it waits for has ended.
            op.after.insert(op.after.end(), waits_.begin(), waits_.end());
        }
        const OpIndex number = add(std::move(op));
        beside_.insert(number);
        if (blocks && step_.scheduled) {
            waits_.push_back(number);
        }
        return number;
    }

    void join(Ready& into, const Ready& more) const {
        for (const OpIndex each : more) {
            if (barrier_ && each <= *barrier_ && !beside_.contains(each)) {
                continue;
            }
            if (std::ranges::find(into, each) == into.end()) {
                into.push_back(each);
            }
        }
    }

    /// Of all kernels the last is enough.
    Ready reduced(Ready ready) const {
        std::optional<OpIndex> last;
        std::erase_if(ready, [&](OpIndex each) {
            const bool kernel = std::holds_alternative<Compute>(ops_at(each).work);
            if (kernel) {
                last = std::max(last.value_or(0), each);
            }
            return kernel;
        });
        if (last) {
            ready.push_back(*last);
        }
        std::ranges::sort(ready);
        return ready;
    }
    [[nodiscard]] const Op& ops_at(OpIndex number) const { return step_.program.ops[number]; }

    /// Runs a computation of which the parameters are ready so; when its result is.
    Ready play(const Computation& computation, const std::vector<Ready>& parameters) {
        const Known& here = known(computation);
        std::vector<Ready> ready(computation.instructions.size());
        for (std::uint32_t i = 0; i < computation.instructions.size(); ++i) {
            const Instruction& at = computation.instructions[i];
            const std::uint32_t number = here.item_of[i];
            if (number == kNothing) {
                ready[i] = of_nothing(computation, at, ready, parameters);
                continue;
            }
            const Item& item = here.items[number];
            if (item.members.back() != i) {
                continue;  // a kernel stands where its last instruction does
            }
            Ready needs;
            for (const std::uint32_t member : item.members) {
                for (const std::uint32_t operand : computation.instructions[member].operands) {
                    join(needs, ready[operand]);
                }
            }
            const Ready done = play_item(computation, here, i, item, reduced(std::move(needs)));
            for (const std::uint32_t member : item.members) {
                ready[member] = done;
            }
            // Names of what its members make stand between them.
            for (std::uint32_t j = item.members.front() + 1; j < i; ++j) {
                const Instruction& name = computation.instructions[j];
                if (here.item_of[j] == kNothing && !is_done(name)) {
                    ready[j] = of_nothing(computation, name, ready, parameters);
                }
            }
        }
        return ready[computation.root];
    }

    Ready of_nothing(const Computation& computation, const Instruction& at,
                     const std::vector<Ready>& ready, const std::vector<Ready>& parameters) {
        if (at.opcode == "parameter") {
            const std::size_t number = std::strtoul(at.literal.c_str(), nullptr, 10);
            return number < parameters.size() ? parameters[number] : Ready{};
        }
        Ready all;
        for (const std::uint32_t operand : at.operands) {
            join(all, ready[operand]);
        }
        if (is_done(at)) {
            end_prefetch(computation, at);
            if (step_.scheduled) {
                for (const OpIndex each : all) {
                    if (!std::holds_alternative<Compute>(ops_at(each).work)) {
                        waits_.push_back(each);
                    }
                }
            }
        }
        return reduced(std::move(all));
    }

    Ready play_item(const Computation& computation, const Known& here, std::uint32_t number,
                    const Item& item, Ready needs) {
        const Instruction& at = computation.instructions[number];
        switch (item.doing) {
            case Doing::loop:
                return play_loop(computation, at, needs);
            case Doing::call:
                return play_called(at, 0, needs);
            case Doing::branches: {
                const auto branch = branches_.of(at);
                return branch ? play_called(at, *branch, needs) : needs;
            }
            case Doing::host_copy:
                return {add_beside(op_of(at, HostTransfer{way_of(at) == HostWay::to_host
                                                              ? collectives::HostDirection::to_host
                                                              : collectives::HostDirection::to_chip,
                                                          item.bytes}),
                                   needs, !is_start(at))};
            case Doing::prefetch:
                prefetches_[&at] = {.bytes = item.bytes, .from = ops().size()};
                return needs;
            default:
                return play_kernel(here, number, item, at, needs);
        }
    }

    Ready play_kernel(const Known& here, std::uint32_t number, const Item& item,
                      const Instruction& at, const Ready& needs) {
        Ready done;
        for (const FoundCollective& found : item.collectives) {
            Collective collective{.operation = found.operation,
                                  .purpose = here.purposes.of(number, found),
                                  .axes = {},
                                  .bytes = {}};
            double share = 1;  // of what V is
            if (found.operation == collectives::Operation::permute) {
                const RankShift shift = axes_.shift_of(module_, *found.at);
                collective.axes = axes_.names_of(shift.digits);
                collective.shift = static_cast<int>(shift.shift);
                step_.open_permutes += shift.closed || collective.axes.empty() ? 0 : 1;
                share = size_of(shift.digits);
            } else {
                const std::vector<Digit> digits = axes_.group_of(module_, *found.at);
                collective.axes = axes_.names_of(digits);
                share = found.operation == collectives::Operation::all_to_all ? size_of(digits) : 1;
                step_.ragged += found.at->opcode.starts_with("ragged") ? 1 : 0;
            }
            collective.bytes = found.stored * share;
            if (collective.axes.empty() || collective.bytes.value() == 0 ||
                (found.operation == collectives::Operation::permute && collective.shift == 0)) {
                join(done, needs);
                continue;
            }
            done.push_back(add_beside(op_of(at, std::move(collective)), needs, !is_start(at)));
        }
        const bool computes = item.work.flops.value() > 0 || item.work.hbm.value() > 0 ||
                              item.work.vector.value() > 0;
        if (item.doing == Doing::kernel || computes) {
            // A fusion with collectives computes beside them: the stream has not to wait for them before it.
            std::vector<OpIndex> later;
            if (!item.collectives.empty()) {
                later = std::exchange(waits_, {});
            }
            done.push_back(add_kernel(op_of(at, item.work), needs));
            waits_.insert(waits_.end(), later.begin(), later.end());
        }
        return reduced(std::move(done));
    }

    static double size_of(const std::vector<Digit>& digits) {
        double size = 1;
        for (const Digit& digit : digits) {
            size *= static_cast<double>(digit.length);
        }
        return size;
    }

    Op op_of(const Instruction& at, Work work) const {
        return {.name = at.name,
                .pass = passes_.of(at),
                .layer = layer_,
                .work = std::move(work),
                .after = {}};
    }

    Ready play_called(const Instruction& at, std::size_t which, const Ready& needs) {
        if (which >= at.called.size() || at.called[which] == kNothing) {
            return needs;
        }
        const Computation& callee = module_.computations[at.called[which]];
        std::size_t parameters = 0;
        for (const Instruction& each : callee.instructions) {
            parameters += each.opcode == "parameter" ? 1 : 0;
        }
        Ready done = play(callee, std::vector<Ready>(parameters, needs));
        join(done, needs);
        return reduced(std::move(done));
    }

    Ready play_loop(const Computation& computation, const Instruction& at, const Ready& needs) {
        const std::int64_t trips = trips_or_error(module_, computation, at, trips_);
        const LoopParts parts = parts_of(module_, at);
        const int outside = layer_;
        const auto first = static_cast<OpIndex>(ops().size());
        for (std::int64_t i = 0; i < trips && parts.body != nullptr; ++i) {
            barrier(at.name, static_cast<int>(i), first, i == 0 ? needs : Ready{});
            play(*parts.body, {});
        }
        barrier(at.name, outside, first, trips == 0 ? needs : Ready{});
        return {};
    }

    /// What was fetched moves with the kernels since it began, by what they compute; alone where there is none.
    void end_prefetch(const Computation& computation, const Instruction& done) {
        if (done.operands.empty()) {
            return;
        }
        const Instruction* start = &computation.instructions[done.operands.front()];
        while (start->opcode == "async-update" && !start->operands.empty()) {
            start = &computation.instructions[start->operands.front()];
        }
        const auto found = prefetches_.find(start);
        if (found == prefetches_.end()) {
            return;
        }
        const auto [bytes, from] = found->second;
        prefetches_.erase(found);
        double sum = 0;
        std::vector<std::pair<Compute*, double>> beside;
        for (std::size_t i = from; i < ops().size(); ++i) {
            if (auto* const work = std::get_if<Compute>(&ops()[i].work)) {
                const double weight = work->flops.value() + work->hbm.value();
                beside.emplace_back(work, weight);
                sum += weight;
            }
        }
        if (sum == 0) {
            Compute work;
            work.hbm = bytes;
            add_kernel(op_of(*start, work), {});
            return;
        }
        for (const auto& [work, weight] : beside) {
            work->hbm += bytes * (weight / sum);
        }
    }

    struct Prefetch {
        sim::Bytes bytes;
        std::size_t from = 0;
    };

    const Module& module_;
    const DeviceAxes& axes_;
    const CostRules& rules_;
    const GivenTrips& trips_;
    const Passes passes_;
    LongestBranches branches_{module_, rules_, trips_};
    ImportedStep step_;
    std::map<const Computation*, Known> known_;
    std::optional<OpIndex> last_kernel_;
    std::optional<OpIndex> barrier_;
    std::vector<OpIndex> waits_;  ///< for which the stream waits before its next kernel
    std::set<OpIndex> beside_;    ///< of which no kernel has waited
    std::map<const Instruction*, Prefetch> prefetches_;
    int layer_ = -1;
};

}  // namespace

ImportedStep import_step(const Module& module, const DeviceAxes& axes, const CostRules& rules,
                         const GivenTrips& trips) {
    return Import(module, axes, rules, trips).run();
}

}  // namespace podsim::workloads::hlo
