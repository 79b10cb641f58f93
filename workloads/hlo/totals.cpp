#include "workloads/hlo/totals.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "workloads/hlo/attention_kernels.h"
#include "workloads/hlo/cost_estimate.h"
#include "workloads/hlo/device_counts.h"
#include "workloads/hlo/matmuls.h"
#include "workloads/hlo/traffic.h"
#include "workloads/hlo/trips.h"
#include "workloads/hlo/unpartitioned.h"

namespace podsim::workloads::hlo {
namespace {

bool names(const Instruction& instruction, std::string_view text) {
    return instruction.op_name().find(text) != std::string_view::npos;
}

/// True if it is part of the program, not the inside of a fusion whose caller was cut off.
bool runs_kernels(const Computation& computation) {
    if (computation.name.starts_with("fused_computation")) {
        return false;  // XLA's name for fusions' insides
    }
    return std::ranges::any_of(computation.instructions, [](const Instruction& each) {
        return each.opcode == "fusion" || each.opcode == "custom-call" || each.opcode == "while" ||
               is_start(each) || is_collective_opcode(base_opcode(each));
    });
}

using KnownFacts = std::map<const Computation*, std::vector<ItemFacts>>;

/// Makes the facts of the items of one module's computations, for a number of devices.
class Facts {
public:
    Facts(const Module& module, const CostRules& rules, const Passes& passes, std::int64_t devices)
        : module_(module),
          rules_(rules),
          passes_(passes),
          devices_(devices),
          counts_(device_counts(module, devices)) {}

    [[nodiscard]] ItemFacts of(const Computation& computation, const Item& item) const {
        const Instruction& at = computation.instructions[item.members.back()];
        ItemFacts facts;
        facts.custom_call = at.opcode == "custom-call";
        facts.target = facts.custom_call ? at.text("custom_call_target") : std::string_view();
        if (item.doing == Doing::host_copy || item.doing == Doing::loop ||
            item.doing == Doing::call || item.doing == Doing::branches) {
            return facts;
        }
        for (const FoundCollective& collective : item.collectives) {
            facts.collectives.push_back(collective_facts(collective));
        }
        facts.pass = passes_.of(at);
        facts.attention = attention_of(computation, at).has_value();
        if (is_estimated(computation, at, rules_)) {
            facts.estimate = cost_estimate_of(at);
        }
        facts.unknown_call = is_unknown_call(computation, at, rules_);
        facts.unknown_opcodes = unknown_opcodes(module_, at);
        return facts;
    }

private:
    [[nodiscard]] ItemFacts::Collective collective_facts(const FoundCollective& collective) const {
        double size = static_cast<double>(devices_);
        std::string groups = "pairs";
        if (collective.operation != collectives::Operation::permute) {
            const Participants members = participants(module_, *collective.at, counts_);
            size = static_cast<double>(members.everybody ? devices_ : members.size);
            groups = members.digits ? iota_text(*members.digits, devices_) : "irregular";
        }
        return {
            .key = {std::string(collectives::to_string(collective.operation)), std::move(groups)},
            .result = collective.result,
            .parts = collective.was_all_reduce ? size : 1,
            .received = received(collective, size),
            .was_all_reduce = collective.was_all_reduce,
            .beyond = names_beyond(module_, *collective.at, counts_)};
    }

    [[nodiscard]] sim::Bytes received(const FoundCollective& collective, double size) const {
        const double others = size > 0 ? (size - 1) / size : 0;
        switch (collective.operation) {
            case collectives::Operation::all_reduce:
                return collective.stored * 2 * others;
            case collectives::Operation::permute:
                return moves(module_, *collective.at) ? collective.stored : sim::Bytes();
            case collectives::Operation::broadcast:
                return size > 1 ? collective.stored : sim::Bytes();
            default:
                return collective.stored * others;
        }
    }

    const Module& module_;
    const CostRules& rules_;
    const Passes& passes_;
    const std::int64_t devices_;
    const DeviceCounts counts_;
};

class Sum {
public:
    /// `known` is a cache of facts for the same devices.
    Sum(const Module& module, const CostRules& rules, const Passes& passes, std::int64_t devices,
        ModuleRun& run, KnownFacts& known)
        : module_(module), run_(run), make_(module, rules, passes, devices), known_(known) {
        totals_.devices = devices;
    }

    /// Returns the totals of one computation alone.
    Totals of(const Computation& computation) {
        add(computation, 1);
        return std::move(totals_);
    }

