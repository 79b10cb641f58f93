#include "collectives/catalogue/choose_algorithm.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <tuple>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "sim/base/error.h"

namespace podsim::collectives {
namespace {

/// Hops one after the other, and the busiest link's bytes, of the algorithms that gather and reduce.
struct Load {
    int hops = 0;
    sim::Bytes bytes;
};

Load load_of(Operation operation, const topology::Lattice& slice, const Group& group,
             Algorithm algorithm, sim::Bytes v) {
    const bool one_shot = algorithm == Algorithm::one_shot;
    const bool twice = operation == Operation::all_reduce && !one_shot;
    const bool whole = spans_twisted_slice(slice, group);
    const double members = one_shot ? 1.0 : group_size(group);
    std::vector<double> bytes(group.size());
    Load load;
    for (const Part& part : divide(slice, group, algorithm)) {
        int hops = 0;
        double held = v.value() * part.weight / members;
        for (std::size_t i = 0; i < part.order.size(); ++i) {
            const auto f = static_cast<std::size_t>(part.order[i]);
            const int length = part.lengths[i];
            const bool ring = whole || factor_kind(slice, group[f]).ring;
            const bool two_way = ring && algorithm != Algorithm::one_way;
            const double blocks = two_way ? (length - 1) / (twice ? 1.0 : 2.0)
                                  : ring  ? (length - 1) * (twice ? 2.0 : 1.0)
                                          : length - (twice ? 0 : 1);
            bytes[f] += held * blocks * group[f].stride;
            hops += (two_way ? length / 2 : length - 1) * group[f].stride;
            held *= one_shot ? 1 : length;
        }
        load.hops = std::max(load.hops, twice ? 2 * hops : hops);
    }
    for (const double on_factor : bytes) {
        load.bytes = std::max(load.bytes, sim::Bytes(on_factor));
    }
    return load;
}

}  // namespace

sim::Time lower_bound(Operation operation, const topology::Lattice& slice, const Group& group,
                      Algorithm algorithm, sim::Bytes v, const LinkModel& link) {
    const bool gathers =
        operation != Operation::all_to_all && algorithm != Algorithm::reduce_broadcast;
    const Load load = gathers ? load_of(operation, slice, group, algorithm, v) : Load{};
    const sim::Seconds busy =
        std::max(physical_bound(operation, slice, group, v, link.rate), load.bytes / link.rate);
    const auto bytes_ps = static_cast<std::int64_t>(std::floor(busy.value() * 1e12 * (1 - 1e-12)));
    const std::int64_t hops_ps = load.hops * (sim::round_up(link.latency).ps - 1);
    return {std::max({bytes_ps, hops_ps, std::int64_t{0}})};
}

Algorithm choose(Operation operation, const topology::Lattice& slice, const Group& group,
                 sim::Bytes v, const ScheduleOptions& options, const LinkModel& link,
                 const std::function<sim::Time(Algorithm)>& simulate) {
    const std::vector<Algorithm> list = candidates(operation, slice, group);
    if (list.size() == 1) {
        return list.front();
    }
    using Turn = std::tuple<sim::Time, std::size_t>;  // a time, then the place in the list
    std::vector<Turn> turns;
    for (std::size_t i = 0; i < list.size(); ++i) {
        turns.emplace_back(lower_bound(operation, slice, group, list[i], v, link), i);
    }
    std::ranges::sort(turns);
    std::optional<Turn> best;
    std::exception_ptr error;
    for (const Turn& bound : turns) {
        if (best && bound > *best) {
            break;
        }
        const std::size_t index = std::get<1>(bound);
        const Algorithm algorithm = list[index];
        try {
            const auto exact = closed_form(operation, slice, group, algorithm, v, options, link);
            const Turn tried{exact ? *exact : simulate(algorithm), index};
            best = best ? std::min(*best, tried) : tried;
        } catch (const sim::InputError&) {
            error = std::current_exception();
        }
    }
    if (!best) {
        std::rethrow_exception(error);
    }
    return list[std::get<1>(*best)];
}

}  // namespace podsim::collectives
