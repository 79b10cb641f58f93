#include "scenarios/src/report/chip_view.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "scenarios/src/report/op_text.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/step_result.h"

namespace podsim::scenarios {
namespace {

using workloads::Pass;

std::string name_of(const workloads::Op& op) {
    if (op.layer >= 0 || op.pass == Pass::optimizer) {
        return std::string(workloads::to_string(op.pass));
    }
    const std::string name = short_name(op);
    return name.substr(0, name.find(' '));
}

bool same_pass(const LayerPass& one, const workloads::Op& op) {
    return one.pass == op.pass && one.layer == op.layer && one.microbatch == microbatch_of(op) &&
           (op.layer >= 0 || one.name == name_of(op));
}

bool goes_on(const LayerPass& one, const LayerPass& next) {
    const auto backward = [](Pass pass) {
        return pass == Pass::recompute || pass == Pass::backward;
    };
    return one.layer == next.layer && one.microbatch == next.microbatch && backward(one.pass) &&
           backward(next.pass);
}

}  // namespace

std::vector<LayerPass> layer_passes(const workloads::StepProgram& program, const ChipRun& chip) {
    std::vector<LayerPass> passes;
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
        const workloads::Op& op = program.ops[i];
        if (!std::holds_alternative<workloads::Compute>(op.work)) {
            continue;
        }
        if (passes.empty() || !same_pass(passes.back(), op)) {
            passes.push_back({.name = name_of(op),
                              .pass = op.pass,
                              .layer = op.layer,
                              .microbatch = microbatch_of(op),
                              .from = chip.began[i],
                              .until = chip.ended[i]});
        }
        passes.back().until = chip.ended[i];
    }
    return passes;
}

std::vector<SteadyWindow> steady_windows(const std::vector<LayerPass>& passes) {
    std::vector<SteadyWindow> windows;
    for (const Pass pass : {Pass::forward, Pass::backward}) {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < passes.size(); ++i) {
            if (passes[i].pass == pass && passes[i].layer >= 0) {
                found.push_back(i);
            }
        }
        if (found.empty()) {
            continue;
        }
        const std::size_t middle = found[found.size() / 2];
        std::size_t first = middle;
        std::size_t last = middle;
        while (first > 0 && goes_on(passes[first - 1], passes[first])) {
            --first;
        }
        while (last + 1 < passes.size() && goes_on(passes[last], passes[last + 1])) {
            ++last;
        }
        windows.push_back({.from = first == 0 ? sim::Time{} : passes[first - 1].until,
                           .until = passes[last].until,
                           .layer = passes[middle].layer,
                           .pass = std::string(workloads::to_string(pass))});
    }
    std::ranges::sort(windows, {}, &SteadyWindow::from);
    return windows;
}

void TrackLog::track(TrackKind kind, std::string name) {
    sink_.track({kind, std::move(name)});
    ++tracks_;
}

void TrackLog::slice(workloads::OpIndex op, const Slice& slice) {
    of_op_[op] = {process_, tracks_ - 1, slice.start, slice.end};
    sink_.slice(slice);
}

ChipView::ChipView(const Scenario& of_scenario, const StepTrail& of_trail, std::size_t of_number,
                   bool all_of_it, OpArguments& its_arguments)
    : scenario(of_scenario),
      trail(of_trail),
      number(of_number),
      whole(all_of_it),
      arguments(its_arguments),
      program(trail.programs.programs[number]),
      chip(trail.run.partners.empty() ? trail.run.chips[number] : trail.run.partners[number]),
      passes(layer_passes(program, chip)),
      windows(steady_windows(passes)) {}

Interval ChipView::time_of(workloads::OpIndex op) const {
    const auto* const handover = std::get_if<workloads::Handover>(&program.ops[op].work);
    const bool receives = handover != nullptr && !handover->sends;
    return {receives ? chip.sent[op] : chip.began[op], chip.ended[op]};
}

bool ChipView::shows(Interval time) const {
    return whole || std::ranges::any_of(windows, [&](const SteadyWindow& window) {
               return time.from < window.until && time.until > window.from;
           });
}

Slice ChipView::slice_of(workloads::OpIndex op) const {
    const Interval time = time_of(op);
    return {.name = short_name(program.ops[op]),
            .category = std::string(category_of(program.ops[op])),
            .start = time.from,
            .end = time.until,
            .arguments = arguments.of(number, op)};
}

Process ChipView::process() const {
    const auto stage = static_cast<int>(trail.programs.stage(number));
    const std::string member = member_text(trail.programs, scenario.step().mesh, number);
    const topology::Places& folded = trail.step.layout.folded;
    const topology::Lattice& slice = scenario.hardware.slice;
    const topology::Point point =
        scenario.step().mesh.written().of(folded.point(chip.representative));
    std::string name = fmt::format(
        "/device:TPU:{}", folded.slice_of(chip.representative) * slice.size() + slice.index(point));
    if (trail.programs.stages > 1) {
        name += fmt::format(" stage {} of {}", stage, trail.programs.stages);
    }
    if (!member.empty()) {
        name += fmt::format("{} {}", trail.programs.stages > 1 ? "," : "", member);
    }
    return {.name = std::move(name),
            .stage = stage,
            .member = member,
            .end = trail.run.result.end,
            .steady = windows};
}

}  // namespace podsim::scenarios
