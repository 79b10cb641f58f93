#include "workloads/hlo/import_step.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "workloads/hlo/attention_kernels.h"
#include "workloads/hlo/purposes.h"
#include "workloads/hlo/step_writer.h"
#include "workloads/hlo/trips.h"
#include "workloads/hlo/unpartitioned.h"

namespace podsim::workloads::hlo {
namespace {

/// Steps of a name that is evaluated again: its ready operations are joined anew.
constexpr double kStepsOfAName = 16;
/// Steps of an async-update in a chain; each is looked up far apart in memory.
constexpr double kStepsOfAnUpdate = 4;

/// Facts of a computation that are the same in each of its runs.
struct Known {
    const std::vector<Item>& items;
    std::vector<std::uint32_t> item_of;  ///< by instruction; kNothing if none
    Purposes purposes;
};

class Import {
public:
    Import(const Module& module, const DeviceAxes& axes, const CostRules& rules,
           const GivenTrips& trips)
        : module_(module),
          axes_(axes),
          passes_(module),
          run_(module, rules, trips),
          writer_(module) {}

    ImportedStep run() {
        refuse_unpartitioned(module_);
        const Instruction* last = nullptr;
        for (const std::uint32_t entry : entries_of(module_)) {
            last = &module_.computations[entry].root_instruction();
            writer_.barrier(*last, "step", -1);
            play(module_.computations[entry], {});
        }
        if (last != nullptr) {
            writer_.barrier(*last, "end", -1);
        }
        return std::move(writer_.step());
    }

private:
    const Known& known(const Computation& computation) {
        const auto found = known_.find(&computation);
        if (found != known_.end()) {
            return found->second;
        }
        Known fresh{run_.items(computation),
                    std::vector<std::uint32_t>(computation.instructions.size(), kNothing),
                    Purposes(module_, computation, passes_)};
        for (std::uint32_t i = 0; i < fresh.items.size(); ++i) {
            for (const std::uint32_t member : fresh.items[i].members) {
                fresh.item_of[member] = i;
            }
        }
        return known_.emplace(&computation, std::move(fresh)).first->second;
    }

    /// Runs a computation whose parameters wait for `parameters`. Returns the operations for which
    /// its result waits.
    Ready play(const Computation& computation, const std::vector<SharedReady>& parameters) {
        const Known& here = known(computation);
        std::vector<SharedReady> ready(computation.instructions.size(), writer_.nothing());
        for (std::uint32_t i = 0; i < computation.instructions.size(); ++i) {
            const Instruction& at = computation.instructions[i];
            writer_.spend(at, 1);
            const std::uint32_t number = here.item_of[i];
            if (number == kNothing) {
                ready[i] = of_nothing(computation, at, ready, parameters);
                continue;
            }
            const Item& item = here.items[number];
            if (item.members.back() != i) {
                continue;  // a kernel runs at its last instruction
            }
            Ready needs;
            for (const std::uint32_t member : item.members) {
                for (const std::uint32_t operand : computation.instructions[member].operands) {
                    writer_.join(at, needs, *ready[operand]);
                }
            }
            const SharedReady done = writer_.kept(
                at, play_item(computation, here, i, item, writer_.reduced(std::move(needs))));
            for (const std::uint32_t member : item.members) {
                ready[member] = done;
            }
            // Names of the members' results may be listed between the members.
            for (std::uint32_t j = item.members.front() + 1; j < i; ++j) {
                const Instruction& name = computation.instructions[j];
                writer_.spend(at, kStepsOfAName);
                if (here.item_of[j] == kNothing && !is_done(name)) {
                    ready[j] = of_nothing(computation, name, ready, parameters);
                }
            }
        }
        return *ready[computation.root];
    }

