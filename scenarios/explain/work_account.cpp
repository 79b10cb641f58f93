#include "scenarios/explain/work_account.h"

#include <algorithm>
#include <variant>

#include "workloads/analytic/compute_time.h"

namespace podsim::scenarios {

WorkAccount account_work(const workloads::StepProgram& program,
                         const workloads::MachineRates& rates) {
    WorkAccount account;
    for (const workloads::Op& op : program.ops) {
        if (const auto* work = std::get_if<workloads::Compute>(&op.work)) {
            const workloads::ComputeTime time = workloads::compute_time(*work, rates);
            const sim::Time ideal = sim::round_up(time.mxu);
            const sim::Time padded = sim::round_up(time.mxu_padded);
            account.unrounded += time.mxu;
            account.hbm_unrounded += time.hbm;
            account.vpu_unrounded += time.vpu;
            account.ideal += ideal;
            account.padding += padded - ideal;
            const sim::Time hbm = sim::round_up(time.hbm);
            const sim::Time vpu = sim::round_up(time.vpu);
            const sim::Time total = std::max({padded, hbm, vpu});
            account.hbm += std::max(padded, hbm) - padded;
            account.vpu += total - std::max(padded, hbm);
            account.hbm_all += hbm;
            account.mxu_beyond_hbm += std::max(padded, hbm) - hbm;
            account.vpu_all += vpu;
            account.mxu_beyond_vpu += std::max(padded, vpu) - vpu;
            account.hbm_beyond_vpu += total - std::max(padded, vpu);
        }
    }
    return account;
}

}  // namespace podsim::scenarios
