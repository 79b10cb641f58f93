#include "collectives/catalogue/closed_form.h"

#include "collectives/catalogue/build_schedule.h"
#include "collectives/catalogue/operations.h"

namespace podsim::collectives {

std::optional<sim::Time> closed_form(const CollectiveCall& call, const ScheduleOptions& options,
                                     const LinkModel& link) {
    const OperationInfo& row = info(call.operation);
    if (call.members.span_slices()) {
        return std::nullopt;
    }
    if (row.ends != EndsTaken::two_chips && group_size(call.group()) == 1) {
        return sim::Time{};
    }
    if (row.closed_form == nullptr) {
        return std::nullopt;
    }
    CollectiveCall resolved = call;
    resolved.algorithm = resolve(call);
    return row.closed_form(resolved, options, link);
}

}  // namespace podsim::collectives
