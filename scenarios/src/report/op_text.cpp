#include "scenarios/src/report/op_text.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collectives/catalogue/bounds.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/build_machine.h"
#include "scenarios/src/simulate/critical_path.h"
#include "scenarios/src/simulate/rates.h"
#include "scenarios/src/simulate/stream_account.h"
#include "workloads/bounds/compute_time.h"
#include "workloads/bounds/ici_traffic.h"

namespace podsim::scenarios {
namespace {

constexpr std::string_view kMicrobatch = "microbatch ";

/// Removes `word`, a number and a blank from the front, and returns the number; -1 if they are not
/// there.
int take_number(std::string_view& text, std::string_view word) {
    if (!text.starts_with(word)) {
        return -1;
    }
    int number = -1;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + word.size(), end, number);
    if (read.ec != std::errc{} || read.ptr == end || *read.ptr != ' ') {
        return -1;
    }
    text.remove_prefix(static_cast<std::size_t>(read.ptr + 1 - text.data()));
    return number;
}

/// Returns the name without microbatch, layer and pass, which are arguments.
std::string without_place(const workloads::Op& op) {
    std::string_view text = op.name;
    take_number(text, kMicrobatch);
    take_number(text, "layer ");
    if (text.starts_with("stage ")) {
        text.remove_prefix(std::string_view("stage ").size());
    }
    std::string name(text);
    const std::string pass = std::string(workloads::to_string(op.pass)) + " ";
    if (op.pass == workloads::Pass::optimizer) {
        return name;
    }
    if (const std::size_t at = name.find(pass); at != std::string::npos) {
        name.erase(at, pass.size());
    }
    return name;
}

std::string shapes_text(const std::vector<workloads::MatmulShape>& matmuls) {
    std::vector<workloads::MatmulShape> different;
    for (const workloads::MatmulShape& shape : matmuls) {
        const auto same = std::ranges::find_if(different, [&](const workloads::MatmulShape& one) {
            return one.m == shape.m && one.k == shape.k && one.n == shape.n;
        });
        if (same == different.end()) {
            different.push_back(shape);
        } else {
            same->count += shape.count;
        }
    }
    std::vector<std::string> texts;
    texts.reserve(different.size());
    for (const workloads::MatmulShape& shape : different) {
        texts.push_back(fmt::format("{}{:.10g}x{:.10g}x{:.10g}",
                                    shape.count == 1 ? "" : fmt::format("{:.10g} of ", shape.count),
                                    shape.m, shape.k, shape.n));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

double microseconds(sim::Seconds time) {
    return time.value() * 1e6;
}

}  // namespace

int microbatch_of(const workloads::Op& op) {
    std::string_view text = op.name;
    return take_number(text, kMicrobatch);
}

std::string short_name(const workloads::Op& op) {
    const auto* const collective = std::get_if<workloads::Collective>(&op.work);
    return collective == nullptr ? without_place(op)
                                 : fmt::format("{} {}", name_of(collective->operation),
                                               workloads::to_string(collective->purpose));
}

std::string_view category_of(const workloads::Op& op) {
    if (const auto* const collective = std::get_if<workloads::Collective>(&op.work)) {
        return workloads::to_string(collective->purpose);
    }
    if (const auto* const handover = std::get_if<workloads::Handover>(&op.work)) {
        return workloads::to_string(handover->purpose);
    }
    return std::holds_alternative<workloads::HostTransfer>(op.work) ? "offload"
                                                                    : to_string(op.pass);
}

std::string track_of(const workloads::Op& op) {
    if (const auto* const collective = std::get_if<workloads::Collective>(&op.work)) {
        return fmt::format("{} over {}", name_of(collective->operation),
                           fmt::join(collective->axes, "+"));
    }
    if (const auto* const handover = std::get_if<workloads::Handover>(&op.work)) {
        return handover->sends ? "Send" : "Receive";
    }
    if (const auto* const transfer = std::get_if<workloads::HostTransfer>(&op.work)) {
        return transfer->direction == collectives::HostDirection::to_host ? "Offload to host"
                                                                          : "Offload from host";
    }
    return "XLA Ops";
}

OpArguments::OpArguments(const Scenario& scenario, const StepTrail& trail)
    : trail_(trail),
      mesh_(scenario.step().mesh),
      hardware_(scenario.hardware),
      rates_(achieved_rates(hardware_)) {}

std::vector<Argument> OpArguments::of(std::size_t program, workloads::OpIndex index) {
    const workloads::Op& op = trail_.programs.programs[program].ops[index];
    std::vector<Argument> arguments{{"op", op.name},
                                    {"pass", std::string(workloads::to_string(op.pass))}};
    if (op.layer >= 0) {
        arguments.push_back({"layer", std::int64_t{op.layer}});
    }
    if (const int microbatch = microbatch_of(op); microbatch >= 0) {
        arguments.push_back({"microbatch", std::int64_t{microbatch}});
    }
    if (const auto* const work = std::get_if<workloads::Compute>(&op.work)) {
        add_compute(*work, arguments);
    } else if (const auto* const handover = std::get_if<workloads::Handover>(&op.work)) {
        arguments.push_back({"bytes", handover->bytes.value()});
        arguments.push_back({"peer", fmt::format("stage {}", handover->peer)});
    } else if (const auto* const transfer = std::get_if<workloads::HostTransfer>(&op.work)) {
        arguments.push_back({"bytes", transfer->bytes.value()});
    } else {
        add_collective(program, index, arguments);
    }
    return arguments;
}

void OpArguments::add_compute(const workloads::Compute& work,
                              std::vector<Argument>& arguments) const {
    arguments.push_back({"flops", work.flops.value()});
    arguments.push_back({"bytes", work.hbm.value()});
    if (!work.matmuls.empty()) {
        arguments.push_back({"shapes", shapes_text(work.matmuls)});
        arguments.push_back({"dtype", std::string(workloads::to_string(work.dtype))});
    }
    const workloads::ComputeTime time = workloads::compute_time(work, rates_);
    arguments.push_back({"bound", resource_of(work, rates_)});
    arguments.push_back({"bound_us", microseconds(std::max({time.mxu_reached, time.hbm, time.vpu,
                                                            time.beside, time.host}))});
}

void OpArguments::add_collective(std::size_t program, workloads::OpIndex index,
                                 std::vector<Argument>& arguments) {
    const auto& collective =
        std::get<workloads::Collective>(trail_.programs.programs[program].ops[index].work);
    std::int64_t members = 1;
    for (const std::string& axis : collective.axes) {
        members *= mesh_.size(axis);
    }
    const sim::Bytes bytes = collective.step ? collective.step->bytes : collective.bytes;
    arguments.push_back({"bytes", bytes.value()});
    arguments.push_back({"group", fmt::format("{}", fmt::join(collective.axes, "+"))});
    arguments.push_back({"members", members});
    if (collective.step) {
        arguments.push_back({"algorithm", std::string("one step of a ring")});
        return;
    }
    const std::uint32_t operation = trail_.step.workload.graphs[program].tasks[index].operation;
    const collectives::Algorithm algorithm = trail_.step.algorithms[operation];
    if (algorithm != collectives::Algorithm::automatic) {
        arguments.push_back({"algorithm", std::string(collectives::to_string(algorithm))});
    }
    arguments.push_back({"group_bound_us", microseconds(bound(collective))});
}

sim::Seconds OpArguments::bound(const workloads::Collective& collective) {
    const auto [entry, added] =
        bounds_.try_emplace({collective.operation, collective.axes, collective.bytes.value(),
                             collective.loads, collective.returning, collective.shift});
    if (added && collective.bytes.value() > 0) {
        const collectives::CollectiveCall call{
            .operation = collective.operation,
            .slice = hardware_.slice,
            .members = {mesh_.group(collective.axes), collective.loads.empty()
                                                          ? mesh_.across(collective.axes)
                                                          : topology::SliceFactor{}},
            .bytes = collective.bytes,
            .ends = workloads::ends_of(collective, hardware_.slice, mesh_)};
        entry->second = collectives::physical_bound(
            call, hardware_.chip.ici_one_way(hardware_.ici_rates), slice_links(hardware_));
    }
    return entry->second;
}

}  // namespace podsim::scenarios
