#include "collectives/catalogue/resolve.h"

#include <algorithm>
#include <string>

#include "collectives/catalogue/operations.h"
#include "sim/base/error.h"

namespace podsim::collectives {
namespace {

/// `auto, shortest-routes, one-way`
std::string names(const std::vector<Algorithm>& algorithms) {
    std::string text(to_string(Algorithm::automatic));
    for (const Algorithm algorithm : algorithms) {
        text += ", " + std::string(to_string(algorithm));
    }
    return text;
}

std::string does_not_carry_out(const CollectiveCall& call) {
    return "algorithm '" + std::string(to_string(call.algorithm)) + "' does not carry out " +
           std::string(to_string(call.operation));
}

/// `across_slices`: of what goes on in each of several slices.
Algorithm resolve_within_slice(const CollectiveCall& call, bool across_slices = false) {
    const OperationInfo& row = info(call.operation);
    if (call.algorithm == Algorithm::automatic) {
        return row.candidates(call).front();
    }
    const std::vector<Algorithm> list = row.algorithms(call);
    if (std::ranges::find(list, call.algorithm) != list.end()) {
        return call.algorithm;
    }
    if (call.algorithm == Algorithm::flat && row.ends == EndsTaken::none) {
        throw sim::InputError("algorithm 'flat' is for several slices",
                              "allowed for one slice: auto and the others");
    }
    throw sim::InputError(
        does_not_carry_out(call) + " on this group",
        "allowed: " + names(list) + (across_slices && !row.routed ? ", flat" : ""));
}

Algorithm resolve_between_slices(const CollectiveCall& call) {
    const OperationInfo& row = info(call.operation);
    if (row.ends != EndsTaken::none) {
        throw sim::InputError(std::string(row.name) + " between slices is not available",
                              "use axes within one slice");
    }
    CollectiveCall within = call;
    within.operation = row.within_slices;
    within.members.across = {};
    if (call.algorithm == Algorithm::flat) {
        if (row.routed) {
            throw sim::InputError(does_not_carry_out(call),
                                  "allowed: " + names(row.algorithms(within)));
        }
        return Algorithm::flat;
    }
    const Algorithm resolved = resolve_within_slice(within, true);
    // Between lone chips there is nothing to share: every chip exchanges on its own.
    return call.group().empty() && !row.routed ? Algorithm::flat : resolved;
}

}  // namespace

Algorithm resolve(const CollectiveCall& call) {
    return call.members.span_slices() ? resolve_between_slices(call) : resolve_within_slice(call);
}

}  // namespace podsim::collectives
