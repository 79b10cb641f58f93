#include "collectives/catalogue/choose_algorithm.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <tuple>
#include <vector>

#include "collectives/algorithms/messages.h"
#include "collectives/catalogue/bounds.h"
#include "collectives/catalogue/closed_form.h"
#include "collectives/catalogue/operations.h"

namespace podsim::collectives {
namespace {

CollectiveCall by(const CollectiveCall& call, Algorithm algorithm) {
    CollectiveCall one = call;
    one.algorithm = algorithm;
    return one;
}

/// `physical`: the bound of any algorithm.
sim::Time bound_of(const CollectiveCall& call, const LinkModel& link, sim::Seconds physical) {
    const OperationInfo& row = info(call.operation);
    const AlgorithmLoad load = row.load != nullptr ? row.load(call) : AlgorithmLoad{};
    const sim::Seconds busy = std::max(physical, load.bytes / link.rate);
    const auto bytes_ps = static_cast<std::int64_t>(std::floor(busy.value() * 1e12 * (1 - 1e-12)));
    const std::int64_t hops_ps = load.hops * (sim::round_up(link.latency).ps - 1);
    return {std::max({bytes_ps, hops_ps, std::int64_t{0}})};
}

}  // namespace

sim::Time lower_bound(const CollectiveCall& call, const LinkModel& link) {
    return bound_of(call, link, physical_bound(call, link.rate));
}

sim::Time lower_bound_of_any(const CollectiveCall& call, const LinkModel& link) {
    const sim::Seconds physical = physical_bound(call, link.rate);
    sim::Time least = sim::Time::max();
    for (const Algorithm algorithm : info(call.operation).candidates(call)) {
        least = std::min(least, bound_of(by(call, algorithm), link, physical));
    }
    return least;
}

Algorithm choose(const CollectiveCall& call, const ScheduleOptions& options, const LinkModel& link,
                 const std::function<sim::Time(Algorithm)>& simulate) {
    const std::vector<Algorithm> list = info(call.operation).candidates(call);
    if (list.size() == 1) {
        return list.front();
    }
    const sim::Seconds physical = physical_bound(call, link.rate);
    using Turn = std::tuple<sim::Time, std::size_t>;  // a time, then the index in the list
    std::vector<Turn> turns;
    for (std::size_t i = 0; i < list.size(); ++i) {
        turns.emplace_back(bound_of(by(call, list[i]), link, physical), i);
    }
    std::ranges::sort(turns);
    const auto latest = info(call.operation).latest;
    std::optional<Turn> best;
    std::exception_ptr error;
    for (std::size_t i = 0; i < turns.size(); ++i) {
        if (best && turns[i] > *best) {
            break;
        }
        const std::size_t index = std::get<1>(turns[i]);
        const CollectiveCall one = by(call, list[index]);
        try {
            const auto exact = closed_form(one, options, link);
            if (!exact && !best && latest != nullptr && i + 1 < turns.size()) {
                const auto surely = latest(one, options, link);
                if (surely && Turn{*surely, index} < turns[i + 1]) {
                    return list[index];
                }
            }
            const Turn tried{exact ? *exact : simulate(list[index]), index};
            best = best ? std::min(*best, tried) : tried;
        } catch (const TooManyMessages&) {
            error = std::current_exception();
        }
    }
    if (!best) {
        std::rethrow_exception(error);
    }
    return list[std::get<1>(*best)];
}

}  // namespace podsim::collectives