    SharedReady of_nothing(const Computation& computation, const Instruction& at,
                           const std::vector<SharedReady>& ready,
                           const std::vector<SharedReady>& parameters) {
        if (at.opcode == "parameter") {
            const std::size_t number = std::strtoul(at.literal.c_str(), nullptr, 10);
            return number < parameters.size() ? parameters[number] : writer_.nothing();
        }
        Ready all;
        for (const std::uint32_t operand : at.operands) {
            writer_.join(at, all, *ready[operand]);
        }
        if (is_done(at)) {
            end_prefetch(computation, at);
            writer_.wait_for(all);
        }
        all = writer_.reduced(std::move(all));
        const bool renames = !at.operands.empty() && all == *ready[at.operands.front()];
        return renames ? ready[at.operands.front()] : writer_.kept(at, std::move(all));
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
                const auto branch = run_.branch(at);
                return branch ? play_called(at, *branch, needs) : needs;
            }
            case Doing::host_copy:
                return {writer_.add_beside(
                    at,
                    op_of(at, HostTransfer{way_of(at) == HostWay::to_host
                                               ? collectives::HostDirection::to_host
                                               : collectives::HostDirection::to_chip,
                                           item.bytes}),
                    needs, !is_start(at))};
            case Doing::prefetch:
                prefetches_[&at] = {.bytes = item.bytes, .from = writer_.ops().size()};
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
            double share = 1;  // V as a multiple of the stored bytes
            if (found.operation == collectives::Operation::permute) {
                const RankShift shift = axes_.shift_of(module_, *found.at);
                collective.axes = axes_.names_of(shift.digits);
                collective.shift = static_cast<int>(shift.shift);
                writer_.step().open_permutes += shift.closed || collective.axes.empty() ? 0 : 1;
                share = size_of(shift.digits);
            } else {
                const std::vector<Digit> digits = axes_.group_of(module_, *found.at);
                collective.axes = axes_.names_of(digits);
                share = found.operation == collectives::Operation::all_to_all ? size_of(digits) : 1;
                writer_.step().ragged += found.at->opcode.starts_with("ragged") ? 1 : 0;
            }
            collective.bytes = found.stored * share;
            if (collective.axes.empty() || collective.bytes.value() == 0 ||
                (found.operation == collectives::Operation::permute && collective.shift == 0)) {
                writer_.join(at, done, needs);
                continue;
            }
            done.push_back(
                writer_.add_beside(at, op_of(at, std::move(collective)), needs, !is_start(at)));
        }
        const bool computes = item.work.flops.value() > 0 || item.work.hbm.value() > 0 ||
                              item.work.vector.value() > 0;
        if (item.doing == Doing::kernel || computes) {
            // A fusion with collectives computes beside them: its kernel does not wait for them.
            const bool beside = !item.collectives.empty();
            Ready later = beside ? writer_.exchange_waits({}) : Ready{};
            done.push_back(writer_.add_kernel(at, op_of(at, item.work), needs));
            writer_.exchange_waits(std::move(later));
        }
        return writer_.reduced(std::move(done));
    }

    static double size_of(const std::vector<Digit>& digits) {
        double size = 1;
        for (const Digit& digit : digits) {
            size *= static_cast<double>(digit.length);
        }
        return size;
    }

    Op op_of(const Instruction& at, Work work) {
        const auto [pass, added] = pass_of_.try_emplace(&at);
        if (added) {
            pass->second = passes_.of(at);
        }
        return {.name = at.name,
                .pass = pass->second,
                .layer = writer_.layer(),
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
        Ready done = play(
            callee, std::vector<SharedReady>(parameters, std::make_shared<const Ready>(needs)));
        writer_.join(at, done, needs);
        return writer_.reduced(std::move(done));
    }

    Ready play_loop(const Computation& computation, const Instruction& at, const Ready& needs) {
        const std::int64_t trips = run_.trips(computation, at);
        const LoopParts parts = parts_of(module_, at);
        const int outside = writer_.layer();
        const auto first = static_cast<OpIndex>(writer_.ops().size());
        for (std::int64_t i = 0; i < trips && parts.body != nullptr; ++i) {
            writer_.barrier(at, at.name, static_cast<int>(i), first, i == 0 ? needs : Ready{});
            play(*parts.body, {});
        }
        writer_.barrier(at, at.name, outside, first, trips == 0 ? needs : Ready{});
        return {};
    }

    /// Spreads the bytes of a prefetch over the kernels since its start, by their work. If there
    /// are none, adds a kernel for it.
    void end_prefetch(const Computation& computation, const Instruction& done) {
        if (done.operands.empty()) {
            return;
        }
        const Instruction* start = &computation.instructions[done.operands.front()];
        while (start->opcode == "async-update" && !start->operands.empty()) {
            writer_.spend(done, kStepsOfAnUpdate);
            start = &computation.instructions[start->operands.front()];
        }
        const auto found = prefetches_.find(start);
        if (found == prefetches_.end()) {
            return;
        }
        const auto [bytes, from] = found->second;
        prefetches_.erase(found);
        writer_.spend(done, static_cast<double>(writer_.ops().size() - from));
        double sum = 0;
        std::vector<std::pair<Compute*, double>> beside;
        for (std::size_t i = from; i < writer_.ops().size(); ++i) {
            if (auto* const work = std::get_if<Compute>(&writer_.ops()[i].work)) {
                const double weight = work->flops.value() + work->hbm.value();
                beside.emplace_back(work, weight);
                sum += weight;
            }
        }
        if (sum == 0) {
            Compute work;
            work.hbm = bytes;
            writer_.add_kernel(*start, op_of(*start, work), {});
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
    const Passes passes_;
    ModuleRun run_;
    StepWriter writer_;
    std::unordered_map<const Instruction*, Pass> pass_of_;
    std::map<const Computation*, Known> known_;
    std::map<const Instruction*, Prefetch> prefetches_;
};

}  // namespace

ImportedStep import_step(const Module& module, const DeviceAxes& axes, const CostRules& rules,
                         const GivenTrips& trips) {
    return Import(module, axes, rules, trips).run();
}

}  // namespace podsim::workloads::hlo
