#include "workloads/builder/stage_messages.h"

#include <utility>

#include "workloads/builder/row_exchange.h"

namespace podsim::workloads {

void StageMessages::begin_unit() {
    unit_before_began_ = std::exchange(unit_began_, chain_.last());
}

Tensor StageMessages::receive(std::string_view what, const Handover& handover) {
    Sources after;
    if (unit_before_began_ != kWholeStep) {
        after.push_back(unit_before_began_);
    }
    const OpIndex received = chain_.beside(names_.label(what), handover, {{}, after, after});
    chain_.continue_behind(received);
    return {received, received, {received}};
}

void StageMessages::send(std::string_view what, const Handover& handover, const Tensor& sent) {
    buffers_.hold_between(
        MemoryClass::buffers, handover.bytes.value(), chain_.last(),
        chain_.beside(names_.label(what), handover, {sent.made_by, {}, chain_.end()}));
}

Tensor StageMessages::receive_rows(std::string_view what, Handover handover) {
    handover.bytes = sim::Bytes(own_row_bytes(shard_));
    return receive(what, handover);
}

void StageMessages::send_rows(std::string_view what, Handover handover, const Tensor& rows) {
    handover.bytes = sim::Bytes(own_row_bytes(shard_));
    send(what, handover, rows);
}

}  // namespace podsim::workloads
