// The training step as a program for one chip: compute, collectives and their dependencies, no
// seconds.
//
// All chips run the same program (SPMD). Operations stand in program order; an operation may depend
// only on earlier ones. Compute operations run one after another in this order on the chip's
// compute stream; collectives run beside it as soon as their dependencies are met.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "collectives/operation.h"
#include "sim/quantity.h"

namespace podsim::workloads {

using OpIndex = std::uint32_t;

enum class Pass { forward, recompute, backward, optimizer };
std::string_view to_string(Pass pass);

/// `count` products of an m x k by a k x n matrix.
struct MatmulShape {
    double m = 0;
    double k = 0;
    double n = 0;
    double count = 1;
};

/// Work of one chip. FLOPs are those of the algorithm, without padding; 2 m k n a matmul unless
/// part of it is skipped (causal attention counts half). MXU time scales flops by the padding of
/// `matmuls`; HBM traffic overlaps with it inside the operation.
struct Compute {
    sim::Flops flops;
    std::vector<MatmulShape> matmuls;
    sim::Bytes hbm;
};

/// What a collective is for: decides its priority and the row of the report it appears in.
/// tensor, context and expert stand on the critical path, then weight gathers, then gradient reductions.
enum class Purpose { tensor, context, expert, weights, gradients };
std::string_view to_string(Purpose purpose);

struct Collective {
    collectives::Operation operation{};
    Purpose purpose{};
    std::vector<std::string> axes;  ///< logical mesh axes whose product is the group
    sim::Bytes bytes;               ///< V: the complete array within one group
};

struct Op {
    std::string name;  ///< `layer 3 forward gate_up`, for traces and reports
    Pass pass{};
    int layer = -1;  ///< -1: embedding, unembedding, optimizer
    std::variant<Compute, Collective> work;
    std::vector<OpIndex> after;  ///< operations that must have ended
};

enum class MemoryClass { parameters, gradients, optimizer, activations, gathered_weights, buffers };
std::string_view to_string(MemoryClass memory_class);

inline constexpr OpIndex kWholeStep = 0xffffffff;

/// Bytes held in one chip's HBM from the start of one operation to the end of another (the last to
/// end of `freed_after`).
struct Buffer {
    MemoryClass memory_class{};
    sim::Bytes bytes;
    OpIndex allocated_at = kWholeStep;  ///< kWholeStep: held from the start of the step
    std::vector<OpIndex> freed_after;   ///< empty: held to the end of the step
};

struct StepProgram {
    std::vector<Op> ops;
    std::vector<Buffer> buffers;
};

}  // namespace podsim::workloads
