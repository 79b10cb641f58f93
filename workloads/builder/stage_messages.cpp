#include "workloads/builder/stage_messages.h"

#include <utility>

#include "workloads/builder/row_exchange.h"

namespace podsim::workloads {

void StageMessages::begin_unit() {
    unit_before_began_ = std::exchange(unit_began_, chain_.last());
}

Tensor StageMessages::receive_rows(std::string_view what, Handover handover) {
    handover.bytes = sim::Bytes(own_row_bytes(shard_));
    Sources after;
    if (unit_before_began_ != kWholeStep) {
        after.push_back(unit_before_began_);
    }
    const OpIndex received = chain_.beside(names_.label(what), handover, {{}, after, after});
    chain_.continue_behind(received);
    return {received, received, {received}};
}

void StageMessages::send_rows(std::string_view what, Handover handover, const Tensor& rows) {
    handover.bytes = sim::Bytes(own_row_bytes(shard_));
    buffers_.hold_between(
        MemoryClass::buffers, own_row_bytes(shard_), chain_.last(),
        chain_.beside(names_.label(what), handover, {rows.made_by, {}, chain_.end()}));
}

}  // namespace podsim::workloads
