#include "workloads/work/matmul_work.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "workloads/plan/expert_matmul.h"
#include "workloads/program/step_program.h"
#include "workloads/work/grouped_tiles.h"
#include "workloads/work/served_tiles.h"
#include "workloads/work/vector_work.h"

namespace podsim::workloads {
namespace {

using namespace vector_unit;

double norm(const Shard& s) {
    return s.layer_norm ? kLayerNorm : kNorm;
}

double norm_backward(const Shard& s) {
    return s.layer_norm ? kLayerNormBackward : kNormBackward;
}

double row_elements(const Shard& s) {
    return s.rows * s.d_model;
}

/// Returns the elements of queries and keys that are rotated. In latent attention all heads share
/// the rotated columns of the keys.
double rotated(const Shard& s) {
    if (!s.rotary) {
        return 0;
    }
    const double columns = s.latent.width > 0 ? (s.heads + 1) * s.latent.rope_dim
                                              : (s.heads + s.kv_heads) * s.head_dim;
    return s.tokens * columns;
}

double normed_query_key(const Shard& s) {
    return s.tokens * ((s.qk_norm ? (s.heads + s.kv_heads) * s.head_dim : 0) +
                       (s.v_norm ? s.kv_heads * s.value_dim : 0));
}

/// Reads and writes of queries and keys in HBM, by the kernels that rotate them and by
/// those that norm them.
struct Passes {
    double rotated = 0;
    double normed = 0;
};
constexpr Passes kForward{5, 2};
constexpr Passes kBackward{7, 3};

/// Returns the work of separate kernels. Columns that fit into a core's VMEM stay there.
Elementwise in_kernels_apart(const Shard& s, const Passes& passes, double operations) {
    const double once = 2 * std::max(rotated(s), normed_query_key(s)) * s.precision.compute;
    const double elements = rotated(s) * passes.rotated + normed_query_key(s) * passes.normed;
    const double bytes = once > s.vmem ? elements * s.precision.compute : 0;
    return {.bytes = bytes, .operations = operations, .apart = bytes};
}

double normed_latents(const Shard& s) {
    return s.tokens * (s.latent.q_rank + s.latent.kv_rank);
}

/// Bytes per element of rows and results, and of matrices.
struct ElementBytes {
    double rows = 0;
    double matrices = 0;
};

/// Returns the steps of `products` equal products on all devices. The cores of a device (v4 and
/// v5p: two) deal out the tiles of n, the grid's first dimension, which is `parallel`: if there are
/// three tiles, one core has two.
/// Source: kernels/megablox of MaxText (dimension_semantics; mask_k_rem for the
/// operations of a mask).
std::vector<KernelStep> kernel_steps(const GroupedTiles& tiles, const ExpertPath& path,
                                     double products, ElementBytes bytes) {
    constexpr double kMask = 5;  // widen, number, compare, select, narrow again
    const double of_device = std::max(1.0, static_cast<double>(path.cores) / path.devices);
    const double uneven = std::ceil(tiles.tiles_of_n / of_device) * of_device / tiles.tiles_of_n;
    std::vector<KernelStep> steps;
    for (const GridStep& step : tiles.steps) {
        if (step.count > 0) {
            steps.push_back(
                {.count = step.count * products * uneven,
                 .tile = tiles.tile,
                 .bytes = (step.rows + step.results) * bytes.rows + step.matrices * bytes.matrices,
                 .masked = kMask * step.masked,
                 .cores = static_cast<double>(path.cores)});
        }
    }
    return steps;
}

using sim::Bytes;
using sim::Flops;
using vector_unit::kQuantise;
using vector_unit::kRescale;

struct Elements {
    double operands = 0;  ///< read unquantised by the matmul
    double bytes = 0;     ///< of these operands
    double result = 0;
};

Compute quantised(Compute work, const Shard& s, const Elements& elements, Runs runs,
                  const Elementwise& fused) {
    work.elementwise = Bytes(fused.bytes);
    work.gathered = Bytes(fused.gathered);
    work.apart = Bytes(fused.apart);
    if (runs == Runs::in_bf16 || s.precision.matmul == MatmulDtype::bf16) {
        return work;
    }
    work.dtype = s.precision.matmul;
    work.vector += Flops(kQuantise * elements.operands + kRescale * elements.result);
    if (s.precision.finds_scales()) {  // before the first element can be scaled
        work.hbm += Bytes(elements.bytes);
        work.elementwise += Bytes(elements.bytes);
    }
    return work;
}

double weight_bytes(const Shard& s, Runs runs) {
    return runs == Runs::in_plan ? s.weight_bytes : s.plain_weight_bytes;
}

/// Returns grouped products as their kernel works on them. Each expert's product has this shape.
Compute in_tiles(const Shard& s, double useful, MatmulShape shape, double products,
                 const GroupedTiles& tiles, ElementBytes bytes, const Elementwise& fused) {
    const Shard::Experts& own = s.experts;
    shape.count = products * groups_with(own.tokens / own.path.devices, own.reached);
    const double of_rows = (tiles.rows + tiles.results) * bytes.rows;
    const double moved = of_rows + tiles.matrices * bytes.matrices;
    Compute work{Flops(useful * products), {shape}, Bytes(moved * products + fused.bytes)};
    work.vector = Flops(fused.operations);
    work.kernel = true;
    if (useful > 0) {
        work.tiled = 2 * shape.m * shape.k * shape.n * shape.count / work.flops.value();
        work.steps = kernel_steps(tiles, own.path, products, bytes);
    }
    return work;
}

/// Returns the tiles of one device.
GroupedTiles tiles_of(const Shard& s, double k, double n, const ExpertTile& tile) {
    const Shard::Experts& own = s.experts;
    const double rows = own.tokens / own.path.devices;
    if (!own.path.served) {
        return gmm_tiles(rows, own.reached, k, n, tile);
    }
    const double element = s.precision.matmul == MatmulDtype::bf16 ? s.precision.compute : 1;
    return served_tiles(rows, own.reached, k, n,
                        served_tile(k, n, {element, own.weight_bytes, s.vmem}));
}

Compute sparse(const Shard& s, double k, double n, Branches branches, const ExpertTile& tile,
               Elementwise fused) {
    const double products = branches == Branches::one ? 1 : s.branches;
    const double tokens = s.experts.tokens;
    const GroupedTiles tiles = on_devices(tiles_of(s, k, n, tile), s.experts.path.devices);
    if (branches == Branches::added && products > 1) {
        fused = fused + Elementwise{(products + 1) * tokens * n * s.precision.compute,
                                    (products - 1) * tokens * n};
    }
    const double weights = s.experts.quantised || tokens == 0 ? 0 : s.experts.reached * k * n;
    return quantised(
        in_tiles(s, 2 * tokens * k * n,
                 {tiles.computed_of_group, tiles.computed_k, tiles.computed_n}, products, tiles,
                 {s.precision.compute, s.experts.weight_bytes}, fused),
        s,
        {products * (tokens * k + weights),
         products * (tokens * k * s.precision.compute + weights * s.experts.weight_bytes),
         products * tokens * n},
        Runs::in_plan, fused);
}

}  // namespace

Elementwise norm_and_residual(const Shard& s) {
    return {4 * row_elements(s) * s.precision.compute,
            row_elements(s) * (s.norms_of_block * norm(s) + kResidual)};
}

Elementwise norm_and_residual_gradient(const Shard& s) {
    return {4 * row_elements(s) * s.precision.compute,
            row_elements(s) * (s.norms_of_block * norm_backward(s) + kResidual)};
}

Elementwise final_norm(const Shard& s) {
    return {4 * row_elements(s) * s.precision.compute, row_elements(s) * (norm(s) + kResidual)};
}

Elementwise final_norm_gradient(const Shard& s) {
    return {4 * row_elements(s) * s.precision.compute,
            row_elements(s) * (norm_backward(s) + kResidual)};
}

Elementwise normed_again(const Shard& s, bool again) {
    return again ? Elementwise{2 * row_elements(s) * s.precision.compute,
                               row_elements(s) * s.norms_of_block * norm(s)}
                 : Elementwise{};
}

Elementwise activation_function(const Shard& s, double tokens, double width) {
    const double gate = s.branches > 1 ? kGate : 0;
    return {(s.branches + 1) * tokens * width * s.precision.compute,
            tokens * width * (kActivation + gate)};
}

Elementwise activation_gradient(const Shard& s, double tokens, double width) {
    // The hidden gradient stays in registers: gate and up are read, their gradients written.
    const double gate = s.branches > 1 ? kGateBackward : 0;
    return {(2 * s.branches - 1) * tokens * width * s.precision.compute,
            tokens * width * (kActivationBackward + gate)};
}

Elementwise activation_again(const Shard& s, double tokens, double width) {
    return s.activations_again ? activation_function(s, tokens, width) : Elementwise{};
}

Elementwise query_key(const Shard& s) {
    return in_kernels_apart(s, kForward, rotated(s) * kRotary + normed_query_key(s) * kNorm);
}

Elementwise query_key_gradient(const Shard& s) {
    return in_kernels_apart(s, kBackward,
                            rotated(s) * kRotary + normed_query_key(s) * kNormBackward);
}

Elementwise latent_norm(const Shard& s) {
    return {0, normed_latents(s) * kNorm};
}

Elementwise latent_norm_gradient(const Shard& s) {
    return {0, normed_latents(s) * kNormBackward};
}

Elementwise copied_rows(const Shard& s, double operations) {
    const double copies = s.experts.copies * s.rows / s.tokens * s.d_model;
    return {(row_elements(s) + copies) * s.precision.compute, copies * operations};
}

Compute activations(const Shard& s, double m, double k, double n, Elementwise fused, Runs runs) {
    Compute work{
        Flops(2 * m * k * n),
        {{m, k, n, 1}},
        Bytes((m * k + m * n) * s.precision.compute + k * n * weight_bytes(s, runs) + fused.bytes),
        Flops(fused.operations)};
    const double weights = s.weights_quantised ? 0 : k * n;
    return quantised(
        std::move(work), s,
        {m * k + weights, m * k * s.precision.compute + weights * s.weight_bytes, m * n}, runs,
        fused);
}

Compute activations(const Shard& s, double k, double n, Elementwise fused, Runs runs) {
    return activations(s, s.tokens, k, n, fused, runs);
}

Compute weight_gradient(const Shard& s, double m, double k, double n, Elementwise fused,
                        Runs runs) {
    Compute work{
        Flops(2 * m * k * n),
        {{k, m, n, 1}},
        Bytes((m * k + m * n) * s.precision.compute + k * n * s.precision.gradients + fused.bytes),
        Flops(fused.operations)};
    const double operands = m * k + m * n;
    return quantised(std::move(work), s, {operands, operands * s.precision.compute, k * n}, runs,
                     fused);
}

Compute weight_gradient(const Shard& s, double k, double n, Elementwise fused, Runs runs) {
    return weight_gradient(s, s.tokens, k, n, fused, runs);
}

Compute grouped(const Shard& s, double k, double n, Branches branches, const ExpertTile& tile,
                Elementwise fused) {
    if (s.experts.path.sparse()) {
        return sparse(s, k, n, branches, tile, fused);
    }
    k *= branches == Branches::added ? s.branches : 1;
    n *= branches == Branches::side_by_side ? s.branches : 1;
    const double tokens = s.experts.tokens;
    const double reached = s.experts.reached;
    const double weights = tokens > 0 ? reached * k * n : 0;  // weights that are read
    Compute work{Flops(2 * tokens * k * n),
                 {{tokens / reached, k, n, reached}},
                 Bytes(tokens * (k + n) * s.precision.compute + weights * s.experts.weight_bytes +
                       fused.bytes),
                 Flops(fused.operations)};
    const double unquantised = s.experts.quantised ? 0 : weights;
    return quantised(
        std::move(work), s,
        {tokens * k + unquantised,
         tokens * k * s.precision.compute + unquantised * s.experts.weight_bytes, tokens * n},
        Runs::in_plan, fused);
}

Compute grouped_weight_gradient(const Shard& s, double k, double n, Branches branches,
                                const ExpertTile& tile, Elementwise fused) {
    const double products = branches == Branches::one ? 1 : s.branches;
    const double tokens = s.experts.tokens;
    const double held = s.experts.held;
    if (s.experts.path.sparse()) {
        const double devices = s.experts.path.devices;
        const GroupedTiles tiles =
            on_devices(tgmm_tiles(tokens / devices, held, k, n, tile), devices);
        return quantised(
            in_tiles(s, 2 * tokens * k * n,
                     {tiles.computed_k, tiles.computed_of_group, tiles.computed_n}, products, tiles,
                     {s.precision.compute, s.precision.gradients}, fused),
            s,
            {products * tokens * (k + n), products * tokens * (k + n) * s.precision.compute,
             tokens > 0 ? products * held * k * n : 0},
            Runs::in_plan, fused);
    }
    n *= products;
    Compute work{Flops(2 * tokens * k * n),
                 {{k, tokens / held, n, held}},
                 Bytes(tokens * (k + n) * s.precision.compute +
                       held * k * n * s.precision.gradients + fused.bytes),
                 Flops(fused.operations)};
    const double results = tokens > 0 ? held * k * n : 0;  // zeros are written as they are
    return quantised(std::move(work), s,
                     {tokens * (k + n), tokens * (k + n) * s.precision.compute, results},
                     Runs::in_plan, fused);
}

Runs backward_of(const Shard& s, Matrix matrix) {
    return s.precision.bf16_backward.has(matrix) ? Runs::in_bf16 : Runs::in_plan;
}

Compute both(Compute a, const Compute& b) {
    const double flops = (a.flops + b.flops).value();
    a.tiled = flops > 0 ? (a.flops.value() * a.tiled + b.flops.value() * b.tiled) / flops : 1;
    a.flops += b.flops;
    a.hbm += b.hbm;
    a.vector += b.vector;
    a.elementwise += b.elementwise;
    a.gathered += b.gathered;
    a.apart += b.apart;
    a.matmuls.insert(a.matmuls.end(), b.matmuls.begin(), b.matmuls.end());
    a.steps.insert(a.steps.end(), b.steps.begin(), b.steps.end());
    return a;
}

Compute only(Elementwise work) {
    return {.flops = Flops(0),
            .matmuls = {},
            .hbm = Bytes(work.bytes),
            .vector = Flops(work.operations),
            .elementwise = Bytes(work.bytes),
            .gathered = Bytes(work.gathered),
            .apart = Bytes(work.apart)};
}

}  // namespace podsim::workloads
