#include "workloads/work/experts_work.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "workloads/work/matmul_work.h"
#include "workloads/work/vector_work.h"

namespace podsim::workloads {

using namespace vector_unit;

namespace {

constexpr double kBool = 1;  // bytes

/// Returns the elements of the copies of a chip's rows for experts.
double copied_elements(const Shard& s) {
    return s.experts.copies * s.rows / s.tokens * s.d_model;
}

/// Returns the argsort of the experts of t k copies: keys and indices of 4 bytes,
/// read and written once.
Elementwise sorted(const Shard& s) {
    const double copies = s.experts.copies;
    const auto whole = static_cast<std::uint64_t>(std::ceil(std::max(copies, 1.0)));
    const auto levels = static_cast<double>(std::bit_width(whole - 1));
    return {16 * copies, kSort * copies * levels * (levels + 1) / 4};
}

/// Returns the step from the gradient of experts' hidden values to those of gate and up. XLA fuses
/// nothing into a kernel that is a custom call, as megablox is. The kernel writes the gradient of
/// the hidden values, and a fusion behind it reads that gradient.
Elementwise hidden_gradient(const Shard& s) {
    const Elementwise fused = activation_gradient(s, s.experts.tokens, s.experts.d_ff);
    const double hidden = s.experts.tokens * s.experts.d_ff * s.precision.compute;
    return s.experts.path.sparse() ? fused + Elementwise{2 * hidden, 0} : fused;
}

/// Returns the elements of the copies that are sorted for the experts. Every tensor rank sorts all
/// rows whole, and only the sums of the experts' results are split (moe.py: activation_norm_length
/// is not on `tensor`; psum_scatter before the unsort).
double sorted_elements(const Shard& s) {
    return s.experts.copies * s.d_model;
}

/// Returns the moves of whole rows and their copies, one read and the other written, with
/// `operations` for each copied element.
Elementwise whole_copies(const Shard& s, double operations) {
    const double copies = sorted_elements(s);
    return {(s.tokens * s.d_model + copies) * s.precision.compute, copies * operations};
}

/// Returns the copying of rows of x for each of their k experts, before the sort. With the sort of
/// custom gradient MaxText sorts copies (moe.py, permute: jnp.repeat, then _sort_activations).
/// Without it MaxText takes each copy from its row.
Elementwise repeated(const Shard& s) {
    return s.experts.path.custom_sort_vjp ? whole_copies(s, 0) : Elementwise{};
}

/// Returns bytes moved in the order of indices. They count as gathered only if they do not fit into
/// a core's VMEM; those of a decode step fit and stay there.
Elementwise by_index(const Shard& s, double bytes, double operations = 0) {
    return {bytes, operations, bytes > s.vmem ? bytes : 0};
}

/// Returns a gather of rows into another order, `elements` in all. Each is read and written.
Elementwise moved(const Shard& s, double elements) {
    return by_index(s, 2 * elements * s.precision.compute);
}

/// Returns the gradient of such a gather: the gather back, or a scatter-add into zeros, which reads
/// and writes each element again.
Elementwise moved_back(const Shard& s, double elements) {
    return moved(s, (s.experts.path.custom_sort_vjp ? 1 : 2) * elements);
}

/// Returns the gradient of a chip's rows from those of their k copies: gathered back and added up,
/// or added into zeros.
Elementwise added_back(const Shard& s) {
    const double copies = sorted_elements(s);
    if (s.experts.path.custom_sort_vjp) {
        return moved_back(s, copies) + whole_copies(s, 1);
    }
    return by_index(s, 3 * copies * s.precision.compute, copies) +
           Elementwise{s.tokens * s.d_model * s.precision.compute, 0};
}

/// Returns the biases of the experts over `columns` columns: a row of the table for each sorted
/// row. It is written out, since nothing fuses with the kernel, and read by the addition
/// (moe.py, transform_bias).
Elementwise biased(const Shard& s, double columns) {
    if (!s.mlp_bias || !s.experts.path.sparse()) {
        return {};
    }
    const double elements = s.experts.tokens * columns;
    const double row = elements * s.precision.compute;
    return by_index(s, 2 * row) + Elementwise{row, elements};
}

/// Returns the gradient of the biases: a scatter-add, which reads each row and reads and writes
/// that of its expert.
Elementwise bias_gradient(const Shard& s, double columns) {
    if (!s.mlp_bias || !s.experts.path.sparse()) {
        return {};
    }
    const double elements = s.experts.tokens * columns;
    return by_index(s, 3 * elements * s.precision.compute, elements);
}

/// Returns the elements of the masks [S, E, C] of all sequences. Every tensor rank has them, and
/// multiplies its fraction of D's columns.
double mask_elements(const Shard& s) {
    return s.tokens * s.experts.routed * s.experts.capacity;
}

/// Returns the slots of the experts' rows per sequence, and the columns of D that
/// this chip works on.
double places(const Shard& s) {
    return s.experts.routed * s.experts.capacity;
}
double columns_of_way(const Shard& s) {
    return s.d_model * s.rows / s.tokens;
}

/// Returns a product of the masks with rows or results of a sequence, with the inner dimension in
/// the middle. Operands and result move once; `mask` is the bytes of a mask's element.
Compute masked(const Shard& s, double m, double k, double n, double mask) {
    const double moved = (s.sequence + places(s)) * columns_of_way(s) * s.sequences;
    return {.flops = sim::Flops(2 * m * k * n * s.sequences),
            .matmuls = {{m, k, n, s.sequences}},
            .hbm = sim::Bytes(moved * s.precision.compute + mask_elements(s) * mask)};
}

/// Returns the making of the masks from the router's weights: one-hot slots in f32 registers,
/// written as the weights and as booleans.
Elementwise masks(const Shard& s) {
    return {mask_bytes(s), mask_elements(s) * kMask};
}

/// Returns the moves of the rows to their experts, without the router.
Elementwise routing(const Shard& s) {
    switch (s.experts.path.matmul) {
        case ExpertMatmul::ideal:
            return copied_rows(s, 0);
        case ExpertMatmul::sparse:
            return sorted(s) + repeated(s) + moved(s, sorted_elements(s));
        case ExpertMatmul::dense:
            return masks(s);
        case ExpertMatmul::dense_of_all:
            return {};
    }
    return {};
}

/// Returns their backward pass, into the gradient of the rows.
Elementwise routing_gradient(const Shard& s) {
    switch (s.experts.path.matmul) {
        case ExpertMatmul::ideal:
            return copied_rows(s, 1);
        case ExpertMatmul::sparse:
            return added_back(s);
        case ExpertMatmul::dense:
            // The masks of weights count once more, for their gradient.
            return {mask_elements(s) * s.precision.compute, mask_elements(s) * kMask};
        case ExpertMatmul::dense_of_all:
            return copied_rows(s, 1);
    }
    return {};
}

/// Adds one column to the product, the weight of the shared experts' output.
Compute with_gate(const Shard& s, Compute router) {
    router.flops += sim::Flops(s.experts.shared_gate ? 2 * s.rows * s.d_model : 0);
    return router;
}

}  // namespace

double mask_bytes(const Shard& s) {
    return mask_elements(s) * (s.precision.compute + kBool);
}

Compute router_forward(const Shard& s) {
    const Elementwise choice{0, s.rows * s.experts.routed * (kSoftmax + s.experts.per_token)};
    const Compute router =
        with_gate(s, activations(s, s.rows, s.d_model, s.experts.routed,
                                 norm_and_residual(s) + routing(s) + choice, Runs::in_bf16));
    return s.experts.path.dense()
               ? both(router, masked(s, places(s), s.sequence, columns_of_way(s), kBool))
               : router;
}

Compute router_input_gradient(const Shard& s) {
    const Elementwise choice{0, s.rows * s.experts.routed * kRouterBackward};
    const Compute router =
        with_gate(s, activations(s, s.rows, s.experts.routed, s.d_model,
                                 norm_and_residual_gradient(s) + routing_gradient(s) + choice,
                                 Runs::in_bf16));
    return s.experts.path.dense()
               ? both(router, masked(s, s.sequence, places(s), columns_of_way(s), kBool))
               : router;
}

Compute router_weight_gradient(const Shard& s) {
    return with_gate(s, weight_gradient(s, s.rows, s.d_model, s.experts.routed,
                                        normed_again(s, s.mlp_norms_again), Runs::in_bf16));
}

Compute experts_gate_up_forward(const Shard& s) {
    return grouped(s, s.d_model, s.experts.d_ff, Branches::side_by_side,
                   s.experts.path.gate_up.forward, biased(s, s.branches * s.experts.d_ff));
}

Compute experts_down_forward(const Shard& s) {
    return grouped(s, s.experts.d_ff, s.d_model, Branches::one, s.experts.path.down.forward,
                   activation_function(s, s.experts.tokens, s.experts.d_ff) + biased(s, s.d_model));
}

Compute experts_down_input_gradient(const Shard& s) {
    return grouped(s, s.d_model, s.experts.d_ff, Branches::one, s.experts.path.down.dlhs,
                   hidden_gradient(s));
}

Compute experts_down_weight_gradient(const Shard& s) {
    return grouped_weight_gradient(
        s, s.experts.d_ff, s.d_model, Branches::one, s.experts.path.down.drhs,
        activation_again(s, s.experts.tokens, s.experts.d_ff) + bias_gradient(s, s.d_model));
}

Compute experts_gate_up_input_gradient(const Shard& s) {
    return grouped(s, s.experts.d_ff, s.d_model, Branches::added, s.experts.path.gate_up.dlhs);
}

Compute experts_gate_up_weight_gradient(const Shard& s) {
    return grouped_weight_gradient(s, s.d_model, s.experts.d_ff, Branches::side_by_side,
                                   s.experts.path.gate_up.drhs,
                                   bias_gradient(s, s.branches * s.experts.d_ff));
}

Compute combine_forward(const Shard& s) {
    if (s.experts.path.dense()) {
        return masked(s, s.sequence, places(s), columns_of_way(s), s.precision.compute);
    }
    Elementwise work = copied_rows(s, kCombine);
    if (s.experts.path.sparse()) {
        work = work + sorted(s) + moved(s, copied_elements(s));
    }
    return only(work);
}

Compute combine_gradient(const Shard& s) {
    if (s.experts.path.dense()) {
        return both(masked(s, places(s), s.sequence, columns_of_way(s), s.precision.compute),
                    masked(s, s.sequence, columns_of_way(s), places(s), s.precision.compute));
    }
    Elementwise work =
        copied_rows(s, kCombineBackward) + Elementwise{copied_elements(s) * s.precision.compute, 0};
    if (s.experts.path.sparse()) {
        work = work + moved_back(s, copied_elements(s));
    }
    return only(work);
}

}  // namespace podsim::workloads
