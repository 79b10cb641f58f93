// What the compute of a program takes at given rates, by resource.
#pragma once

#include "sim/base/quantity.h"
#include "sim/base/time.h"
#include "workloads/analytic/machine_rates.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// Sums over a program's operations: at peak rate without padding, and what is added to it, each operation's parts
/// rounded up to picoseconds.
struct WorkAccount {
    sim::Time ideal;             ///< flops / peak
    sim::Time padding;           ///< matrix dimensions rounded up to the systolic array
    sim::Time hbm;               ///< HBM time beyond the padded MXU time
    sim::Time vpu;               ///< VPU time beyond both
    sim::Time hbm_all;           ///< bytes / bandwidth of every operation
    sim::Time mxu_beyond_hbm;    ///< padded MXU time beyond hbm_all
    sim::Time vpu_all;           ///< elementwise operations / rate of every operation
    sim::Time mxu_beyond_vpu;    ///< padded MXU time beyond vpu_all
    sim::Time hbm_beyond_vpu;    ///< HBM time beyond both of these
    sim::Seconds unrounded;      ///< the sum of flops / peak
    sim::Seconds hbm_unrounded;  ///< of bytes / bandwidth
    sim::Seconds vpu_unrounded;  ///< of elementwise operations / rate
};
WorkAccount account_work(const workloads::StepProgram& program,
                         const workloads::MachineRates& rates);

}  // namespace podsim::scenarios
