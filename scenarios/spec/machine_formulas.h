// The quantities of `expect:` that are sums over a machine, and the intensities of a program's matmuls: what sections 1 and 2 of the
// reference text (How to Scale Your Model) work out before there is a model.
//   hosts, cores         of all slices
//   peak_flops           chips x FLOP/s of bf16 matmuls
//   memory_of_all        chips x HBM capacity, bytes
//   flops_per_usd        FLOP/s of a chip x 3600 / price of a chip-hour
//   arithmetic_intensity FLOPs of all matmuls / their HBM bytes (operands and results, once each)
//   critical_intensity   FLOP/s of the matmuls' dtype / HBM bytes/s: below it a matmul waits for its bytes
#pragma once

#include <span>

#include "scenarios/spec/formulas.h"

namespace podsim::scenarios {

std::span<const Formula> machine_formulas();

/// Whether every stage is a matmul, all of one dtype.
bool is_of_matmuls(const Scenario& scenario);

}  // namespace podsim::scenarios
