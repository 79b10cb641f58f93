// RematPolicy by named tensors, and offloading to the host.
#include "workloads/plan/remat.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

#include "tests/workloads/step_program_support.h"
#include "workloads/bounds/step_flops.h"
#include "workloads/plan/validate_plan.h"
#include "workloads/program/memory_peak.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::find_op;
using samples::of_layer;
using samples::one_chip;
using samples::one_layer;
using samples::Random;
using Names = std::vector<std::string>;

TensorSet subset(unsigned bits) {
    TensorSet set;
    for (const LayerTensor tensor : kLayerTensors) {
        if ((bits >> static_cast<unsigned>(tensor) & 1U) != 0) {
            set.add(tensor);
        }
    }
    return set;
}

TrainingPlan named(TrainingPlan plan, TensorSet save, TensorSet offload = {}) {
    plan.remat.policy = RematPolicy::named;
    plan.remat.names = {save, offload};
    return plan;
}

/// Returns the bytes over PCIe in each direction: {to the host, to the chip}.
std::pair<double, double> host_bytes(const StepProgram& program) {
    std::pair<double, double> sum;
    for (const Op& op : program.ops) {
        if (const auto* transfer = std::get_if<HostTransfer>(&op.work)) {
            (transfer->direction == collectives::HostDirection::to_host ? sum.first : sum.second) +=
                transfer->bytes.value();
        }
    }
    return sum;
}

/// Returns the bytes of one class held while operation `at` runs, in program order.
double held_during(const StepProgram& program, OpIndex at, MemoryClass memory_class) {
    double bytes = 0;
    for (const Buffer& buffer : program.buffers) {
        const OpIndex end =
            buffer.freed_after.empty() ? kWholeStep : *std::ranges::max_element(buffer.freed_after);
        const bool begun = buffer.allocated_at == kWholeStep || buffer.allocated_at <= at;
        if (buffer.memory_class == memory_class && begun && at <= end) {
            bytes += buffer.bytes.value();
        }
    }
    return bytes;
}

// One layer, t = 32, D = 16, F = 32 gated, N = 4, K = 2, H = 4, causal. Forward FLOPs
//   qkv      2 t D (N + 2 K) H    = 32768        gate_up  2 t D 2 F = 65536
//   attention 4 N H S^2 / 2       = 32768        down     2 t F D   = 32768
//   out      2 t N H D            = 16384
// Each is executed again exactly if its output is not named; down never.
TEST(NamedRemat, RecomputesWhatIsNotNamedWhereverItIsKept) {
    const std::map<LayerTensor, double> cost{{LayerTensor::qkv, 32768},
                                             {LayerTensor::attended, 32768},
                                             {LayerTensor::out, 16384},
                                             {LayerTensor::gate_up, 65536}};
    for (unsigned save = 0; save < 128; ++save) {
        for (const unsigned offload : {0U, 127U & ~save}) {
            double expected = 0;
            for (const auto& [tensor, flops] : cost) {
                expected += (subset(save) | subset(offload)).has(tensor) ? 0 : flops;
            }
            const StepProgram program =
                build_step(one_layer(), named(one_chip(), subset(save), subset(offload)));
            EXPECT_EQ(flops_by_pass(program).of(Pass::recompute).value(), expected)
                << to_string(subset(save)) << " / " << to_string(subset(offload));
        }
    }
}

// A parallel block has no out_proj, so that the projection does not run again.
TEST(NamedRemat, AParallelBlockNeverNeedsTheOutProjectionAgain) {
    ModelSpec model = one_layer();
    model.parallel_block = true;
    const auto recomputed = [&](TensorSet save) {
        return flops_by_pass(build_step(model, named(one_chip(), save)))
            .of(Pass::recompute)
            .value();
    };
    EXPECT_EQ(recomputed({}), 32768 + 32768 + 65536);
    EXPECT_EQ(recomputed({LayerTensor::qkv}), 32768 + 65536);
    EXPECT_EQ(recomputed({LayerTensor::attended, LayerTensor::gate_up}), 32768);
    EXPECT_EQ(recomputed({LayerTensor::qkv, LayerTensor::gate_up}), 32768);
}

