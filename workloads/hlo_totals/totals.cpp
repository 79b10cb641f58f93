#include "workloads/hlo_totals/totals.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "workloads/hlo/device_counts.h"
#include "workloads/hlo_costs/attention_kernels.h"
#include "workloads/hlo_costs/cost_estimate.h"
#include "workloads/hlo_costs/matmuls.h"
#include "workloads/hlo_costs/traffic.h"
#include "workloads/hlo_totals/trips.h"
#include "workloads/hlo_totals/unpartitioned.h"

namespace podsim::workloads::hlo {
namespace {

bool names(const Instruction& instruction, std::string_view text) {
    return instruction.op_name().find(text) != std::string_view::npos;
}

/// Of a fused module: what is a part of the program, and not the inside of a fusion whose caller was cut off.
bool runs_kernels(const Computation& computation) {
    if (computation.name.starts_with("fused_computation")) {
        return false;  // XLA's name for them
    }
    return std::ranges::any_of(computation.instructions, [](const Instruction& each) {
        return each.opcode == "fusion" || each.opcode == "custom-call" || each.opcode == "while" ||
               is_start(each) || is_collective_opcode(base_opcode(each));
    });
}

class Sum {
public:
    /// Of one computation alone.
    Totals of(const Computation& computation) {
        add(computation, 1);
        return std::move(totals_);
    }

    Sum(const Module& module, const CostRules& rules, const GivenTrips& given, const Passes& passes,
        std::int64_t devices, LongestBranches& branches)
        : module_(module),
          rules_(rules),
          given_(given),
          passes_(passes),
          branches_(branches),
          counts_(device_counts(module, devices)) {
        totals_.devices = devices;
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
        std::ranges::sort(totals_.unknown_calls);
        totals_.unknown_calls.erase(
            std::unique(totals_.unknown_calls.begin(), totals_.unknown_calls.end()),
            totals_.unknown_calls.end());
        return std::move(totals_);
    }

private:
    const std::vector<Item>& items(const Computation& computation) {
        const auto [entry, added] = items_.try_emplace(&computation);
        if (added) {
            entry->second = items_of(module_, computation, rules_);
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
        for (const Item& item : items(computation)) {
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
                    count_custom_call(at, times);
                    break;
                default:
                    add_item(computation, item, times);
            }
        }
    }

    void add_called(const Instruction& at, std::size_t which, double times) {
        if (which < at.called.size() && at.called[which] != kNothing) {
            add(module_.computations[at.called[which]], times);
        }
    }

    void add_loop(const Computation& computation, const Instruction& at, double times) {
        const std::int64_t trips = trips_or_error(module_, computation, at, given_);
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
        if (const auto branch = branches_.of(at)) {
            add_called(at, *branch, times);
        }
    }

