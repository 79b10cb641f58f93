#include "scenarios/serve_report/load_verdict.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace podsim::scenarios {
namespace {

std::vector<sim::Time> in_order(const ServingResult& result, sim::Time ServedRequest::*when) {
    std::vector<sim::Time> times;
    times.reserve(result.requests.size());
    for (const ServedRequest& served : result.requests) {
        times.push_back(served.*when);
    }
    std::ranges::sort(times);
    return times;
}

/// The longest of the first ceil(sqrt(n)) requests from the server that took it to its end.
sim::Time first_ones_took(const ServingResult& result) {
    const auto first =
        static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(result.requests.size()))));
    sim::Time most;
    for (std::size_t i = 0; i < first; ++i) {
        most = std::max(most, result.requests[i].finished - result.requests[i].started);
    }
    return most;
}

}  // namespace

double overload_limit(std::int64_t requests) {
    return 3 * std::sqrt(1.2 * static_cast<double>(requests));
}

LoadVerdict load_verdict_of(const ServingResult& result, bool open) {
    LoadVerdict verdict;
    const std::int64_t n = std::ssize(result.requests);
    verdict.limit = overload_limit(n);
    verdict.in_line = result.queue.at_last_arrival;
    if (n == 0) {
        return verdict;
    }
    const std::vector<sim::Time> arrivals = in_order(result, &ServedRequest::arrived);
    const std::vector<sim::Time> ends = in_order(result, &ServedRequest::finished);
    const std::int64_t h = n / 2;
    const std::int64_t middle = n - 1 - h;
    std::int64_t left = 0;
    // Slopes of whole numbers at whole places, exact: the sum of 2 (i - h / 2) N_i over that of 2 (i - h / 2)^2.
    double products = 0;
    double squares = 0;
    for (std::int64_t i = 0; i <= h; ++i) {
        const sim::Time now = arrivals[static_cast<std::size_t>(middle + i)];
        while (left < n && ends[static_cast<std::size_t>(left)] <= now) {
            ++left;
        }
        verdict.in_system = middle + i + 1 - left;
        const auto off = static_cast<double>(2 * i - h);
        products += off * static_cast<double>(verdict.in_system);
        squares += off * off / 2;
    }
    const sim::Time from = arrivals[static_cast<std::size_t>(middle)];
    verdict.growth = h > 0 ? products / squares * static_cast<double>(h) : 0;
    verdict.growth_per_s =
        arrivals.back() > from ? verdict.growth / (arrivals.back() - from).seconds() : 0;
    const sim::Time took = first_ones_took(result);
    verdict.first_took_s = took.seconds();
    if (open && arrivals.back() > arrivals.front()) {
        const bool grows = verdict.growth > verdict.limit;
        const bool too_few = verdict.growth > 0 && verdict.limit >= static_cast<double>(h);
        verdict.too_short = left == 0 || too_few || (grows && took > from - arrivals.front());
        verdict.overloaded = grows && !verdict.too_short;
    }
    return verdict;
}

}  // namespace podsim::scenarios