TEST(NamedRemat, RunsAgainInOrderWithItsCollectives) {
    ModelSpec model = one_layer();
    TrainingPlan plan = one_chip();
    plan.ways.tensor = 2;
    plan.ways.context = 2;
    const auto again = [&](TensorSet save) {
        return of_layer(build_step(model, named(plan, save)), Pass::recompute);
    };
    EXPECT_EQ(again({}),
              (Names{"gather attention input", "qkv", "gather keys and values", "attention", "out",
                     "scatter attention output", "gather mlp input", "gate_up"}));
    EXPECT_EQ(again({LayerTensor::attended}),
              (Names{"out", "scatter attention output", "gather mlp input", "gate_up",
                     "gather attention input", "qkv"}));
    EXPECT_EQ(again({LayerTensor::qkv, LayerTensor::out}),
              (Names{"gather mlp input", "gate_up", "gather keys and values", "attention"}));
    EXPECT_EQ(
        again({LayerTensor::qkv, LayerTensor::attended, LayerTensor::out, LayerTensor::gate_up}),
        Names{});
    model.parallel_block = true;
    EXPECT_EQ(again({}), (Names{"gather layer input", "gate_up", "qkv", "gather keys and values",
                                "attention"}));
}

// The policy `matmuls` has the same operations, dependencies and buffers as its set of names.
TEST(NamedRemat, MatmulsIsASetOfNames) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = samples::random_any_model(random);
        TrainingPlan plan = samples::random_any_plan(random, true, model);
        plan.remat.policy = RematPolicy::matmuls;
        const StepProgram policy = build_step(model, plan);
        TensorSet save{LayerTensor::qkv, LayerTensor::gate_up, LayerTensor::output};
        if (!model.parallel_block) {
            save.add(LayerTensor::out);
        }
        const StepProgram by_name = build_step(model, named(plan, save));
        ASSERT_EQ(policy.ops.size(), by_name.ops.size());
        for (std::size_t i = 0; i < policy.ops.size(); ++i) {
            EXPECT_EQ(policy.ops[i].name, by_name.ops[i].name);
            EXPECT_EQ(policy.ops[i].after, by_name.ops[i].after);
            if (const auto* work = std::get_if<Compute>(&policy.ops[i].work)) {
                const auto& other = std::get<Compute>(by_name.ops[i].work);
                EXPECT_EQ(work->flops, other.flops);
                EXPECT_EQ(work->hbm, other.hbm);
                EXPECT_EQ(work->vector, other.vector);
            }
        }
        ASSERT_EQ(policy.buffers.size(), by_name.buffers.size());
        for (std::size_t i = 0; i < policy.buffers.size(); ++i) {
            EXPECT_EQ(policy.buffers[i].bytes, by_name.buffers[i].bytes);
            EXPECT_EQ(policy.buffers[i].freed_after, by_name.buffers[i].freed_after);
        }
    }
}

/// Returns the bytes of a layer's tensors on a chip: t = 32, tensor 2 (r = 16), 2-byte elements.
std::map<LayerTensor, double> bytes_of_tensors() {
    const double row = 16 * 16 * 2;  // r D
    return {{LayerTensor::input, row},
            {LayerTensor::qkv, 32 * (2 + 2 * 1) * 4 * 2},  // t (N + 2 K) H / T
            {LayerTensor::attended, 32 * 2 * 4 * 2},       // t N H / T
            {LayerTensor::out, row},
            {LayerTensor::gate_up, 2 * 32 * 16 * 2},  // g t F / T
            {LayerTensor::hidden, 32 * 16 * 2},       // t F / T
            {LayerTensor::output, 0}};                // unread: neither kept nor moved
}

