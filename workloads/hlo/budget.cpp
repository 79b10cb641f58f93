#include "workloads/hlo/budget.h"

#include <fmt/format.h>

namespace podsim::workloads::hlo {

void Budget::refuse(const Instruction& at) const {
    throw module_.error(at, fmt::format("with it the module takes more than {:.0f} steps", most_),
                        "give a smaller module, or one for fewer devices");
}

}  // namespace podsim::workloads::hlo