    Totals whole() {
        refuse_unpartitioned(module_);
        totals_.devices_stated = module_.stated_devices().has_value();
        for (const std::uint32_t entry : entries_of(module_)) {
            const Computation& computation = module_.computations[entry];
            for (const Instruction& each : computation.instructions) {
                if (each.opcode == "parameter") {
                    totals_.parameters += in_hbm(each.shape);
                }
            }
            add(computation, 1);
        }
        totals_.unknown_calls.assign(unknown_calls_.begin(), unknown_calls_.end());
        return std::move(totals_);
    }

private:
    const std::vector<ItemFacts>& facts(const Computation& computation,
                                        const std::vector<Item>& items) {
        const auto [entry, added] = known_.try_emplace(&computation);
        if (added) {
            for (const Item& item : items) {
                entry->second.push_back(make_.of(computation, item));
            }
        }
        return entry->second;
    }

    void add(const Computation& computation, double times) {
        totals_.left_out +=
            times * static_cast<double>(std::ranges::count_if(
                        computation.instructions, [](const Instruction& each) {
                            return (each.opcode == "send" || each.opcode == "recv") &&
                                   each.find("is_host_transfer") != "true";
                        }));
        const std::vector<Item>& items = run_.items(computation);
        const std::vector<ItemFacts>& of_items = facts(computation, items);
        for (std::size_t i = 0; i < items.size(); ++i) {
            const Item& item = items[i];
            const Instruction& at = computation.instructions[item.members.back()];
            switch (item.doing) {
                case Doing::loop:
                    add_loop(computation, at, times);
                    break;
                case Doing::call:
                    add_called(at, 0, times);
                    break;
                case Doing::branches:
                    ++totals_.branches;
                    add_longest_branch(at, times);
                    break;
                case Doing::host_copy:
                    totals_.host_copies += times;
                    totals_.host_bytes += item.bytes * times;
                    count_custom_call(at, of_items[i], times);
                    break;
                default:
                    add_item(at, item, of_items[i], times);
            }
        }
    }

    void add_called(const Instruction& at, std::size_t which, double times) {
        if (which < at.called.size() && at.called[which] != kNothing) {
            add(module_.computations[at.called[which]], times);
        }
    }

    void add_loop(const Computation& computation, const Instruction& at, double times) {
        constexpr double kStepsOfRow = 5000;  // for a row of the answer
        run_.budget().spend(at, kStepsOfRow + 10 * static_cast<double>(at.name.size()));
        const std::int64_t trips = run_.trips(computation, at);
        if (times * (static_cast<double>(trips) + 1) >= kMostRuns) {
            throw module_.error(at, "with the loops around it, it goes round 2^63 times or more");
        }
        totals_.loops.push_back({at.name, trips, times, at.line});
        const LoopParts parts = parts_of(module_, at);
        if (parts.condition != nullptr) {
            add(*parts.condition, times * static_cast<double>(trips + 1));
        }
        if (parts.body != nullptr) {
            add(*parts.body, times * static_cast<double>(trips));
        }
    }

    void add_longest_branch(const Instruction& at, double times) {
        if (const auto branch = run_.branch(at)) {
            add_called(at, *branch, times);
        }
    }

    void add_item(const Instruction& at, const Item& item, const ItemFacts& facts, double times) {
        const std::string pass(to_string(facts.pass));
        for (const ItemFacts::Collective& collective : facts.collectives) {
            add_collective(collective, pass, times);
        }
        if (item.doing == Doing::prefetch) {
            totals_.hbm += item.bytes * times;
            return;
        }
        totals_.hbm += item.work.hbm * times;
        totals_.vector += item.work.vector * times;
        if (item.work.flops.value() > 0) {
            totals_.flops_by_pass[pass] += item.work.flops * times;
        }
        if (facts.attention) {
            totals_.attention_flops += item.work.flops * times;
        } else if (facts.estimate) {
            totals_.estimated_flops += item.work.flops * times;
            totals_.estimated_calls += times;
            totals_.remote += sim::Bytes(facts.estimate->remote_bytes) * times;
        } else if (facts.custom_call && item.work.flops.value() > 0) {
            totals_.given_flops += item.work.flops * times;
        } else {
            totals_.matmul_flops += item.work.flops * times;
            totals_.matmuls += static_cast<double>(item.work.matmuls.size()) * times;
        }
        add_matmuls(item, times);
        count_custom_call(at, facts, times);
        for (const std::string& opcode : facts.unknown_opcodes) {
            totals_.unknown_opcodes[opcode] += times;
        }
    }

    void add_matmuls(const Item& item, double times) {
        for (const Matmul& matmul : item.matmuls) {
            MatmulTotal& total = totals_.matmul_types[matmul.types];
            total.count += times;
            total.flops += sim::Flops(matmul.flops()) * times;
            total.passes = matmul.passes;
            total.dtype = matmul.dtype;
            total.narrow = matmul.narrow;
        }
    }