TEST(NamedRemat, SavesAndOffloadsTheBytesOfWhatIsNamed) {
    ModelSpec model = one_layer();
    model.layers = 3;
    TrainingPlan plan = one_chip();
    plan.ways.tensor = 2;
    plan.overlap.prefetch_layers = 0;
    plan.overlap.fetch_layers = 0;
    const std::map<LayerTensor, double> bytes = bytes_of_tensors();
    for (unsigned save = 0; save < 128; ++save) {
        const TensorSet offload = subset(127U & ~save);
        double saved = 0;
        double sent = 0;
        for (const auto& [tensor, size] : bytes) {
            (offload.has(tensor) ? sent : saved) += size;
        }
        const StepProgram both = build_step(model, named(plan, subset(save), offload));
        const OpIndex loss = find_op(both, "unembedding forward loss");
        EXPECT_EQ(held_during(both, loss, MemoryClass::activations), 3 * saved);
        EXPECT_EQ(host_bytes(both), std::pair(3 * sent, 3 * sent));
        // Without names only the inputs stay.
        const double named_bytes =
            saved + (offload.has(LayerTensor::input) ? bytes.at(LayerTensor::input) : 0);
        const StepProgram here = build_step(model, named(plan, subset(save)));
        EXPECT_EQ(
            held_during(here, find_op(here, "unembedding forward loss"), MemoryClass::activations),
            3 * named_bytes);
        EXPECT_EQ(host_bytes(here), std::pair(0.0, 0.0));
    }
}

// With inputs of `row` bytes offloaded, HBM holds
// fetch_layers + 1 of them, on their way out or fetched back.
TEST(Offload, FetchPlusOneLayersAreInHbm) {
    ModelSpec model = one_layer();
    model.layers = 8;
    const double row = 32 * 16 * 2;
    for (const int fetch : {0, 1, 3}) {
        TrainingPlan plan = named(one_chip(), {}, {LayerTensor::input});
        plan.overlap.fetch_layers = fetch;
        const StepProgram program = build_step(model, plan);
        for (const char* name :
             {"layer 4 forward attention", "layer 4 backward out weight gradient"}) {
            EXPECT_EQ(held_during(program, find_op(program, name), MemoryClass::activations),
                      (fetch + 1) * row)
                << fetch << ' ' << name;
        }
    }
}

// Eight layers run on one chip, and none is fetched ahead. The peak
// with saved inputs is in the last layer's backward pass. There HBM
// holds only that layer's input instead of all eight: 7 rows less.
TEST(Offload, ThePeakFallsByWhatIsFreed) {
    ModelSpec model = one_layer();
    model.layers = 8;
    TrainingPlan plan = one_chip();
    plan.batch.tokens = plan.batch.sequence = 512;
    plan.overlap.prefetch_layers = 0;
    plan.overlap.fetch_layers = 0;
    const double row = 512 * 16 * 2;
    const std::string at = "layer 7 backward down weight gradient";
    const auto total_at = [&](const StepProgram& program) {
        double sum = 0;
        for (const MemoryClass memory_class : kMemoryClasses) {
            sum += held_during(program, find_op(program, at), memory_class);
        }
        return sum;
    };
    const StepProgram saved = build_step(model, named(plan, {}));
    const StepProgram offloaded = build_step(model, named(plan, {}, {LayerTensor::input}));
    EXPECT_EQ(total_at(saved) - total_at(offloaded), 7 * row);
    // Now only gradients grow, and the peak moves to the first layer's backward pass, where seven
    // more layers have theirs: 2 B x (D H (2 N + 2 K) + 3 D F + 2 D) = 2 x 2336 each.
    EXPECT_EQ(
        peak_in_program_order(saved).total.value() - peak_in_program_order(offloaded).total.value(),
        7 * (row - 2 * 2336));
}

