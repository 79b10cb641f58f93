// The reference text's formulas about whole training runs and about when a layout waits for links (How to Scale Your
// Model, sections 5 and 6). Pure functions of numbers; a layout is read off a mesh by book_layout.
//
// Symbols: C peak FLOP/s of a chip, W = 2 x the one-way rate of an ICI link, alpha = C / W the intensity of ICI in
// tokens (bf16: two bytes and two FLOPs an element cancel), B tokens of the batch and N chips of one slice, F the
// feed-forward width, X and Y the ways of FSDP (data, context and expert parallelism shard tokens alike) and tensor
// parallelism, M_X and M_Y the ICI axes that they span. All from a block In[B, D] x W_in[D, F] x W_out[F, D], of
// which the time of the matmuls and of the collectives of a forward pass are
//   T_math = 4 B D F / (N C),  T_fsdp = 4 D F / (Y W M_X),  T_tensor = 4 B D / (X W M_Y).
#pragma once

#include "sim/base/quantity.h"
#include "topology/mesh/mesh.h"

namespace podsim::workloads {

/// alpha = C / (2 one_way), in tokens. v5p: 4.59e14 / 1.8e11 = 2550.
double ici_intensity(sim::FlopsPerSecond peak, sim::BytesPerSecond one_way);

/// T_fsdp = T_math without tensor parallelism: B / N = alpha / M_X.
double least_tokens_per_chip(double alpha, int fsdp_axes);

/// T_tensor = T_math without FSDP: Y = M_Y F / alpha.
double most_tensor_ways(double alpha, int tensor_axes, double d_ff);

/// The layout of a mesh within a slice: ways and ICI axes.
struct BookLayout {
    int fsdp_ways = 1;    ///< X: data x fsdp x context x expert
    int tensor_ways = 1;  ///< Y
    int fsdp_axes = 1;    ///< M_X; 1 also where there is one way alone, as in the text
    int tensor_axes = 1;  ///< M_Y; likewise
};
/// Axes count whether a group has them whole or in factors, as in book_step.
BookLayout book_layout(const topology::DeviceMesh& mesh);

/// The least B / N at which some X keeps T_fsdp + T_tensor <= T_math: 4 alpha^2 / (M_X M_Y F), where
/// X is optimal_fsdp_ways.
double least_tokens_per_chip_mixed(double alpha, const BookLayout& layout, double d_ff);
/// The same where both kinds of collectives run at once, max(T_fsdp, T_tensor) <= T_math: a quarter of it.
double least_tokens_per_chip_concurrent(double alpha, const BookLayout& layout, double d_ff);

/// The X that makes T_fsdp + T_tensor least, T_fsdp = T_tensor: sqrt(B M_X N / (F M_Y)).
double optimal_fsdp_ways(double tokens, double chips, const BookLayout& layout, double d_ff);

/// (T_fsdp + T_tensor) / T_math = alpha (X / (B M_X) + Y / (F M_Y)); a term of one way is zero. Above 1 the
/// layout is communication-bound.
double communication_to_compute(double alpha, double tokens, const BookLayout& layout, double d_ff);

/// The X, with Y = N / X, between which T_fsdp + T_tensor <= T_math: the roots of alpha X^2 / (B M_X) - X + alpha N / (F M_Y) = 0,
/// B M_X / (2 alpha) +- sqrt((B M_X / (2 alpha))^2 - B M_X N / (F M_Y)) (section 6 of the early edition). Zeros where no X does.
struct FsdpWays {
    double least = 0;
    double most = 0;
};
FsdpWays compute_bound_fsdp_ways(double alpha, double tokens, double chips,
                                 const BookLayout& layout, double d_ff);

/// The tokens of a slice at which data parallelism over the data-centre network takes as long as the matmuls: C x
/// chips of a host / rate of a host.
double least_tokens_per_slice(sim::FlopsPerSecond peak, int chips_per_host,
                              sim::BytesPerSecond dcn_per_host);

/// 6 x parameters x tokens, without attention's dot products.
sim::Flops book_training_flops(double parameters, double tokens);

/// FLOPs / (chips x C x mfu).
sim::Seconds book_training_time(sim::Flops flops, double chips, sim::FlopsPerSecond peak,
                                double mfu);

}  // namespace podsim::workloads
