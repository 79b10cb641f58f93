#include "scenarios/src/report/collective_json.h"

#include <fmt/format.h>
#include <vector>

#include "collectives/catalogue/operations.h"
#include "scenarios/src/report/parts_json.h"

namespace podsim::scenarios {
namespace {

using collectives::EndsTaken;

/// Returns the ends of the collective: `shift`, `root`, or `from` and `to`; chips as arrays.
Json ends_json(const CollectiveRequest& request) {
    const auto chip = [&](const topology::Point& point) {
        const int dimensions = request.hardware.chip.torus_dimensions.value;
        return std::vector<int>(point.begin(), point.begin() + dimensions);
    };
    switch (collectives::info(request.operation).ends) {
        case EndsTaken::shift:
            return {{"shift", request.ends.shift}};
        case EndsTaken::two_chips:
            return {{"from", chip(request.ends.root)}, {"to", chip(request.ends.to)}};
        case EndsTaken::root:
            return {{"root", chip(request.ends.root)}};
        case EndsTaken::none:
            break;
    }
    return Json::object();
}

Json factors_json(const CollectiveRun& run) {
    const topology::Lattice& slice = run.request.hardware.slice;
    Json array = Json::array();
    for (const topology::AxisFactor& factor : run.request.members.group) {
        array.push_back({{"factor", topology::to_string(factor, slice.length(factor.axis))},
                         {"members", factor.length},
                         {"served_by", served_by(run, factor)}});
    }
    return array;
}

Json limiting_json(const CollectiveResult& result) {
    Json array = Json::array();
    for (const LimitingLinks& limiting : result.limiting) {
        array.push_back({{"link", limiting.name},
                         {"place", limiting.place.empty() ? "all alike" : limiting.place},
                         {"links", limiting.links},
                         {"of", limiting.of},
                         {"busy_fraction", limiting.busy_fraction}});
    }
    return array;
}

}  // namespace

Json collective_json(const CollectiveRun& run) {
    const CollectiveRequest& request = run.request;
    const CollectiveResult& result = run.result;
    const Hardware& hardware = request.hardware;
    const collectives::Bandwidth bandwidth = bandwidth_of(run);
    Json json = {
        {"schema", kSchemaName},
        {"chip", hardware.chip.name},
        {"slice", topology::to_string(hardware.shape, hardware.chip.torus_dimensions.value)},
        {"twisted", hardware.twisted},
        {"slices", hardware.slices},
        {"chips", hardware.chips()},
        {"op", collectives::to_string(request.operation)},
        {"axes", run.axes},
        {"members", member_count(run)},
        {"bytes", request.bytes.value()},
        {"dtype", run.dtype},
        {"latency", hardware.latency == LatencyRule::additive ? "additive" : "floor"},
        {"simulated_s", decimal_seconds(result.simulated)},
        {"analytic_s", nullptr},
        {"book_s", result.book.value()},
        {"physical_bound_s", result.physical_bound.value()},
        {"bound_over_simulated", bound_over_simulated(result)},
        {"algorithm_bandwidth_bytes_per_s", bandwidth.algorithm.value()},
        {"bus_bandwidth_bytes_per_s", bandwidth.bus.value()},
        {"requested_algorithm", collectives::to_string(request.algorithm)},
        {"algorithm", collectives::to_string(result.algorithm)},
        {"factors", factors_json(run)},
        {"hops", result.hops},
        {"gap_s", shares_json(result.gap)},
        {"time_fractions",
         {{"launch", share_of(result.parts.launch, result)},
          {"latency", share_of(result.parts.latency, result)},
          {"bandwidth", share_of(result.parts.bandwidth, result)}}},
        {"regime", to_string(result.regime())},
        {"limiting", limiting_json(result)},
        {"links", links_json(result.links)},
        {"events", result.events},
        {"simulated_chips", result.simulated_chips},
        {"wall_time_s", run.wall_time_s}};
    json.update(ends_json(request));
    if (result.analytic.has_value()) {
        json["analytic_s"] = result.analytic->value();
    }
    return json;
}

std::string size_sweep_csv(std::span<const CollectiveRun> runs) {
    std::string text =
        "bytes,simulated_s,algorithm_bandwidth_bytes_per_s,bus_bandwidth_bytes_per_s,"
        "physical_bound_s,bound_over_simulated,latency_share,regime,algorithm\n";
    for (const CollectiveRun& run : runs) {
        const CollectiveResult& result = run.result;
        const collectives::Bandwidth bandwidth = bandwidth_of(run);
        text += fmt::format("{},{},{},{},{},{},{},{},{}\n", run.request.bytes.value(),
                            decimal_seconds(result.simulated), bandwidth.algorithm.value(),
                            bandwidth.bus.value(), result.physical_bound.value(),
                            bound_over_simulated(result), share_of(result.parts.latency, result),
                            to_string(result.regime()), collectives::to_string(result.algorithm));
    }
    return text;
}

}  // namespace podsim::scenarios