TEST(Offload, GoesWhenWrittenAndComesBackBeforeTheBackwardPass) {
    ModelSpec model = one_layer();
    model.layers = 4;
    TrainingPlan plan = named(one_chip(), {}, {LayerTensor::qkv});
    for (const int fetch : {0, 1}) {
        plan.overlap.fetch_layers = fetch;
        const StepProgram program = build_step(model, plan);
        const OpIndex stored = find_op(program, "layer 1 forward offload qkv_proj");
        const OpIndex fetched = find_op(program, "layer 1 backward fetch qkv_proj");
        EXPECT_EQ(program.ops[stored].after, std::vector{find_op(program, "layer 1 forward qkv")});
        const auto waits = [&](const std::string& name, OpIndex op) {
            const std::vector<OpIndex>& after = program.ops[find_op(program, name)].after;
            return std::ranges::find(after, op) != after.end();
        };
        // The forward pass waits for the store of fetch + 1 layers before.
        EXPECT_EQ(waits("layer 2 forward qkv", stored), fetch == 0);
        EXPECT_EQ(waits("layer 3 forward qkv", stored), fetch == 1);
        // By the end of that use the store is over, so nothing waits for it again. The last layer
        // is fetched back at once.
        EXPECT_EQ(
            program.ops[fetched].after,
            std::vector{find_op(program, fetch == 0 ? "layer 2 backward qkv weight gradient"
                                                    : "layer 3 backward qkv weight gradient")});
        const OpIndex last = find_op(program, "layer 3 backward fetch qkv_proj");
        const OpIndex last_stored = find_op(program, "layer 3 forward offload qkv_proj");
        EXPECT_EQ(program.ops[last].after,
                  fetch == 0
                      ? std::vector{find_op(program, "unembedding backward weight gradient")}
                      : (std::vector{find_op(program, "layer 3 forward down"), last_stored}));
        // gate_up and out run again, which first needs attention's output.
        EXPECT_TRUE(waits("layer 1 recompute attention", fetched));
        for (const Buffer& buffer : program.buffers) {
            if (buffer.allocated_at == fetched) {
                EXPECT_EQ(buffer.bytes.value(), 32 * (4 + 2 * 2) * 4 * 2);
                EXPECT_EQ(buffer.freed_after,
                          std::vector{find_op(program, "layer 1 backward attention gradient")});
            }
        }
    }
}

// For any model, mesh and names, programs are in order, free all buffers, and move the same bytes
// to the host and back.
TEST(Offload, ProgramsAreSoundForAnyNames) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = samples::random_any_model(random);
        TrainingPlan plan = samples::random_any_plan(random, false, model);
        unsigned names = static_cast<unsigned>(random.from(0, 127));
        if (model.parallel_block) {
            names &= ~(1U << static_cast<unsigned>(LayerTensor::out));
        }
        const auto offload = names & static_cast<unsigned>(random.from(0, 127));
        TensorSet moved = subset(offload);
        for (const LayerTensor tensor : kLayerTensors) {
            bool read = false;
            for (const auto& [kind, number] : layer_kinds(model)) {
                read = read || read_backward(model, kind).has(tensor);
            }
            if (!read) {
                moved.remove(tensor);
            }
        }
        plan = named(plan, subset(names & ~offload), subset(offload));
        plan.batch.microbatches = random.from(1, 3);
        plan.batch.tokens *= plan.batch.microbatches;
        validate(plan, model);
        const StepProgram program = build_step(model, plan);
        for (std::size_t i = 0; i < program.ops.size(); ++i) {
            for (const OpIndex before : program.ops[i].after) {
                EXPECT_LT(before, i);
            }
        }
        for (const Buffer& buffer : program.buffers) {
            for (const OpIndex after : buffer.freed_after) {
                EXPECT_TRUE(buffer.allocated_at == kWholeStep || buffer.allocated_at <= after);
            }
        }
        const auto [there, back] = host_bytes(program);
        EXPECT_EQ(there, back);
        EXPECT_EQ(there > 0, !moved.empty());
        const OpIndex end = static_cast<OpIndex>(program.ops.size() - 1);
        for (const MemoryClass transient : {MemoryClass::activations, MemoryClass::buffers}) {
            EXPECT_EQ(held_during(program, end, transient), 0);
        }
    }
}

TEST(NamedRemat, RefusesWhatDoesNotExist) {
    ModelSpec model = one_layer();
    const auto refusal = [&](TensorSet save, TensorSet offload) {
        return samples::message_of([&] { validate(named(one_chip(), save, offload), model); });
    };
    EXPECT_EQ(refusal({LayerTensor::qkv}, {LayerTensor::qkv}),
              "remat both saves and offloads qkv_proj; name it once: saved tensors stay in HBM, "
              "offloaded ones go to the host");
}

}  // namespace
}  // namespace podsim::workloads