    void add_item(const Computation& computation, const Item& item, double times) {
        const Instruction& at = computation.instructions[item.members.back()];
        for (const FoundCollective& collective : item.collectives) {
            add_collective(at, collective, times);
        }
        if (item.doing == Doing::prefetch) {
            totals_.hbm += item.bytes * times;
            return;
        }
        totals_.hbm += item.work.hbm * times;
        totals_.vector += item.work.vector * times;
        const std::string pass(to_string(passes_.of(at)));
        if (item.work.flops.value() > 0) {
            totals_.flops_by_pass[pass] += item.work.flops * times;
        }
        if (attention_of(computation, at)) {
            totals_.attention_flops += item.work.flops * times;
        } else if (is_estimated(computation, at, rules_)) {
            const CostEstimate estimate = *cost_estimate_of(at);
            totals_.estimated_flops += item.work.flops * times;
            totals_.estimated_calls += times;
            totals_.remote += sim::Bytes(estimate.remote_bytes) * times;
        } else if (at.opcode == "custom-call" && item.work.flops.value() > 0) {
            totals_.given_flops += item.work.flops * times;
        } else {
            totals_.matmul_flops += item.work.flops * times;
            totals_.matmuls += static_cast<double>(item.work.matmuls.size()) * times;
        }
        add_matmuls(item, times);
        count_custom_call(at, times);
        if (is_unknown_call(computation, at, rules_)) {
            totals_.unknown_calls.emplace_back(at.text("custom_call_target"));
        }
        for (const std::string& opcode : unknown_opcodes(module_, at)) {
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

    void count_custom_call(const Instruction& at, double times) {
        if (at.opcode == "custom-call") {
            totals_.custom_calls[std::string(at.text("custom_call_target"))] += times;
        }
    }

    void add_collective(const Instruction& at, const FoundCollective& collective, double times) {
        const auto devices = static_cast<double>(totals_.devices);
        double size = devices;
        std::string groups = "pairs";
        if (collective.operation != collectives::Operation::permute) {
            const DeviceGroups read = participants(*collective.at, counts_);
            size = read.groups.empty() ? devices : static_cast<double>(read.groups.front().size());
            const auto digits = digits_of(read, totals_.devices);
            groups = digits ? iota_text(*digits, totals_.devices) : "irregular";
        }
        CollectiveTotal& total =
            totals_
                .collectives[{std::string(collectives::to_string(collective.operation)), groups}];
        totals_.beyond_counts += names_beyond(*collective.at, counts_) ? times : 0;
        total.count += times;
        total.result += collective.result * (times / (collective.was_all_reduce ? size : 1));
        total.received += received(collective, size) * times;
        total.was_all_reduce += collective.was_all_reduce ? times : 0;
        total.passes[std::string(to_string(passes_.of(at)))] += times;
    }

    /// Some device sends to another.
    static bool moves(const FoundCollective& permute) {
        const auto pairs = permute.at->find("source_target_pairs");
        return pairs && std::ranges::any_of(read_pairs(*pairs), [](const auto& pair) {
                   return pair.first != pair.second;
               });
    }

    static sim::Bytes received(const FoundCollective& collective, double size) {
        const double others = size > 0 ? (size - 1) / size : 0;
        switch (collective.operation) {
            case collectives::Operation::all_reduce:
                return collective.stored * 2 * others;
            case collectives::Operation::permute:
                return moves(collective) ? collective.stored : sim::Bytes();
            case collectives::Operation::broadcast:
                return size > 1 ? collective.stored : sim::Bytes();
            default:
                return collective.stored * others;
        }
    }

    const Module& module_;
    const CostRules& rules_;
    const GivenTrips& given_;
    const Passes& passes_;
    LongestBranches& branches_;
    const DeviceCounts counts_;
    Totals totals_;
    std::map<const Computation*, std::vector<Item>> items_;
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

std::int64_t trips_or_error(const Module& module, const Computation& computation,
                            const Instruction& loop, const GivenTrips& given) {
    if (const auto found = given.find(loop.name); found != given.end()) {
        return found->second;
    }
    if (const auto trips = trips_of(module, computation, loop)) {
        return *trips;
    }
    throw module.error(loop, "the text does not tell how often this loop goes round",
                       fmt::format("say --trips {}=N", loop.name));
}

LongestBranches::LongestBranches(const Module& module, const CostRules& rules,
                                 const GivenTrips& given)
    : module_(module),
      rules_(rules),
      given_(given),
      passes_(module),
      devices_(devices_of(module)) {}

std::optional<std::uint32_t> LongestBranches::of(const Instruction& conditional) {
    if (const auto found = known_.find(&conditional); found != known_.end()) {
        return found->second;
    }
    std::optional<std::uint32_t> longest;
    std::pair<double, double> most{-1, -1};
    for (std::uint32_t branch = 0; branch < conditional.called.size(); ++branch) {
        if (conditional.called[branch] == kNothing) {
            continue;
        }
        Sum sum(module_, rules_, given_, passes_, devices_, *this);
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
    known_[&conditional] = longest;
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
    LongestBranches branches(module, rules, given);
    const Passes passes(module);
    return Sum(module, rules, given, passes, devices > 0 ? devices : devices_of(module), branches)
        .whole();
}

}  // namespace podsim::workloads::hlo
