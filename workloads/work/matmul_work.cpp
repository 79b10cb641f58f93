#include "workloads/work/matmul_work.h"

#include <utility>

#include "workloads/tiles/grouped_tiles.h"
#include "workloads/tiles/kernel_steps.h"
#include "workloads/tiles/served_tiles.h"
#include "workloads/work/vector_work.h"

namespace podsim::workloads {
namespace {

using sim::Bytes;
using sim::Flops;
using vector_unit::kQuantise;
using vector_unit::kRescale;

struct Elements {
    double operands = 0;  ///< that the matmul reads unquantised
    double bytes = 0;     ///< of those
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

}  // namespace

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

namespace {

/// Products of grouped matmuls as their kernel works on them: each expert's is of that shape.
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

/// Of one device.
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

Compute grouped(const Shard& s, double k, double n, Branches branches, const ExpertTile& tile,
                Elementwise fused) {
    if (s.experts.path.sparse()) {
        return sparse(s, k, n, branches, tile, fused);
    }
    k *= branches == Branches::added ? s.branches : 1;
    n *= branches == Branches::side_by_side ? s.branches : 1;
    const double tokens = s.experts.tokens;
    const double reached = s.experts.reached;
    const double weights = tokens > 0 ? reached * k * n : 0;  // that are read
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
