#include "scenarios/src/search/operation_kinds.h"

#include <utility>
#include <variant>

namespace podsim::scenarios {
namespace {

/// Returns a number that distinguishes steps of the same bytes: by the factor, by whether all
/// members send, and by the direction.
std::size_t way_of(const collectives::RingStep& step) {
    return (static_cast<std::size_t>(step.factor) * 2 + (step.senders ? 1 : 0)) * 3 +
           static_cast<std::size_t>(step.direction + 1);
}

}  // namespace

std::uint32_t OperationKinds::of(const workloads::StepPrograms& programs, std::size_t program,
                                 const workloads::Op& op) {
    if (std::holds_alternative<workloads::Compute>(op.work)) {
        return kCompute;
    }
    Kind kind{op.work, program, 0};
    Key key{};
    if (const auto* collective = std::get_if<workloads::Collective>(&op.work)) {
        const bool step = collective->step.has_value();
        key = {step ? 1 : 0,
               static_cast<int>(collective->operation),
               collective->bytes.value(),
               step ? collective->step->bytes.value() : 0,
               collective->axes,
               collective->loads,
               collective->returning,
               collective->loads.empty() ? 0 : program,
               step ? way_of(*collective->step) : 0};
    } else if (const auto* handover = std::get_if<workloads::Handover>(&op.work)) {
        kind.peer = programs.peer(program, *handover);
        key = {
            2,        handover->sends ? 1 : 0, handover->bytes.value(), 0, {}, {}, false, program,
            kind.peer};
    } else {
        const auto& transfer = std::get<workloads::HostTransfer>(op.work);
        key = {3, static_cast<int>(transfer.direction), transfer.bytes.value(), 0, {}, {}, false, 0,
               0};
    }
    const auto [entry, added] =
        numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(kinds_.size()));
    if (added) {
        kinds_.push_back(std::move(kind));
    }
    return entry->second;
}

bool may_go_in_steps(const workloads::Collective& collective) {
    using collectives::Operation;
    return collective.purpose == workloads::Purpose::tensor && !collective.step &&
           (collective.operation == Operation::all_gather ||
            collective.operation == Operation::reduce_scatter);
}

}  // namespace podsim::scenarios
