// Tensors that stay with the host between the forward and the backward pass.
//
// A tensor of a layer goes to the host when it is there, and leaves HBM when the transfer has ended and this pass has
// read it. The first compute of use u waits for the transfers of use u - 1 - fetch, so that at most fetch + 1
// layers' tensors are on their way. It comes back for the use of the layer's backward pass, as weights do: after the last
// compute of the use fetch + 1 before, and the first compute of the use waits for it. (With stretches, the first that
// begins fetch or more after the use's end, fetch rounded up to layers; as the gather of the use's first stretch:
// weight_gathers.h.)
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/builder/weight_gathers.h"

namespace podsim::workloads {

class HostOffload {
public:
    HostOffload(const Overlap& overlap, const WeightGathers& weights, const OpNames& names,
                Chain& chain, HeldBuffers& buffers)
        : fetch_(overlap.fetch_layers),
          weights_(weights),
          names_(names),
          chain_(chain),
          buffers_(buffers) {}

    /// A tensor of the layer under way, there from `from` on, goes to the host and comes back before the layer's
    /// backward pass. `last_use` reads it last in this pass. Returns the buffer that it comes back to.
    BufferId offload(std::string_view name, double bytes, OpIndex from, const Sources& made_by,
                     OpIndex last_use);
    /// At the beginning of each stretch: issues the transfers that may start now.
    void begin_stretch();
    /// From here on a tensor is made by the transfer that brings it back, where one does.
    void bring_back(Tensor& tensor) const;

private:
    /// The tensors of one use of a layer that go to the host.
    struct Layer {
        struct Stored {
            std::string name;
            OpIndex from = kWholeStep;
            Sources made_by{};
            BufferId leaves = kNoBuffer;
            BufferId returns = kNoBuffer;
            OpIndex stored = kWholeStep;
        };
        std::size_t use = 0;   ///< that writes them
        std::size_t back = 0;  ///< that needs them again
        std::vector<Stored> tensors{};
        bool awaited = false;  ///< some use has waited until they were stored
        Sources fetched{};     ///< empty: not yet under way
    };

    /// The stretch that waits until a layer's tensors are stored, and the first in which they may come back.
    [[nodiscard]] std::size_t awaits(const Layer& layer) const;
    [[nodiscard]] std::size_t may_fetch(const Layer& layer) const;
    void store(Layer& layer);
    void fetch(Layer& layer);
    OpIndex transfer(std::size_t use, std::string_view what, collectives::HostDirection direction,
                     BufferId buffer, Chain::Waits waits);

    const double fetch_;  ///< Overlap::fetch_layers
    const WeightGathers& weights_;
    const OpNames& names_;
    Chain& chain_;
    HeldBuffers& buffers_;
    std::vector<Layer> away_;       ///< those that have not come back
    std::vector<bool> comes_back_;  ///< by buffer
};

}  // namespace podsim::workloads
