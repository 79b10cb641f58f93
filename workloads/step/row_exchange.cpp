#include "workloads/step/row_exchange.h"

#include <utility>

#include "workloads/plan/axes.h"
#include "workloads/program/op_names.h"

namespace podsim::workloads {

using collectives::Operation;

namespace {

Tensor made_at(OpIndex op) {
    return {op, op, {op}};
}

}  // namespace

RowExchange::RowExchange(const Ways& ways, const ExpertLoad& experts, const Shard& shard,
                         const MatmulOverlap& overlap, const OpNames& names, Chain& chain,
                         HeldBuffers& buffers)
    : ways_(ways),
      experts_(experts),
      shard_(shard),
      overlap_(overlap),
      names_(names),
      chain_(chain),
      buffers_(buffers),
      tensor_axes_(axes_with(&PlanAxis::splits_matrices, ways)) {}

Tensor RowExchange::unchanged(const Tensor& own) const {
    return {chain_.next(), chain_.next(), own.made_by};
}

Tensor RowExchange::block_on_gather(std::string_view what, double bytes, const Axes& axes,
                                    const Tensor& own) {
    return made_at(chain_.blocking(
        words("gather", what), {Operation::all_gather, Purpose::tensor, axes, sim::Bytes(bytes)},
        own.made_by));
}

Tensor RowExchange::block_on_scatter(std::string_view what, double bytes, const Axes& axes,
                                     const Tensor& sums) {
    const OpIndex scattered = chain_.blocking(
        words("scatter", what),
        {Operation::reduce_scatter, Purpose::tensor, axes, sim::Bytes(bytes)}, sums.made_by);
    buffers_.hold_between(MemoryClass::buffers, bytes, sums.from, scattered);
    return made_at(scattered);
}

// ---- rows

Arriving RowExchange::gather_over_tensor(std::string_view what, double bytes, const Tensor& own) {
    if (overlap_.steps()) {
        return {unchanged(own), PendingGather{std::string(what), bytes, Purpose::tensor}};
    }
    return {ways_.tensor == 1 ? unchanged(own) : block_on_gather(what, bytes, {axis::tensor}, own)};
}

Tensor RowExchange::gather_ahead(std::string_view what, double bytes, const Tensor& own) {
    if (!overlap_.steps()) {
        return gather_over_tensor(what, bytes, own);
    }
    return made_at(chain_.collective(
        names_.label(words("gather", what)),
        {Operation::all_gather, Purpose::tensor, {axis::tensor}, sim::Bytes(bytes)},
        {own.made_by, {}, chain_.end()}));
}

Tensor RowExchange::scatter_over_tensor(std::string_view what, double bytes,
                                        const PartialSums& sums) {
    return ways_.tensor == 1 || sums.added_up ? Tensor(sums)
                                              : block_on_scatter(what, bytes, {axis::tensor}, sums);
}

Arriving RowExchange::gather_rows(std::string_view what, const Tensor& own) {
    return gather_over_tensor(what, full_row_bytes(shard_), own);
}

Tensor RowExchange::complete(const Arriving& rows) {
    return rows.pending
               ? block_on_gather(rows.pending->what, rows.pending->bytes, {axis::tensor}, rows)
               : Tensor(rows);
}

Tensor RowExchange::gather_rows_ahead(std::string_view what, const Tensor& own) {
    return gather_ahead(what, full_row_bytes(shard_), own);
}

Tensor RowExchange::scatter_rows(std::string_view what, const PartialSums& sums) {
    return scatter_over_tensor(what, full_row_bytes(shard_), sums);
}

// ---- columns

Tensor RowExchange::gather_columns(std::string_view what, double width, const Tensor& own) {
    const double bytes = shard_.tokens * width * shard_.precision.compute;
    return tensor_axes_.empty() ? unchanged(own) : block_on_gather(what, bytes, tensor_axes_, own);
}

Tensor RowExchange::scatter_columns(std::string_view what, double width, const Tensor& sums) {
    const double bytes = shard_.tokens * width * shard_.precision.compute;
    return tensor_axes_.empty() ? sums : block_on_scatter(what, bytes, tensor_axes_, sums);
}

Tensor RowExchange::all_reduce(std::string_view what, double bytes, const Tensor& own) {
    if (tensor_axes_.empty()) {
        return own;
    }
    return made_at(chain_.blocking(
        words("reduce", what),
        {Operation::all_reduce, Purpose::tensor, tensor_axes_, sim::Bytes(bytes)}, own.made_by));
}

double RowExchange::transposed_bytes(double width) const {
    return ways_.tensor_transpose == 1
               ? 0
               : shard_.tokens * shard_.block_columns(width) * shard_.precision.compute;
}

Tensor RowExchange::gather_transposed(std::string_view what, double width, const Tensor& own) {
    return ways_.tensor_transpose == 1
               ? unchanged(own)
               : block_on_gather(what, transposed_bytes(width), {axis::tensor_transpose}, own);
}

Tensor RowExchange::scatter_transposed(std::string_view what, double width, const Tensor& sums) {
    return ways_.tensor_transpose == 1
               ? sums
               : block_on_scatter(what, transposed_bytes(width), {axis::tensor_transpose}, sums);
}

Tensor RowExchange::reduce_norm(std::string_view what, double norms, const Tensor& rows) {
    if (ways_.tensor_transpose == 1) {
        return rows;
    }
    constexpr double kSum = 4;  // bytes
    const double sums = norms * (shard_.layer_norm ? 2 : 1);
    const OpIndex reduced =
        chain_.blocking(words("reduce", what),
                        {Operation::all_reduce,
                         Purpose::tensor,
                         {axis::tensor_transpose},
                         sim::Bytes(shard_.rows * ways_.tensor_transpose * sums * kSum)},
                        rows.made_by);
    return {reduced, reduced, rows.made_by + Sources{reduced}};
}

// ---- tokens

double RowExchange::token_bytes() const {
    return shard_.experts.tokens * shard_.d_model * shard_.precision.compute;
}

Tensor RowExchange::exchange_tokens(std::string_view what, bool back, const Tensor& own) {
    if (ways_.expert == 1) {
        return {chain_.last(), chain_.last(), own.made_by};
    }
    const double bytes =
        shard_.experts.copies * shard_.d_model * shard_.precision.compute / ways_.tensor;
    Collective exchange{
        Operation::all_to_all, Purpose::expert, {axis::expert}, sim::Bytes(bytes * ways_.expert)};
    if (experts_.uneven()) {
        exchange.loads = experts_.loads;
        exchange.returning = back;
    }
    return made_at(chain_.blocking(words("exchange", what), std::move(exchange), own.made_by));
}

Arriving RowExchange::gather_tokens(std::string_view what, const Tensor& own) {
    return gather_over_tensor(what, token_bytes(), own);
}

Tensor RowExchange::gather_tokens_ahead(std::string_view what, const Tensor& own) {
    return gather_ahead(what, token_bytes(), own);
}

Tensor RowExchange::scatter_tokens(std::string_view what, const PartialSums& sums) {
    return scatter_over_tensor(what, token_bytes(), sums);
}

// ---- keys and values

Arriving RowExchange::gather_kv(std::string_view what, const Tensor& own) {
    Tensor columns = unchanged(own);
    if (shard_.kv_split_by_columns) {
        columns = gather_columns(words("columns of", what),
                                 shard_.all_kv_heads * (shard_.head_dim + shard_.value_dim), own);
    }
    if (ways_.context == 1) {
        return {columns};
    }
    const double bytes = shard_.kv_elements() * shard_.precision.compute;
    if (overlap_.rings_of_keys()) {
        return {unchanged(columns), PendingGather{std::string(what), bytes, Purpose::context}};
    }
    return {made_at(chain_.blocking(
        words("gather", what),
        {Operation::all_gather, Purpose::context, {axis::context}, sim::Bytes(bytes)},
        columns.made_by))};
}

Tensor RowExchange::scatter_kv(std::string_view what, const Tensor& sums) {
    Tensor scattered = sums;
    if (ways_.context > 1 && !overlap_.rings_of_keys()) {
        const double bytes = shard_.kv_elements() * shard_.precision.compute;
        scattered = made_at(chain_.blocking(
            words("scatter", what),
            {Operation::reduce_scatter, Purpose::context, {axis::context}, sim::Bytes(bytes)},
            sums.made_by));
        buffers_.hold_between(MemoryClass::buffers, bytes, sums.from, scattered.from);
    }
    if (shard_.kv_split_by_columns) {
        scattered =
            scatter_columns(words("columns of", what),
                            shard_.all_kv_heads * (shard_.head_dim + shard_.value_dim), scattered);
    }
    return scattered;
}

}  // namespace podsim::workloads
