#include "workloads/work/rows_work.h"

#include <utility>

namespace podsim::workloads {

RowsWork::RowsWork(const Shard& shard, Compute whole) : shard_(shard), whole_(std::move(whole)) {}

RowsWork::RowsWork(const Shard& shard, Compute (*of_experts)(const Shard&))
    : shard_(shard), whole_(of_experts(shard)), of_experts_(of_experts) {}

double RowsWork::weight_bytes() const {
    if (of_experts_ != nullptr) {
        return shard_.experts.weight_bytes;
    }
    return whole_.dtype == MatmulDtype::bf16 ? shard_.plain_weight_bytes : shard_.weight_bytes;
}

Compute RowsWork::part(double share) const {
    if (!whole_.steps.empty()) {
        return part_in_tiles(share);
    }
    double weights = 0;
    for (const MatmulShape& shape : whole_.matmuls) {
        weights += shape.m == 0 ? 0 : shape.k * shape.n * shape.count * weight_bytes();
    }
    Compute part = whole_;
    part.flops = whole_.flops * share;
    part.vector = whole_.vector * share;
    part.elementwise = whole_.elementwise * share;
    part.apart = whole_.apart * share;
    part.gathered = whole_.gathered * share;
    part.hbm = sim::Bytes((whole_.hbm.value() - weights) * share + weights);
    for (MatmulShape& shape : part.matmuls) {
        shape.m *= share;
    }
    return part;
}

double RowsWork::scales() const {
    const MatmulShape& shape = whole_.matmuls.front();
    return of_experts_ != nullptr ? shard_.experts.tokens + shard_.experts.reached * shape.n
                                  : shape.m + shape.n;
}

Compute RowsWork::part_in_tiles(double share) const {
    Shard quantised_before = shard_;
    quantised_before.experts.quantised = true;
    const Compute without = of_experts_(quantised_before);
    Shard of_part = quantised_before;
    of_part.tokens *= share;
    of_part.rows *= share;
    of_part.experts.tokens *= share;
    of_part.experts.copies *= share;
    Compute part = of_experts_(of_part);
    part.vector += (whole_.vector - without.vector) * share;
    part.hbm += (whole_.hbm - without.hbm) * share;
    part.elementwise += (whole_.elementwise - without.elementwise) * share;
    return part;
}

}  // namespace podsim::workloads
