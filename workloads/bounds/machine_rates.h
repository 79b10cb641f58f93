// The machine as the analytic estimates see it.
#pragma once

#include "collectives/catalogue/bounds.h"
#include "sim/base/quantity.h"
#include "topology/chips/efficiency.h"
#include "workloads/plan/matmul_dtype.h"

namespace podsim::workloads {

struct MachineRates {
    sim::FlopsPerSecond flops;  ///< peak of bf16 matmuls
    sim::BytesPerSecond hbm;
    sim::BytesPerSecond ici_one_way;  ///< per link and direction
    int mxu_dimension = 128;
    collectives::SliceLinks between_slices{};  ///< PCIe and DCN
    /// Efficiency of matmuls and the vector unit; the rates above do not include it.
    topology::Efficiency efficiency{};
    int chips_per_slice = 1;
    sim::FlopsPerSecond vpu = sim::FlopsPerSecond::infinity();  ///< elementwise operations
    sim::FlopsPerSecond int8{};
    sim::FlopsPerSecond fp8{};  ///< 0: none
    /// True if kernels and messages share the HBM. The bound then counts the bytes of both, and the
    /// text's step the loading of weights.
    bool hbm_shared = false;

    /// Returns the peak of matmuls in that dtype.
    [[nodiscard]] sim::FlopsPerSecond peak(MatmulDtype dtype) const {
        return dtype == MatmulDtype::bf16 ? flops : dtype == MatmulDtype::int8 ? int8 : fp8;
    }
};

}  // namespace podsim::workloads
