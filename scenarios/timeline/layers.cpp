#include "scenarios/timeline/layers.h"

#include <algorithm>

#include "scenarios/timeline/op_text.h"

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

}  // namespace podsim::scenarios
