// The parallelism of a step along each logical axis of the mesh.
#pragma once

namespace podsim::workloads {

struct Ways {
    int data = 1;     ///< replicated data parallelism (AllReduce of gradients)
    int fsdp = 1;     ///< fully-sharded data parallelism (ZeRO-3)
    int context = 1;  ///< context parallelism (sequence sharding, gathered KV)
    int tensor = 1;   ///< tensor parallelism
    /// Parallelism over the other dimension of weight matrices, D ("2-D weight-stationary"): a chip
    /// has a block of D / tensor_transpose by F / tensor of each, and activations travel over both
    /// axes.
    int tensor_transpose = 1;
    /// Inference: tensor parallelism beyond the key/value heads. Members split weights and query
    /// heads as those of `tensor` do. They hold the cache of different sequences, or of different
    /// segments of each (CacheSplit).
    int cache = 1;
    /// Expert parallelism: each chip has 1/expert of every layer's routed experts, and tokens
    /// travel to them. For all other weights, and for the batch, this axis is one more of `fsdp`.
    int expert = 1;
    /// Stages, each with an equal run of layers (or several, of Pipeline::chunks).
    int pipeline = 1;

    /// Returns T: the chips that divide each weight matrix and its work.
    [[nodiscard]] int of_matrix() const { return tensor * tensor_transpose * cache; }
    /// Returns the product of all axes.
    [[nodiscard]] double chips() const {
        return static_cast<double>(data) * fsdp * context * of_matrix() * expert * pipeline;
    }
    friend bool operator==(const Ways&, const Ways&) = default;
};

}  // namespace podsim::workloads
