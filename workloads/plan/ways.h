// How many ways a step is shared out along each logical axis of the mesh.
#pragma once

namespace podsim::workloads {

struct Ways {
    int data = 1;     ///< replicated data parallelism (AllReduce of gradients)
    int fsdp = 1;     ///< fully-sharded data parallelism (ZeRO-3)
    int context = 1;  ///< context parallelism (sequence sharding, gathered KV)
    int tensor = 1;   ///< tensor parallelism
    /// Ways over the other dimension of weight matrices, D ("2-D weight-stationary"): a chip has a block of
    /// D / tensor_transpose by F / tensor of each, and activations travel over both axes.
    int tensor_transpose = 1;
    /// Inference: tensor parallelism beyond the key/value heads. Members split weights and query heads as those of
    /// `tensor` do, and hold the cache of different sequences, or of different parts of each (CacheSplit).
    int cache = 1;
    /// Ways of expert parallelism: each chip has 1/expert of every layer's routed experts, and tokens
    /// travel to them. For all other weights, and for the batch, this axis is one more of `fsdp`.
    int expert = 1;
    int pipeline =
        1;  ///< stages, each with an equal run of layers (or several, of Pipeline::chunks)

    /// T: chips that share out each weight matrix and its work.
    [[nodiscard]] int of_matrix() const { return tensor * tensor_transpose * cache; }
    /// All of them: the product.
    [[nodiscard]] double chips() const {
        return static_cast<double>(data) * fsdp * context * of_matrix() * expert * pipeline;
    }
    friend bool operator==(const Ways&, const Ways&) = default;
};

}  // namespace podsim::workloads
