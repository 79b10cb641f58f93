// The result of a step, written by hand.
#pragma once

#include <cstdint>

#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios::samples {

inline constexpr std::int64_t kMs = 1'000'000'000;  // picoseconds

inline StepResult hand_made() {
    StepResult result;
    result.breakdown = {{"forward", {100 * kMs}},
                        {"recompute", {0}},
                        {"backward", {200 * kMs}},
                        {"optimizer", {kMs / 3}}};
    result.exposed = {{"AllGather over fsdp (weights)", {kMs / 3}},
                      {"ReduceScatter over fsdp (gradients)", {kMs / 3 + 1}}};
    result.compute = {300 * kMs + kMs / 3};
    result.exposed_total = {2 * (kMs / 3) + 1};
    result.step_time = result.compute + result.exposed_total;
    result.mfu = 0.45;
    result.hfu = 0.6;
    result.tokens_per_s = 872000;
    result.lower.time = sim::Seconds(0.3);
    result.lower.bound = "compute";
    result.serial = sim::Seconds(0.4);
    result.book = sim::Seconds(0.31);
    result.gap = {{"latency", {kMs}}, {"padding", {kMs / 3}}};
    result.memory = {
        sim::Bytes(40e9), {5}, sim::Bytes(96e9), true, false, {{"parameters", sim::Bytes(4e10)}}};
    result.links = {{"ici_x", 0.4, sim::Bytes(5e9)}};
    result.explained = true;
    result.events = 1234;
    result.played_events = 234;
    result.chips = 64;
    result.simulated_chips = 1;
    result.prefetch_layers = 1;
    return result;
}

}  // namespace podsim::scenarios::samples
