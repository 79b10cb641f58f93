#include "scenarios/src/serve/summary.h"

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

/// Returns the longest time of the first ceil(sqrt(n)) requests, from admission to the end.
sim::Time first_ones_took(const ServingResult& result) {
    const auto first =
        static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(result.requests.size()))));
    sim::Time most;
    for (std::size_t i = 0; i < first; ++i) {
        most = std::max(most, result.requests[i].finished - result.requests[i].started);
    }
    return most;
}

double ratio(double a, double b) {
    return b > 0 ? a / b : 0;
}

/// Returns the quantile q; reorders the times.
double quantile(std::vector<sim::Time>& times, double q) {
    const double place = q * static_cast<double>(times.size() - 1);
    const auto below = static_cast<std::ptrdiff_t>(place);
    const auto at = times.begin() + below;
    std::ranges::nth_element(times, at);
    const double low = at->seconds();
    if (at + 1 == times.end()) {
        return low;
    }
    const double high = std::min_element(at + 1, times.end())->seconds();
    return low + (place - std::floor(place)) * (high - low);
}

bool good(const ServedRequest& served, const Objective& objective) {
    if (objective.first_token.has_value() &&
        served.first - served.arrived > *objective.first_token) {
        return false;
    }
    // (end - first) / (tokens - 1) <= objective, without the division.
    return !objective.a_token.has_value() || served.output == 1 ||
           served.finished - served.first <= *objective.a_token * (served.output - 1);
}

void add_times(ServingSummary& summary, const ServingResult& result) {
    std::vector<sim::Time> first;
    std::vector<sim::Time> a_token;
    std::vector<sim::Time> whole;
    std::vector<sim::Time> wait;
    for (const ServedRequest& served : result.requests) {
        first.push_back(served.first - served.arrived);
        whole.push_back(served.finished - served.arrived);
        wait.push_back(served.started - served.arrived);
        if (served.output > 1) {
            a_token.push_back({(served.finished - served.first).ps / (served.output - 1)});
        }
    }
    summary.first_token = spread_of(std::move(first));
    summary.a_token = spread_of(std::move(a_token));
    summary.gap = spread_of(result.gaps);
    summary.whole = spread_of(std::move(whole));
    summary.wait = spread_of(std::move(wait));
}

void add_rates(ServingSummary& summary, const ServingSpec& spec, const ServingResult& result) {
    double outputs = 0;
    double prompts = 0;
    double served_in_time = 0;
    double good_ones = 0;
    for (const ServedRequest& served : result.requests) {
        outputs += static_cast<double>(served.output);
        prompts += static_cast<double>(served.prompt);
        served_in_time += served.finished <= result.last_arrival ? 1 : 0;
        good_ones += good(served, spec.objective) ? 1 : 0;
        summary.preemptions += served.preemptions;
        summary.preempted_requests += served.preemptions > 0 ? 1 : 0;
    }
    const auto count = static_cast<double>(result.requests.size());
    const double arriving = (result.last_arrival - result.begin).seconds();
    summary.requests_per_s = ratio(count, summary.seconds);
    summary.output_per_s = ratio(outputs, summary.seconds);
    summary.prompt_per_s = ratio(prompts, summary.seconds);
    if (arriving > 0) {
        summary.offered_per_s = (count - 1) / arriving;
        summary.served_per_s = served_in_time / arriving;
    }
    summary.good_share = ratio(good_ones, count);
    summary.goodput_per_s = ratio(good_ones, summary.seconds);
    summary.tokens_a_decode = result.decodes == 0 ? 1
                                                  : static_cast<double>(result.decoded) /
                                                        static_cast<double>(result.decodes);
    summary.accepted_share =
        ratio(static_cast<double>(result.accepted), static_cast<double>(result.drafted));
}

void add_servers(ServingSummary& summary, const ServingSpec& spec, const ServingResult& result) {
    for (const ServerUse& use : result.prefill) {
        summary.prefill_busy += ratio(use.busy.seconds(), summary.seconds);
        summary.recomputed += use.prefill_tokens;
    }
    summary.prefill_busy = ratio(summary.prefill_busy, static_cast<double>(result.prefill.size()));
    for (const ServerUse& use : result.generate) {
        summary.generate_busy += ratio(use.busy.seconds(), summary.seconds);
        summary.slots_used += use.mean_running / static_cast<double>(spec.batching.slots);
        summary.mean_pages += use.mean_pages;
        summary.most_pages = std::max(summary.most_pages, use.most_pages);
        summary.recomputed += use.prefill_tokens;
    }
    const auto servers = static_cast<double>(result.generate.size());
    summary.generate_busy /= servers;
    summary.slots_used /= servers;
    summary.a_transfer = ratio(result.transfers.seconds(), static_cast<double>(result.caches_sent));
    summary.sending = ratio(result.transfers.seconds(),
                            summary.seconds * static_cast<double>(result.prefill.size()));
    summary.transfers_limit =
        summary.sending > std::max(summary.prefill_busy, summary.generate_busy);
    summary.mean_pages /= servers;
    for (const ServedRequest& served : result.requests) {
        summary.recomputed -= served.prompt - served.prefix;
    }
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
    // Slopes of whole numbers at whole positions are exact: the sum of 2 (i - h / 2) N_i over that
    // of 2 (i - h / 2)^2.
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

Spread spread_of(std::vector<sim::Time> times) {
    Spread spread;
    if (times.empty()) {
        return spread;
    }
    spread.count = times.size();
    double sum = 0;
    for (const sim::Time time : times) {
        sum += time.seconds();
    }
    spread.mean = sum / static_cast<double>(times.size());
    spread.median = quantile(times, 0.5);
    spread.p90 = quantile(times, 0.9);
    spread.p99 = quantile(times, 0.99);
    spread.largest = std::ranges::max(times).seconds();
    return spread;
}

ServingSummary summarise(const ServingSpec& spec, const ServingResult& result) {
    ServingSummary summary;
    summary.seconds = result.took().seconds();
    add_times(summary, result);
    add_rates(summary, spec, result);
    summary.load = load_verdict_of(result, spec.load.arrivals != ArrivalKind::concurrency);
    add_servers(summary, spec, result);
    return summary;
}

}  // namespace podsim::scenarios
