#include "scenarios/simulate/step_result.h"

#include <variant>

namespace podsim::scenarios {
namespace {

/// `compute`, `offload`, or what a collective or handover is for.
std::string track_of(const workloads::Op& op) {
    if (const auto* collective = std::get_if<workloads::Collective>(&op.work)) {
        return std::string(workloads::to_string(collective->purpose));
    }
    if (const auto* handover = std::get_if<workloads::Handover>(&op.work)) {
        return std::string(workloads::to_string(handover->purpose));
    }
    return std::holds_alternative<workloads::HostTransfer>(op.work) ? "offload" : "compute";
}

}  // namespace

std::vector<Span> spans_of(const ReportedChip& chip) {
    std::vector<Span> spans;
    if (chip.programs == nullptr) {
        return spans;
    }
    const std::vector<workloads::Op>& ops = chip.programs->programs[chip.program].ops;
    spans.reserve(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
        spans.push_back({.name = ops[i].name,
                         .track = track_of(ops[i]),
                         .start = chip.run.began[i],
                         .end = chip.run.ended[i]});
    }
    return spans;
}

}  // namespace podsim::scenarios
