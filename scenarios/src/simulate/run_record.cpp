#include "scenarios/src/simulate/run_record.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace podsim::scenarios {
namespace {

constexpr sim::Time kForever{std::numeric_limits<std::int64_t>::max()};

}  // namespace

RunRecord::RunRecord(const sim::Workload& workload, Watch* watch, std::size_t most)
    : watch_(watch),
      most_(most),
      holdings_(workload.machine.links.size()),
      arrivals_(workload.machine.places) {
    spans_.reserve(workload.machine.places);
    for (const std::uint32_t graph : workload.graph_of_place) {
        spans_.emplace_back(workload.graphs[graph].tasks.size());
    }
    const View as_it_was{.from = {}, .until = kForever, .later_by = {}, .operations = 0};
    views_.resize(workload.graphs.size() + 1, {as_it_was});
    operations_ = sim::own_operations(workload);
    graph_.resize(workload.operations.size(), static_cast<std::uint32_t>(operations_.size()));
    number_.resize(workload.operations.size());
    for (std::uint32_t graph = 0; graph < operations_.size(); ++graph) {
        for (std::uint32_t i = 0; i < operations_[graph].size(); ++i) {
            graph_[operations_[graph][i]] = graph;
            number_[operations_[graph][i]] = i;
        }
    }
}

const RunRecord::Views& RunRecord::views_of(sim::OperationId operation) const {
    return views_[graph_[operation.index()]];
}

sim::OperationId RunRecord::later(sim::OperationId operation, const View& view) const {
    if (view.operations == 0) {
        return operation;
    }
    const std::uint32_t graph = graph_[operation.index()];
    const std::size_t number = std::size_t{number_[operation.index()]} + view.operations;
    return sim::OperationId(std::size_t{operations_[graph][number]});
}

void RunRecord::task_ended(sim::PlaceId place, sim::TaskId task, sim::Time began, sim::Time now) {
    spans_[place.index()][task.index()] = {began, now};
}

void RunRecord::transfer_arrived(sim::OperationId operation, sim::PlaceId source,
                                 sim::PlaceId destination, std::uint32_t transfer, sim::Time now) {
    if (is_whole_) {
        arrivals_[destination.index()].push_back({operation, source, transfer, now});
    }
}

void RunRecord::let_go() {
    is_whole_ = false;
    holdings_ = {};
    arrivals_ = {};
}

void RunRecord::link_held(const sim::Holding& holding) {
    if (!is_whole_) {
        return;
    }
    if (++held_ > most_) {
        let_go();
        return;
    }
    holdings_[holding.link.index()].push_back({holding.start, holding.end, holding.operation,
                                               holding.source, holding.transfer, holding.hop});
    longest_ = std::max(longest_, holding.end - holding.start);
}

/// The recorded holding may lie several repeats back, under the index of another operation of its
/// graph.
void RunRecord::link_held_longer(const sim::Holding& holding, sim::Time by) {
    if (!is_whole_) {
        return;
    }
    std::vector<Held>& all = holdings_[holding.link.index()];
    const auto said = std::find_if(all.rbegin(), all.rend(), [&](const Held& one) {
        return one.transfer == holding.transfer && one.source == holding.source &&
               one.hop == holding.hop &&
               graph_[one.operation.index()] == graph_[holding.operation.index()];
    });
    said->end += by;
    longest_ = std::max(longest_, said->end - said->start);
}

void RunRecord::repeated(std::uint32_t graph, sim::Time from, sim::Time period,
                         std::uint32_t operations, std::uint32_t repeats) {
    Views& views = views_[graph];
    views.back().until = from;
    for (std::uint32_t repeat = 1; repeat <= repeats; ++repeat) {
        views.push_back({.from = from - period,
                         .until = from,
                         .later_by = period * repeat,
                         .operations = operations * repeat});
    }
    views.push_back(
        {.from = from + period * repeats, .until = kForever, .later_by = {}, .operations = 0});
}

/// True if `image` is the operation to which the view maps `operation`.
bool RunRecord::is_later(sim::OperationId operation, const View& view,
                         sim::OperationId image) const {
    return graph_[operation.index()] == graph_[image.index()] &&
           (view.operations == 0
                ? operation == image
                : number_[operation.index()] + view.operations == number_[image.index()]);
}

template <class Use>
void RunRecord::over_views(const Views& views, sim::Time at, sim::Time before, Use use) const {
    const auto begins_after = [](sim::Time time, const View& view) {
        return time < view.from + view.later_by;
    };
    auto view = std::upper_bound(views.begin(), views.end(), at, begins_after);
    while (view != views.begin()) {
        --view;
        if (view->until != kForever && view->until + view->later_by < at - before) {
            return;
        }
        if (use(*view)) {
            return;
        }
    }
}

