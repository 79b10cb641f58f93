// Slices, models, plans and programs whose estimates are worked out by hand.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "topology/lattice/lattice.h"
#include "workloads/models/model.h"
#include "workloads/plan/plan.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads::samples {

/// A rate that never bounds the time.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

inline topology::Lattice torus(int x, int y = 1, int z = 1) {
    return {{x, y, z}, {true, true, true}, {}};
}

inline topology::Lattice one_ring(int length) {
    return {{length, 1, 1}, {true, false, false}, {}};
}

/// D = 1024, F = 4096 plain, N = K = 8, H = 128, V = 8192: attention has 2^22 parameters (Q, K, V,
/// out 2^20 each), the MLP 2^23, P = 3 x 2^22, the table 2^23.
inline ModelSpec book_model(std::int64_t layers) {
    return {.name = "book",
            .source = "this test",
            .layers = layers,
            .d_model = 1024,
            .d_ff = 4096,
            .heads = 8,
            .kv_heads = 8,
            .head_dim = 128,
            .vocabulary = 8192,
            .gated_mlp = false};
}

inline TrainingPlan book_plan(std::int64_t tokens) {
    TrainingPlan plan;
    plan.batch.tokens = tokens;
    plan.batch.sequence = 4096;
    plan.remat.policy = RematPolicy::none;
    return plan;
}

inline StepProgram program_of(std::vector<Work> works) {
    StepProgram program;
    for (Work& work : works) {
        program.ops.push_back({"op", Pass::forward, 0, std::move(work), {}});
    }
    return program;
}

}  // namespace podsim::workloads::samples