    /// Looks the names up only once, because they may be long.
    void count_custom_call(const Instruction& at, const ItemFacts& facts, double times) {
        if (!facts.custom_call) {
            return;
        }
        const auto [entry, added] = custom_calls_.try_emplace(&at);
        if (added) {
            entry->second = &totals_.custom_calls[std::string(facts.target)];
            if (facts.unknown_call) {
                unknown_calls_.emplace(facts.target);
            }
        }
        *entry->second += times;
    }

    void add_collective(const ItemFacts::Collective& collective, const std::string& pass,
                        double times) {
        CollectiveTotal& total = totals_.collectives[collective.key];
        totals_.beyond_counts += collective.beyond ? times : 0;
        total.count += times;
        total.result += collective.result * (times / collective.parts);
        total.received += collective.received * times;
        total.was_all_reduce += collective.was_all_reduce ? times : 0;
        total.passes[pass] += times;
    }

    const Module& module_;
    ModuleRun& run_;
    const Facts make_;
    KnownFacts& known_;
    Totals totals_;
    std::map<const Instruction*, double*> custom_calls_;  ///< rows of totals_
    std::set<std::string> unknown_calls_;
};

}  // namespace

std::int64_t devices_of(const Module& module) {
    return device_counts(module).devices();
}

Passes::Passes(const Module& module)
    : trains_(std::ranges::any_of(module.computations, [](const Computation& computation) {
          return std::ranges::any_of(computation.instructions, [](const Instruction& each) {
              return names(each, "transpose(");
          });
      })) {}

Pass Passes::of(const Instruction& instruction) const {
    if (names(instruction, "rematted_computation")) {
        return Pass::recompute;
    }
    if (names(instruction, "transpose(")) {
        return Pass::backward;
    }
    return names(instruction, "jvp(") || !trains_ ? Pass::forward : Pass::optimizer;
}

ModuleRun::ModuleRun(const Module& module, const CostRules& rules, const GivenTrips& given)
    : module_(module),
      rules_(rules),
      given_(given),
      passes_(module),
      devices_(devices_of(module)),
      items_(module, rules) {}

std::int64_t ModuleRun::trips(const Computation& computation, const Instruction& loop) {
    if (const auto known = trips_.find(&loop); known != trips_.end()) {
        return known->second;
    }
    const auto given = given_.find(loop.name);
    const auto trips =
        given != given_.end() ? std::optional(given->second) : trips_of(module_, computation, loop);
    if (!trips) {
        throw module_.error(loop, "the text does not tell how often this loop goes round",
                            fmt::format("say --trips {}=N", loop.name));
    }
    trips_[&loop] = *trips;
    return *trips;
}

std::optional<std::uint32_t> ModuleRun::branch(const Instruction& conditional) {
    if (const auto found = branches_.find(&conditional); found != branches_.end()) {
        return found->second;
    }
    std::optional<std::uint32_t> longest;
    std::pair<double, double> most{-1, -1};
    for (std::uint32_t branch = 0; branch < conditional.called.size(); ++branch) {
        if (conditional.called[branch] == kNothing) {
            continue;
        }
        Sum sum(module_, rules_, passes_, devices_, *this, facts_);
        const Totals of = sum.of(module_.computations[conditional.called[branch]]);
        double bytes = of.hbm.value() + of.host_bytes.value();
        for (const auto& [key, total] : of.collectives) {
            bytes += total.received.value();
        }
        const std::pair<double, double> size{
            (of.matmul_flops + of.attention_flops + of.given_flops + of.estimated_flops).value(),
            bytes};
        if (size > most) {
            most = size;
            longest = branch;
        }
    }
    branches_[&conditional] = longest;
    return longest;
}

std::vector<std::uint32_t> entries_of(const Module& module) {
    if (module.entry != kNothing) {
        return {module.entry};
    }
    std::vector<bool> called(module.computations.size());
    for (const Computation& computation : module.computations) {
        for (const Instruction& each : computation.instructions) {
            for (const std::uint32_t callee : each.called) {
                if (callee != kNothing) {
                    called[callee] = true;
                }
            }
        }
    }
    const bool fused = is_fused(module);
    std::vector<std::uint32_t> entries;
    for (std::uint32_t i = 0; i < called.size(); ++i) {
        if (!called[i] && (!fused || runs_kernels(module.computations[i]))) {
            entries.push_back(i);
        }
    }
    return entries;
}

Totals totals_of(const Module& module, const CostRules& rules, const GivenTrips& given,
                 std::int64_t devices) {
    ModuleRun run(module, rules, given);
    const Passes passes(module);
    KnownFacts known;
    return Sum(module, rules, passes, devices > 0 ? devices : devices_of(module), run, known)
        .whole();
}

}  // namespace podsim::workloads::hlo
