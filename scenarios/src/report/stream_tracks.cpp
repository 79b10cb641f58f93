#include "scenarios/src/report/stream_tracks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <string>

#include "scenarios/src/simulate/rates.h"
#include "workloads/bounds/compute_time.h"

namespace podsim::scenarios {
namespace {

void tell_layers(const ChipView& view, TrackLog& log) {
    log.track(TrackKind::layers, "Layers");
    for (const LayerPass& pass : view.passes) {
        if (pass.from == pass.until) {
            continue;
        }
        Slice slice{.name = pass.name,
                    .category = std::string(workloads::to_string(pass.pass)),
                    .start = pass.from,
                    .end = pass.until};
        slice.arguments.push_back({"pass", slice.category});
        if (pass.layer >= 0) {
            slice.arguments.push_back({"layer", std::int64_t{pass.layer}});
        }
        if (pass.microbatch >= 0) {
            slice.arguments.push_back({"microbatch", std::int64_t{pass.microbatch}});
        }
        log.slice(slice);
    }
}

/// Returns a wait of the stream as a slice.
Slice wait_of(const ChipView& view, const Stretch& stretch) {
    Slice slice{.name = stretch.name,
                .category = "wait",
                .start = stretch.from,
                .end = stretch.until,
                .arguments = {{"cause", stretch.name}}};
    if (stretch.op != workloads::kWholeStep) {
        const workloads::Op& op = view.program.ops[stretch.op];
        if (stretch.name != kBubble && stretch.name != kImbalance) {
            slice.name = "wait for " + short_name(op);
        }
        slice.arguments.push_back({"op", op.name});
    }
    return slice;
}

/// Returns the operations of a pass over a layer, and the waits between them, as one slice.
Slice whole_pass(const LayerPass& pass, std::int64_t operations, sim::Time waited) {
    Slice slice{.name = pass.name + " layer",
                .category = std::string(workloads::to_string(pass.pass)),
                .start = pass.from,
                .end = pass.until};
    if (pass.layer < 0) {
        slice.name = pass.name;
    } else {
        slice.arguments.push_back({"layer", std::int64_t{pass.layer}});
    }
    if (pass.microbatch >= 0) {
        slice.arguments.push_back({"microbatch", std::int64_t{pass.microbatch}});
    }
    slice.arguments.push_back({"operations", operations});
    slice.arguments.push_back({"waited_us", waited.seconds() * 1e6});
    return slice;
}

void tell_ops(const ChipView& view, TrackLog& log) {
    log.track(TrackKind::ops, "XLA Ops");
    const std::vector<Stretch> stream =
        stream_of(view.program, view.chip, view.trail.run.result.end);
    auto pass = view.passes.begin();
    for (auto stretch = stream.begin(); stretch != stream.end(); ++stretch) {
        while (pass != view.passes.end() && pass->until <= stretch->from) {
            ++pass;
        }
        const bool inside = pass != view.passes.end() && stretch->from >= pass->from;
        if (inside && !view.shows({pass->from, pass->until})) {
            const workloads::OpIndex first = stretch->op;
            sim::Time waited;
            std::int64_t operations = 0;
            const auto next = std::find_if(
                stretch, stream.end(), [&](const Stretch& one) { return one.from >= pass->until; });
            for (; stretch != next; ++stretch) {
                operations += stretch->busy ? 1 : 0;
                waited += stretch->busy ? sim::Time{} : stretch->until - stretch->from;
            }
            --stretch;
            log.slice(first, whole_pass(*pass, operations, waited));
        } else if (stretch->from == stretch->until) {
            continue;
        } else if (stretch->busy) {
            log.slice(stretch->op, view.slice_of(stretch->op));
        } else {
            log.slice(wait_of(view, *stretch));
        }
    }
}

/// Busy times of a chip's units for one operation.
struct Busy {
    sim::Time start;  ///< of the kernel
    std::array<sim::Time, 3> units;
};

/// Returns the busy times within the operation's interval: each unit's time alone, to the nearest
/// picosecond.
Busy busy_with(const workloads::Compute& work, const workloads::MachineRates& rates, double pace,
               Interval time) {
    const workloads::ComputeTime alone = workloads::compute_time(work, rates);
    const auto scaled = [&](sim::Seconds seconds, sim::Time most) {
        const double ps = seconds.value() * 1e12 * pace;
        return ps < static_cast<double>(most.ps) ? sim::Time{std::llround(ps)} : most;
    };
    const sim::Time before = scaled(alone.host + alone.start, time.until - time.from);
    const sim::Time rest = time.until - time.from - before;
    return {time.from + before,
            {scaled(alone.mxu_reached, rest), scaled(alone.vpu, rest), scaled(alone.hbm, rest)}};
}

void tell_units(const ChipView& view, TrackLog& log) {
    const AchievedHardware hardware(view.scenario.hardware);
    const workloads::MachineRates rates = achieved_rates(hardware);
    const std::vector<double>& slowdown = view.trail.step.workload.machine.slowdown;
    const double pace =
        pace_of_slowest_slice(hardware) *
        (slowdown.empty() ? 1
                          : slowdown[view.trail.step.layout.place_of(view.chip.representative)]);
    constexpr std::array<const char*, 3> kUnits{"MXU", "VPU", "HBM"};
    for (std::size_t unit = 0; unit < kUnits.size(); ++unit) {
        log.track(TrackKind::unit, kUnits.at(unit));
        for (std::size_t i = 0; i < view.program.ops.size(); ++i) {
            const workloads::Op& op = view.program.ops[i];
            const auto* const work = std::get_if<workloads::Compute>(&op.work);
            const Interval time = view.time_of(static_cast<workloads::OpIndex>(i));
            if (work == nullptr || !view.shows(time)) {
                continue;
            }
            const Busy busy = busy_with(*work, rates, pace, time);
            if (busy.units.at(unit).ps > 0) {
                log.slice({.name = short_name(op),
                           .category = std::string(workloads::to_string(op.pass)),
                           .start = busy.start,
                           .end = busy.start + busy.units.at(unit),
                           .arguments = {{"op", op.name}}});
            }
        }
    }
}

}  // namespace

void tell_stream(const ChipView& view, TrackLog& log) {
    log.track(TrackKind::steps, "Steps");
    const sim::Time end = view.trail.run.result.end;
    if (end.ps > 0) {
        log.slice({.name = "step",
                   .category = "step",
                   .start = {},
                   .end = end,
                   .arguments = {{"scenario", view.scenario.name}}});
    }
    tell_layers(view, log);
    tell_ops(view, log);
    tell_units(view, log);
}

std::vector<Flow> waits_of(const ChipView& view, const TrackLog& log) {
    std::vector<Flow> flows;
    const Stretch* before = nullptr;
    const std::vector<Stretch> stream =
        stream_of(view.program, view.chip, view.trail.run.result.end);
    for (const Stretch& stretch : stream) {
        if (stretch.busy && before != nullptr && !before->busy) {
            const bool known = before->op != workloads::kWholeStep;
            const Flow flow{known ? log.of(before->op) : Flow::End{}, log.of(stretch.op)};
            if (flow.from.start < flow.from.end && flow.to.start < flow.to.end) {
                flows.push_back(flow);
            }
        }
        before = &stretch;
    }
    return flows;
}

}  // namespace podsim::scenarios