std::vector<Arrival> RunRecord::arrivals(std::size_t place, sim::OperationId operation,
                                         sim::Time at) const {
    std::vector<Arrival> found;
    over_views(views_of(operation), at, {}, [&](const View& view) {
        const std::vector<Arrival>& all = arrivals_[place];
        auto one = std::ranges::lower_bound(all, at - view.later_by, {}, &Arrival::at);
        for (; one != all.end() && one->at + view.later_by == at; ++one) {
            if (is_later(one->operation, view, operation)) {
                found.push_back({operation, one->source, one->transfer, at});
            }
        }
        return false;
    });
    std::ranges::sort(found, {}, [](const Arrival& arrival) {
        return std::pair(arrival.source, arrival.transfer);
    });
    return found;
}

std::optional<sim::Holding> RunRecord::holding(std::size_t server, const Arrival& message,
                                               std::uint32_t hop, sim::Time until) const {
    std::optional<sim::Holding> found;
    const std::vector<Held>& all = holdings_[server];
    over_views(views_of(message.operation), until, kForever, [&](const View& view) {
        const sim::Time last = std::min(until - view.later_by, view.until);
        auto one = std::ranges::upper_bound(all, last, {}, &Held::start);
        while (one != all.begin() && (one - 1)->start >= view.from) {
            --one;
            if (is_later(one->operation, view, message.operation) &&
                one->transfer == message.transfer && one->source == message.source &&
                one->hop == hop) {
                found = one->over(server);
                found->operation = message.operation;
                found->start += view.later_by;
                found->end += view.later_by;
                return true;
            }
        }
        return false;
    });
    return found;
}

std::vector<Interval> RunRecord::held(std::size_t server) const {
    const std::vector<Held>& all = holdings_[server];
    std::vector<Interval> intervals;
    if (all.empty()) {
        return intervals;
    }
    // As in held_until, all holdings of a link have the same views. A holding that starts where two
    // views meet is in both.
    for (const View& view : views_of(all.front().operation)) {
        const auto first = std::ranges::lower_bound(all, view.from, {}, &Held::start);
        for (auto one = first; one != all.end() && one->start <= view.until; ++one) {
            const Interval held{one->start + view.later_by, one->end + view.later_by};
            if (held.from == held.until) {
                continue;
            }
            if (!intervals.empty() && held.from <= intervals.back().until) {
                intervals.back().until = std::max(intervals.back().until, held.until);
            } else {
                intervals.push_back(held);
            }
        }
    }
    return intervals;
}

std::vector<sim::Holding> RunRecord::held_between(std::size_t server, sim::Time from,
                                                  sim::Time until) const {
    const std::vector<Held>& all = holdings_[server];
    std::vector<sim::Holding> found;
    if (all.empty()) {
        return found;
    }
    // As in held_until, all holdings of a link have the same views. A holding that starts where two
    // views meet is in both.
    for (const View& view : views_of(all.front().operation)) {
        const sim::Time last = view.until == kForever ? kForever : view.until + view.later_by;
        if (last < from || view.from + view.later_by >= until) {
            continue;
        }
        const sim::Time first = std::max(view.from, from - view.later_by);
        auto one = std::ranges::lower_bound(all, first, {}, &Held::start);
        for (; one != all.end() && one->start <= view.until && one->start + view.later_by < until;
             ++one) {
            const sim::Time start = one->start + view.later_by;
            if (one->start == one->end || (!found.empty() && found.back().start == start)) {
                continue;
            }
            found.push_back(one->over(server));
            found.back().operation = later(one->operation, view);
            found.back().start = start;
            found.back().end = one->end + view.later_by;
        }
    }
    return found;
}

std::optional<sim::Holding> RunRecord::held_until(std::size_t server, sim::Time end) const {
    std::optional<sim::Holding> found;
    const std::vector<Held>& all = holdings_[server];
    if (all.empty()) {
        return found;
    }
    // If anything repeats, a link belongs to one graph alone, or only shared operations use it.
    over_views(views_of(all.front().operation), end, longest_, [&](const View& view) {
        auto one = std::ranges::lower_bound(all, end - view.later_by, {}, &Held::end);
        for (; one != all.end() && one->end + view.later_by == end; ++one) {
            if (one->start < one->end && one->start >= view.from && one->start <= view.until) {
                found = one->over(server);
                found->operation = later(one->operation, view);
                found->start += view.later_by;
                found->end += view.later_by;
                return true;
            }
        }
        return false;
    });
    return found;
}

}  // namespace podsim::scenarios
