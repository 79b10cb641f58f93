// What goes between the stages of a pipeline: this chip's rows, and a tied table's gradients.
#pragma once

#include <string_view>

#include "workloads/chain/chain.h"
#include "workloads/chain/held_buffers.h"
#include "workloads/work/work.h"

namespace podsim::workloads {

class StageMessages {
public:
    StageMessages(const Shard& shard, const OpNames& names, Chain& chain, HeldBuffers& buffers)
        : shard_(shard), names_(names), chain_(chain), buffers_(buffers) {}

    /// At the beginning of each unit of the stage's order.
    void begin_unit();
    /// This chip's rows from the counterpart that sends the message: the next operation of the chain waits
    /// for them. They are asked for when the unit before this one begins.
    Tensor receive_rows(std::string_view what, Handover handover);
    /// Something else, of the handover's own bytes.
    Tensor receive(std::string_view what, const Handover& handover);
    void send(std::string_view what, const Handover& handover, const Tensor& sent);
    /// This chip's rows to the counterpart; the chain goes on. They are held until they have arrived.
    void send_rows(std::string_view what, Handover handover, const Tensor& rows);

private:
    const Shard& shard_;
    const OpNames& names_;
    Chain& chain_;
    HeldBuffers& buffers_;
    OpIndex unit_began_ = kWholeStep;  ///< the chain's end then
    OpIndex unit_before_began_ = kWholeStep;
};

}  // namespace podsim::workloads
