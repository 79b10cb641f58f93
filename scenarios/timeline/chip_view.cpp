#include "scenarios/timeline/chip_view.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "scenarios/explain/imbalance.h"
#include "scenarios/spec/training_step.h"

namespace podsim::scenarios {

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
