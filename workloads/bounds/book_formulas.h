// Formulas of the reference text for whole training runs, and for when a layout waits for links
// (How to Scale Your Model, sections 5 and 6). They are pure functions of numbers; book_layout
// reads a layout off a mesh.
//
// Symbols: C peak FLOP/s of a chip, W = 2 x the one-way rate of an ICI link, alpha = C / W the
// intensity of ICI in tokens (bf16: two bytes and two FLOPs an element cancel), B tokens of the
// batch and N chips of one slice, F the feed-forward width, X and Y the ways of FSDP (data, context
// and expert parallelism shard tokens alike) and of tensor parallelism, M_X and M_Y the ICI axes
// that they span. All formulas follow from a block In[B, D] x W_in[D, F] x W_out[F, D]. The times
// of the matmuls and collectives of its forward pass are
//   T_math = 4 B D F / (N C),  T_fsdp = 4 D F / (Y W M_X),  T_tensor = 4 B D / (X W M_Y).
#pragma once

#include "sim/base/quantity.h"
#include "topology/mesh/mesh.h"

namespace podsim::workloads {

/// Returns alpha = C / (2 one_way), in tokens. v5p: 4.59e14 / 1.8e11 = 2550.
double ici_intensity(sim::FlopsPerSecond peak, sim::BytesPerSecond one_way);

/// Returns B / N = alpha / M_X, at which T_fsdp = T_math without tensor parallelism.
double least_tokens_per_chip(double alpha, int fsdp_axes);

/// Returns Y = M_Y F / alpha, at which T_tensor = T_math without FSDP.
double most_tensor_ways(double alpha, int tensor_axes, double d_ff);

/// Layout of a mesh within a slice: ways and ICI axes.
struct BookLayout {
    int fsdp_ways = 1;    ///< X: data x fsdp x context x expert
    int tensor_ways = 1;  ///< Y
    int fsdp_axes = 1;    ///< M_X; also 1 for a single way, as in the text
    int tensor_axes = 1;  ///< M_Y; likewise
};
/// Returns the layout of a mesh. An axis counts if a group has it whole or in
/// factors, as in book_step.
BookLayout book_layout(const topology::DeviceMesh& mesh);

/// Returns the smallest B / N at which an X keeps T_fsdp + T_tensor <= T_math:
/// 4 alpha^2 / (M_X M_Y F), where X is optimal_fsdp_ways.
double least_tokens_per_chip_mixed(double alpha, const BookLayout& layout, double d_ff);
/// Returns a quarter of that, for both kinds of collectives at once: max(T_fsdp,
/// T_tensor) <= T_math.
double least_tokens_per_chip_concurrent(double alpha, const BookLayout& layout, double d_ff);

/// Returns the X that minimises T_fsdp + T_tensor, at which T_fsdp = T_tensor:
/// sqrt(B M_X N / (F M_Y)).
double optimal_fsdp_ways(double tokens, double chips, const BookLayout& layout, double d_ff);

/// Returns (T_fsdp + T_tensor) / T_math = alpha (X / (B M_X) + Y / (F M_Y)). The term of a single
/// way is zero. Above 1 the layout is communication-bound.
double communication_to_compute(double alpha, double tokens, const BookLayout& layout, double d_ff);

/// Range of X, with Y = N / X, in which T_fsdp + T_tensor <= T_math: between the roots of
/// alpha X^2 / (B M_X) - X + alpha N / (F M_Y) = 0, B M_X / (2 alpha) +- sqrt((B M_X / (2 alpha))^2
/// - B M_X N / (F M_Y)) (section 6 of the early edition). Zeros if no X satisfies it.
struct FsdpWays {
    double least = 0;
    double most = 0;
};
FsdpWays compute_bound_fsdp_ways(double alpha, double tokens, double chips,
                                 const BookLayout& layout, double d_ff);

/// Returns the tokens of a slice at which data parallelism over the data-centre network takes as
/// long as the matmuls: C x chips of a host / rate of a host.
double least_tokens_per_slice(sim::FlopsPerSecond peak, int chips_per_host,
                              sim::BytesPerSecond dcn_per_host);

/// Returns 6 x parameters x tokens, without attention's dot products.
sim::Flops book_training_flops(double parameters, double tokens);

/// Returns FLOPs / (chips x C x mfu).
sim::Seconds book_training_time(sim::Flops flops, double chips, sim::FlopsPerSecond peak,
                                double mfu);

}  // namespace podsim::workloads
