// Scenarios built in code, for the tests of whole steps.
#pragma once

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/simulate.h"
#include "topology/chips/chip.h"

namespace podsim::scenarios::samples {

/// Logical axes with their factors.
using Mesh = std::vector<std::pair<std::string, std::string>>;

/// Returns a scenario on a catalogue chip. Factor texts give its mesh, which fixes the parallelism.
inline Scenario make_scenario(const std::string& chip, topology::Point shape,
                              const workloads::ModelSpec& model, const Mesh& mesh,
                              std::int64_t sequences, std::int64_t sequence, int slices = 1) {
    Scenario scenario;
    scenario.hardware.chip = topology::find_chip(chip);
    scenario.hardware.shape = shape;
    scenario.hardware.slice = topology::make_slice(scenario.hardware.chip, shape, false);
    scenario.hardware.slices = slices;
    scenario.step().model = model;
    std::vector<topology::LogicalAxis> axes;
    for (const auto& [name, factors] : mesh) {
        axes.push_back({name, topology::parse_factors(factors, scenario.hardware.slice, slices)});
    }
    scenario.step().mesh = topology::DeviceMesh(scenario.hardware.slice, axes, slices);
    workloads::TrainingPlan& plan = scenario.step().plan;
    plan.ways.data = scenario.step().mesh.size("data");
    plan.ways.fsdp = scenario.step().mesh.size("fsdp");
    plan.ways.context = scenario.step().mesh.size("context");
    plan.ways.tensor = scenario.step().mesh.size("tensor");
    plan.ways.tensor_transpose = scenario.step().mesh.size("tensor_transpose");
    plan.ways.expert = scenario.step().mesh.size("expert");
    plan.batch.sequence = sequence;
    plan.batch.tokens = sequences * sequence;
    return scenario;
}

/// Returns a small model whose heads, widths and vocabulary divide by 4.
inline workloads::ModelSpec small_model(std::int64_t layers) {
    workloads::ModelSpec model;
    model.name = "small";
    model.layers = layers;
    model.d_model = 512;
    model.d_ff = 2048;
    model.heads = 8;
    model.kv_heads = 4;
    model.head_dim = 64;
    model.vocabulary = 4096;
    return model;
}

/// Returns the two-matmul layer of the reference text, In[B, D] x W_in[D, F] x W_out[F, D] with
/// D = 8192: one gather and one scatter of a parallel block, and hardly anything else.
inline workloads::ModelSpec two_matmuls(std::int64_t layers, std::int64_t d_ff) {
    workloads::ModelSpec model;
    model.name = "two matmuls";
    model.layers = layers;
    model.d_model = 8192;
    model.d_ff = d_ff;
    model.heads = model.kv_heads = 16;
    model.head_dim = 1;
    model.vocabulary = 16;
    model.gated_mlp = false;
    model.parallel_block = true;
    return model;
}

/// Returns a model with routed experts beside a shared one, behind a dense layer.
inline workloads::ModelSpec small_experts(std::int64_t layers) {
    workloads::ModelSpec model = small_model(layers);
    model.experts = {.count = 16, .per_token = 2, .shared = 1, .d_ff = 512, .first_dense = 1};
    return model;
}

/// Leaves only matmuls at their peak: no padding, HBM and vector unit infinitely fast.
inline void leave_math_alone(topology::ChipSpec& chip) {
    chip.mxu_dimension.value = 1;
    chip.hbm_bandwidth.value = sim::BytesPerSecond::infinity();
    chip.vpu_flops.value = sim::FlopsPerSecond::infinity();
}

/// As leave_math_alone; links cost nothing either, and a FLOP takes a picosecond.
inline void count_flops(topology::ChipSpec& chip) {
    leave_math_alone(chip);
    chip.ici_latency.value = sim::Seconds(0);
    chip.ici_one_way_book.value = sim::BytesPerSecond::infinity();
    chip.collective_launch.value = sim::Seconds(0);
    chip.bf16_flops.value = sim::FlopsPerSecond(1e12);
}

inline sim::Time sum(const std::vector<Share>& shares) {
    return std::accumulate(shares.begin(), shares.end(), sim::Time{},
                           [](sim::Time total, const Share& share) { return total + share.time; });
}

/// Returns picoseconds rounded up, as simulated times are; bounds are rounded down.
inline std::int64_t ceil_ps(double seconds) {
    return sim::round_up(sim::Seconds(seconds)).ps;
}
inline std::int64_t floor_ps(sim::Seconds seconds) {
    return sim::round_down(seconds).ps;
}

/// Returns the first operation of that name.
inline Span span_of(const StepResult& result, const std::string& name) {
    const std::vector<Span> spans = spans_of(result.reported_chip);
    const auto found = std::ranges::find(spans, name, &Span::name);
    if (found == spans.end()) {
        ADD_FAILURE() << "no operation " << name;
        return {};
    }
    return *found;
}

/// Returns the start of the first compute operation whose name is or begins with `name`.
inline double start_of(const StepResult& result, const std::string& name) {
    const std::vector<Span> spans = spans_of(result.reported_chip);
    const auto found = std::ranges::find_if(spans, [&](const Span& span) {
        return span.track == "compute" && span.name.starts_with(name);
    });
    if (found == spans.end()) {
        ADD_FAILURE() << "no " << name;
        return 0;
    }
    return found->start.seconds();
}

/// Expects that compute and waits, the critical path and the gap add up exactly, and that the
/// bound holds.
inline void expect_exact_sums(const StepResult& result) {
    EXPECT_EQ(result.compute + result.exposed_total, result.step_time);
    EXPECT_EQ(sum(result.exposed), result.exposed_total);
    EXPECT_EQ(sum(result.critical_path), result.step_time);
    EXPECT_GE(result.step_time.seconds(), result.lower.time.value());
    EXPECT_EQ(sum(result.gap), result.step_time - sim::round_down(result.lower.time));
}

/// Expects that the reported chips do each operation at the same times.
inline void expect_same_spans(const StepResult& one, const StepResult& other) {
    const std::vector<Span> ones = spans_of(one.reported_chip);
    const std::vector<Span> others = spans_of(other.reported_chip);
    ASSERT_GT(ones.size(), 0U);
    ASSERT_EQ(ones.size(), others.size());
    for (std::size_t i = 0; i < ones.size(); ++i) {
        EXPECT_EQ(ones[i].start, others[i].start) << ones[i].name;
        EXPECT_EQ(ones[i].end, others[i].end) << ones[i].name;
    }
}

/// Expects the same step, to the picosecond, with fold on and off, memory and spans of the reported
/// chip included, and exact sums. Returns the folded one.
inline StepResult expect_folded_equals_unfolded(const Scenario& scenario) {
    const StepResult folded = simulate_step(scenario, Fold::automatic);
    const StepResult whole = simulate_step(scenario, Fold::off);
    EXPECT_EQ(folded.step_time, whole.step_time);
    EXPECT_EQ(whole.events * static_cast<std::uint64_t>(folded.simulated_chips),
              folded.events * static_cast<std::uint64_t>(whole.simulated_chips));
    EXPECT_EQ(folded.memory.peak, whole.memory.peak);
    EXPECT_EQ(folded.memory.member, whole.memory.member);
    EXPECT_EQ(folded.reported_member, whole.reported_member);
    expect_same_spans(folded, whole);
    for (const Share& share : whole.exposed) {
        const auto found = std::ranges::find(folded.exposed, share.name, &Share::name);
        EXPECT_TRUE(found != folded.exposed.end() && found->time == share.time) << share.name;
    }
    EXPECT_EQ(folded.links.size(), whole.links.size());
    for (std::size_t i = 0; i < std::min(whole.links.size(), folded.links.size()); ++i) {
        EXPECT_EQ(folded.links[i].bytes.value(), whole.links[i].bytes.value());
        EXPECT_EQ(folded.links[i].busy_fraction, whole.links[i].busy_fraction);
        EXPECT_EQ(folded.links[i].busiest_fraction, whole.links[i].busiest_fraction);
    }
    expect_exact_sums(folded);
    return folded;
}

/// Returns a random legal mesh, plan and model on a small slice of v5p, v4p (tori and meshes) or
/// v5e (meshes).
inline Scenario random_scenario(std::mt19937_64& random) {
    const auto pick = [&](auto... values) {
        const std::vector list{values...};
        return list[std::uniform_int_distribution<std::size_t>(0, list.size() - 1)(random)];
    };
    const int machine = pick(0, 1, 2, 3, 4);
    const std::string chip = machine == 0   ? "v5p"
                             : machine == 1 ? "v4p"
                             : machine == 2 ? "v5e"
                                            : "v5p";
    const topology::Point shape = machine == 0   ? topology::Point{4, 4, 4}
                                  : machine == 1 ? topology::Point{4, 4, 8}
                                  : machine == 2 ? topology::Point{4, 8, 1}
                                  : machine == 3 ? topology::Point{2, 2, 4}
                                                 : topology::Point{2, 4, 4};
    // Every physical axis goes whole to one logical axis, or is split into a block and its strides.
    std::vector<std::pair<std::string, std::string>> mesh{
        {"data", ""}, {"fsdp", ""}, {"context", ""}, {"tensor", ""}};
    const auto give = [&](std::size_t logical, const std::string& factor) {
        mesh[logical].second += (mesh[logical].second.empty() ? "" : " ") + factor;
    };
    int tensor = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const int length = shape[axis];
        if (length == 1) {
            continue;
        }
        const std::string name(1, "xyz"[axis]);
        const bool split = length >= 4 && pick(0, 1) == 1;
        std::size_t inner = pick(0, 1, 2, 3);
        std::size_t outer = pick(0, 1, 1, 2);
        const int inner_length = split ? 2 : length;
        if (inner == 3 && tensor * inner_length > 4) {
            inner = 1;
        }
        tensor *= inner == 3 ? inner_length : 1;
        if (inner == outer) {
            give(inner, name);
        } else if (split) {
            give(inner, name + "%2");
            give(outer, name + "/2");
        } else {
            give(inner, name);
        }
    }
    std::erase_if(mesh, [](const auto& axis) { return axis.second.empty(); });
    Scenario scenario = make_scenario(chip, shape, small_model(pick(1, 2, 3, 5)), mesh, 1, 1024);
    workloads::TrainingPlan& plan = scenario.step().plan;
    plan.batch.tokens = plan.batch.sequence * pick(1, 3, 8, 64);
    plan.remat.policy = pick(workloads::RematPolicy::none, workloads::RematPolicy::matmuls,
                             workloads::RematPolicy::block, workloads::RematPolicy::named);
    plan.overlap.prefetch_layers = pick(0, 1, 2);
    plan.overlap.reductions_in_flight = pick(1, 2, 3);
    plan.attention.causal = pick(0, 1) == 1;
    scenario.step().model.gated_mlp = pick(0, 1) == 1;
    scenario.step().model.tied_embeddings = pick(0, 1) == 1;
    if (pick(0, 0, 1) == 1) {
        scenario.hardware.chip.ici_latency.value = sim::Seconds(pick(0.0, 1e-8, 1e-4));
    }
    if (pick(0, 0, 0, 1) == 1) {
        scenario.hardware.chip.ici_one_way_book.value = sim::BytesPerSecond::infinity();
    }
    if (pick(0, 0, 1) == 1) {
        scenario.hardware.chip.collective_launch.value = sim::Seconds(3e-6);
    }
    plan.overlap.weights = pick(workloads::WeightGroups::layer, workloads::WeightGroups::block,
                                workloads::WeightGroups::matmul);
    plan.overlap.layer_loop = pick(0, 0, 1) == 1;
    if (plan.overlap.weights != workloads::WeightGroups::layer) {
        plan.overlap.prefetch_layers += pick(0.0, 0.25, 0.5);
    }
    return scenario;
}

}  // namespace podsim::scenarios::samples
