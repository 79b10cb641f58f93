#include "scenarios/src/hlo/hlo_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <vector>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/report/machine_text.h"
#include "scenarios/src/report/shares_table.h"

namespace podsim::scenarios {
namespace {

using workloads::hlo::Totals;

constexpr std::size_t kMostInstructions = 10;

/// Writes a count of any size.
std::string whole(double count) {
    return fmt::format("{:.0f}", count);
}

std::string format_flops(sim::Flops flops) {
    return format_count(flops.value());
}

std::string module_line(const HloInput& input) {
    const workloads::hlo::Module& module = input.module;
    std::size_t instructions = 0;
    for (const auto& computation : module.computations) {
        instructions += computation.instructions.size();
    }
    return fmt::format("{}: {} instructions, {} computations, {}{}, {} device{}\n",
                       module.name.empty() ? module.file : module.name, instructions,
                       module.computations.size(),
                       module.is_scheduled() ? "scheduled" : "not scheduled",
                       workloads::hlo::is_fused(module) ? "" : ", not fused", input.devices,
                       input.devices == 1 ? "" : "s");
}

/// Notes the gaps in the text, because of which the numbers are less than those of the whole
/// module.
std::string gaps_in_text(const HloInput& input) {
    std::string text;
    const workloads::hlo::Module& module = input.module;
    if (module.cut_off) {
        text += "note: the text ends within a computation; what follows is of what is there\n";
    }
    if (!module.missing.empty()) {
        const std::size_t shown = std::min<std::size_t>(module.missing.size(), 3);
        text += fmt::format(
            "note: {} computations that are called are not in the text: {}{}\n",
            module.missing.size(),
            fmt::join(module.missing.begin(),
                      module.missing.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
            module.missing.size() > shown ? ", ..." : "");
    }
    if (module.entry == workloads::hlo::kNothing) {
        text +=
            "note: no entry; all computations that nothing calls count once, one after another\n";
    }
    return text;
}

std::string flops_table(const Totals& totals) {
    Table table;
    table.row({"FLOPs of a device", "", "share"});
    const double all =
        (totals.matmul_flops + totals.attention_flops + totals.given_flops + totals.estimated_flops)
            .value();
    const auto row = [&](const std::string& name, sim::Flops flops) {
        if (flops.value() > 0) {
            table.row({name, format_flops(flops),
                       fmt::format("{:.1f} %", 100 * flops.value() / std::max(all, 1.0))});
        }
    };
    row(fmt::format("  {} matmuls", whole(totals.matmuls)), totals.matmul_flops);
    for (const auto& [types, total] : totals.matmul_types) {
        if (total.passes > 1) {
            row(fmt::format("  of it {}, {} passes", types, total.passes), total.flops);
        }
    }
    row("  attention kernels", totals.attention_flops);
    row("  custom calls, as given", totals.given_flops);
    row("  custom calls, by their cost_estimate", totals.estimated_flops);
    if (totals.flops_by_pass.size() > 1) {
        for (const auto& [pass, flops] : totals.flops_by_pass) {
            row("  of it " + pass, flops);
        }
    }
    table.row({"  vector unit", format_flops(totals.vector), ""});
    return table.text(0) + fmt::format("HBM {} read and written, arguments {}\n",
                                       format_bytes(totals.hbm), format_bytes(totals.parameters));
}

std::string collectives_table(const Totals& totals) {
    if (totals.collectives.empty()) {
        return "no collectives\n";
    }
    Table table({1});
    table.row({"Collectives", "groups", "runs", "results", "a device receives"});
    for (const auto& [key, total] : totals.collectives) {
        table.row({"  " + key.first, key.second, whole(total.count), format_bytes(total.result),
                   format_bytes(total.received)});
    }
    std::string text = table.text(0);
    for (const auto& [key, total] : totals.collectives) {
        if (total.was_all_reduce > 0) {
            text += fmt::format(
                "  {} of {} reduce-scatters over {} are written as all-reduces of which only the "
                "device's slice is read\n",
                whole(total.was_all_reduce), whole(total.count), key.second);
        }
    }
    return text;
}

std::string beyond_header(double collectives) {
    return fmt::format(
        "the ids of {} collectives are beyond the header's counts and are taken as "
        "devices' numbers",
        whole(collectives));
}

std::string sent_by_kernels(sim::Bytes bytes) {
    return fmt::format("custom calls send {} to other chips themselves, which is not played",
                       format_bytes(bytes));
}

std::string others(const Totals& totals) {
    std::string text;
    for (const auto& loop : totals.loops) {
        text += fmt::format("loop {}: {} iterations\n", loop.name, loop.trips);
    }
    if (totals.host_copies > 0) {
        text += fmt::format("{} copies between chip and host, {}\n", whole(totals.host_copies),
                            format_bytes(totals.host_bytes));
    }
    for (const auto& [target, count] : totals.custom_calls) {
        const bool unknown = std::ranges::binary_search(totals.unknown_calls, target);
        text += fmt::format("custom call {}: {}{}\n", target, whole(count),
                            unknown ? ", of which only the bytes are known (--flops)" : "");
    }
    for (const auto& [opcode, count] : totals.unknown_opcodes) {
        text += fmt::format("instruction {}: {}, of which only the bytes are known\n", opcode,
                            whole(count));
    }
    if (totals.remote.value() > 0) {
        text += sent_by_kernels(totals.remote) + '\n';
    }
    if (totals.beyond_counts > 0) {
        text += beyond_header(totals.beyond_counts) + '\n';
    }
    if (totals.left_out > 0) {
        text += fmt::format("{} sends and receives between devices, which are not counted\n",
                            whole(totals.left_out));
    }
    if (totals.branches > 0) {
        text += fmt::format("{} conditionals: of each the branch of most FLOPs counts\n",
                            whole(totals.branches));
    }
    return text;
}

std::string mesh_lines(const HloRequest& request, const HloResult& result) {
    std::string text;
    for (const topology::LogicalAxis& axis : result.devices.mesh.axes()) {
        if (axis.size() == 1) {
            continue;
        }
        std::vector<std::string> factors;
        for (const topology::AxisFactor& factor : axis.factors) {
            const int length = factor.axis == topology::kSliceAxis
                                   ? request.hardware.slices
                                   : request.hardware.slice.length(factor.axis);
            factors.push_back(topology::to_string(factor, length));
        }
        text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", axis.name,
                            fmt::join(factors, " "), axis.size());
    }
    text = "mesh   " + (text.empty() ? std::string("one chip") : text) + '\n';
    if (result.devices.seen) {
        text +=
            "       axes as the groups show them, laid out as JAX lays out such sizes (--mesh "
            "says otherwise)\n";
    }
    if (const int cores = request.hardware.chip.devices.value; cores > 1) {
        text += fmt::format(
            "       a device of the module is taken for a whole chip, though JAX shows each of "
            "{}'s {} cores as one\n",
            request.hardware.chip.name, cores);
    }
    for (const std::string& axis : result.devices.unlike_jax) {
        text += fmt::format("       groups of {} have other members than JAX's here\n", axis);
    }
    return text;
}

std::string shares_section(const std::string& title, std::span<const Share> all, sim::Time whole) {
    std::vector<Share> shares = without_zeros(all);
    if (title == "Waits") {
        std::ranges::stable_sort(shares, std::greater(), &Share::time);
    }
    if (shares.empty()) {
        return {};
    }
    Table table;
    table.row({title, "ms", "% of step"});
    const sim::Time total = total_of(shares);
    const ShareColumns columns(shares, total);
    const auto percent = [&](sim::Time time) {
        return fmt::format("{:.1f}", 100 * time.seconds() / whole.seconds());
    };
    for (std::size_t i = 0; i < shares.size(); ++i) {
        std::vector<std::string> cells = columns.cells("  " + shares[i].name, i, i + 1);
        cells.back() = percent(shares[i].time);
        table.row(std::move(cells));
    }
    if (shares.size() > 1) {
        std::vector<std::string> cells = columns.cells("  sum", 0, shares.size());
        cells.back() = percent(total);
        table.row(std::move(cells));
    }
    return '\n' + table.text(0);
}

/// Returns the end of a long name, which says most.
std::string tail_of(const std::string& op_name) {
    constexpr std::size_t kMostLetters = 48;
    return op_name.size() <= kMostLetters
               ? op_name
               : "..." + op_name.substr(op_name.size() - kMostLetters + 3);
}

std::string instructions_section(const std::string& title, const std::vector<InstructionTime>& all,
                                 sim::Time whole, bool kernels) {
    if (all.empty()) {
        return {};
    }
    Table table({1, kernels ? std::size_t{6} : std::size_t{7}});
    std::vector<std::string> head{title, "", "runs", "ms", "% of step", "bytes", "from"};
    if (!kernels) {
        head.insert(head.begin() + 4, "waited for, ms");
    }
    table.row(head);
    for (std::size_t i = 0; i < std::min(all.size(), kMostInstructions); ++i) {
        const InstructionTime& one = all[i];
        const sim::Time of_step = kernels ? one.time : one.exposed;
        std::vector<std::string> cells{
            "  " + one.name,
            one.what,
            fmt::format("{:.0f}", one.runs),
            fmt::format("{:.3f}", 1e3 * one.time.seconds()),
            fmt::format("{:.1f}", 100 * of_step.seconds() / whole.seconds()),
            format_bytes(one.bytes),
            tail_of(one.op_name)};
        if (!kernels) {
            cells.insert(cells.begin() + 4, fmt::format("{:.3f}", 1e3 * one.exposed.seconds()));
        }
        table.row(std::move(cells));
    }
    std::string text = '\n' + table.text(0);
    if (all.size() > kMostInstructions) {
        text += fmt::format("  and {} more\n", all.size() - kMostInstructions);
    }
    return text;
}

/// Notes the assumptions that replace the module's own schedule and kernels.
std::string assumptions(const HloResult& result) {
    std::string text;
    const auto say = [&](const std::string& line) { text += "note: " + line + '\n'; };
    if (!result.scheduled) {
        say("the module is not scheduled: kernels in the order of the text, each collective as "
            "soon "
            "as what it reads is there; the compiler's schedule may overlap more or less");
    }
    if (!result.fused) {
        say("the module is not fused: neighbouring elementwise instructions are taken as one "
            "kernel");
    }
    if (result.open_permutes > 0) {
        say(fmt::format("{} permutes end at an edge of their axis and are played as if closed",
                        static_cast<std::int64_t>(result.open_permutes)));
    }
    if (result.reordered_permutes > 0) {
        say(
            fmt::format("{} permutes shift along chips counted by x, y and z, not in the mesh's "
                        "order",
                        static_cast<std::int64_t>(result.reordered_permutes)));
    }
    for (const auto& [types, total] : result.matmul_types) {
        if (total.passes > 1) {
            say(fmt::format("{} matmuls of {} take {} passes of bf16 each", whole(total.count),
                            types, total.passes));
        }
    }
    for (const auto& [types, count] : result.in_bf16) {
        say(
            fmt::format("{} matmuls of {} are computed in bf16: the chip's MXU does not take these "
                        "types",
                        whole(count), types));
    }
    if (result.estimated_calls > 0) {
        say(fmt::format("FLOPs and bytes of {} custom calls are those of their cost_estimate",
                        whole(result.estimated_calls)));
    }
    if (result.remote.value() > 0) {
        say(sent_by_kernels(result.remote));
    }
    if (result.beyond_counts > 0) {
        say(beyond_header(result.beyond_counts));
    }
    if (!result.unknown_calls.empty()) {
        say(fmt::format("of custom calls {} only the bytes are known (--flops REGEX=N)",
                        fmt::join(result.unknown_calls, ", ")));
    }
    if (!result.unknown_opcodes.empty()) {
        std::vector<std::string> opcodes;
        for (const auto& [opcode, unused] : result.unknown_opcodes) {
            opcodes.push_back(opcode);
        }
        say(fmt::format("of instructions {} only the bytes are known", fmt::join(opcodes, ", ")));
    }
    if (result.left_out > 0) {
        say(fmt::format("{} sends and receives between devices are left out",
                        static_cast<std::int64_t>(result.left_out)));
    }
    if (result.ragged > 0) {
        say(fmt::format("{} ragged all-to-alls are played with the whole of their buffers",
                        static_cast<std::int64_t>(result.ragged)));
    }
    return text;
}

}  // namespace

std::string totals_report(const HloInput& input, const Totals& totals) {
    return module_line(input) + gaps_in_text(input) + '\n' + flops_table(totals) + '\n' +
           collectives_table(totals) + '\n' + others(totals);
}

std::string hlo_report(const HloRequest& request, const HloResult& result, double wall_time_s) {
    const double seconds = result.step_time.seconds();
    const auto percent = [&](sim::Time part) {
        return fmt::format("{:.0f} %", seconds > 0 ? 100 * part.seconds() / seconds : 0.0);
    };
    std::string text = module_line(request.input) + gaps_in_text(request.input);
    text += fmt::format(
        "slice  {}, profile {}{}{}\n", slice_text(request.hardware), request.hardware.profile,
        request.hardware.profile_version.empty() ? "" : "@", request.hardware.profile_version);
    text += mesh_lines(request, result);
    text += fmt::format("\nstep time {}\n", format_time(seconds));
    text += fmt::format("  compute {}, {} of the step; it waits {}\n",
                        format_time(result.compute.seconds()), percent(result.compute),
                        format_time(result.exposed_total.seconds()));
    text += fmt::format(
        "  bound by {}: no schedule of these operations takes less than {}; at ideal rates, one "
        "after the other, they take {}\n",
        result.lower.bound, format_time(result.lower.time.value()),
        format_time(result.serial.value()));
    text += fmt::format("  executed FLOPs {} a device, {} of the peak\n",
                        format_flops(result.flops), format_percent(result.hfu));
    text += fmt::format("  arguments {} of {} of HBM; what else is held is not followed\n",
                        format_bytes(result.arguments), format_bytes(result.capacity));
    if (result.breakdown.size() > 1) {
        text += shares_section("Compute by pass", result.breakdown, result.step_time);
    }
    text += shares_section("Waits", result.exposed, result.step_time);
    text += shares_section("Critical path", result.critical_path, result.step_time);
    text += shares_section("Gap: step - bound", result.gap, result.step_time);
    text += instructions_section("Longest kernels", result.kernels, result.step_time, true);
    text +=
        instructions_section("Collectives and copies", result.collectives, result.step_time, false);
    text += '\n' + links_report(result.links) + '\n' + assumptions(result);
    return text + effort_line(result.simulated_chips, request.hardware.chips(), result.events,
                              {.simulated_s = wall_time_s}, result.played_events);
}

}  // namespace podsim::scenarios
