#include "scenarios/src/serve/serving_json.h"

#include <optional>

#include "scenarios/src/report/parts_json.h"
#include "scenarios/src/serve/serving_text.h"

namespace podsim::scenarios {
namespace {

Json spread_json(const Spread& spread) {
    return {{"mean_s", spread.mean}, {"median_s", spread.median},   {"p90_s", spread.p90},
            {"p99_s", spread.p99},   {"largest_s", spread.largest}, {"count", spread.count}};
}

Json server_json(const ServerUse& use) {
    return {{"busy_s", decimal_seconds(use.busy)},  {"steps", use.steps},
            {"prefill_tokens", use.prefill_tokens}, {"mean_running", use.mean_running},
            {"most_running", use.most_running},     {"mean_pages", use.mean_pages},
            {"most_pages", use.most_pages}};
}

Json servers_json(const std::vector<ServerUse>& servers) {
    Json array = Json::array();
    for (const ServerUse& use : servers) {
        array.push_back(server_json(use));
    }
    return array;
}

Json or_null(const std::optional<double>& value) {
    return value.has_value() ? Json(*value) : Json(nullptr);
}

Json grid_json(const std::optional<GridError>& grid) {
    if (!grid.has_value()) {
        return nullptr;
    }
    return {{"buckets", grid->buckets},
            {"samples", grid->samples},
            {"mean_error", grid->mean},
            {"largest_error", grid->largest}};
}

Json requests_json(const ServingResult& result) {
    Json array = Json::array();
    for (const ServedRequest& served : result.requests) {
        array.push_back({{"prompt", served.prompt},
                         {"output", served.output},
                         {"arrived_s", decimal_seconds(served.arrived)},
                         {"started_s", decimal_seconds(served.started)},
                         {"first_token_s", decimal_seconds(served.first)},
                         {"finished_s", decimal_seconds(served.finished)},
                         {"preemptions", served.preemptions}});
    }
    return array;
}

Json queue_json(const QueueUse& queue, const LoadVerdict& load) {
    return {{"mean", queue.mean},
            {"most", queue.most},
            {"at_last_arrival", queue.at_last_arrival},
            {"in_system_at_last_arrival", load.in_system},
            {"growth_requests", load.growth},
            {"growth_per_s", load.growth_per_s},
            {"overload_limit", load.limit},
            {"overloaded", load.overloaded},
            {"too_short", load.too_short}};
}

Json transfers_json(const ServingResult& result, const ServingSummary& summary) {
    return {{"count", result.caches_sent},
            {"mean_s", summary.a_transfer},
            {"busy_fraction", summary.sending},
            {"limit", summary.transfers_limit}};
}

}  // namespace

Json serving_json(const ServingRun& run, std::span<const Verdict> verdicts, bool requests) {
    const ServingSummary& summary = run.summary;
    const ServingResult& result = run.result;
    const auto chips = static_cast<double>(run.chips);
    Json json = {{"schema", kSchemaName},
                 {"scenario", run.name},
                 {"chips", run.chips},
                 {"batching", to_string(run.spec.batching.kind)},
                 {"slots", run.spec.batching.slots},
                 {"seed", run.spec.load.seed},
                 {"requests", result.requests.size()},
                 {"time_s", summary.seconds},
                 {"time_to_first_token", spread_json(summary.first_token)},
                 {"time_per_output_token", spread_json(summary.a_token)},
                 {"inter_token_latency", spread_json(summary.gap)},
                 {"end_to_end", spread_json(summary.whole)},
                 {"in_line", spread_json(summary.wait)},
                 {"requests_per_s", summary.requests_per_s},
                 {"requests_per_s_chip", summary.requests_per_s / chips},
                 {"output_tokens_per_s", summary.output_per_s},
                 {"output_tokens_per_s_chip", summary.output_per_s / chips},
                 {"prompt_tokens_per_s", summary.prompt_per_s},
                 {"offered_requests_per_s", or_null(summary.offered_per_s)},
                 {"served_requests_per_s", or_null(summary.served_per_s)},
                 {"goodput_requests_per_s", summary.goodput_per_s},
                 {"good_fraction", summary.good_share},
                 {"queue", queue_json(result.queue, summary.load)},
                 {"mean_in_system", result.mean_in_system},
                 {"most_in_system", result.most_in_system},
                 {"little",
                  {{"integral_s", result.little.integral_s},
                   {"sojourns_s", result.little.sojourns_s},
                   {"equal", result.little.equal}}},
                 {"prefill_busy_fraction", summary.prefill_busy},
                 {"generate_busy_fraction", summary.generate_busy},
                 {"slots_used_fraction", summary.slots_used},
                 {"preemptions", summary.preemptions},
                 {"preempted_requests", summary.preempted_requests},
                 {"recomputed_tokens", summary.recomputed},
                 {"tokens_per_decode", summary.tokens_a_decode},
                 {"accepted_fraction", summary.accepted_share},
                 {"transfers_s", decimal_seconds(result.transfers)},
                 {"transfers", transfers_json(result, summary)},
                 {"balance",
                  {{"prefill_s", run.balance.prefill_s},
                   {"generate_s", run.balance.generate_s},
                   {"prefill_servers_per_generate_server", run.balance.ratio}}},
                 {"prefill_servers", servers_json(result.prefill)},
                 {"generate_servers", servers_json(result.generate)},
                 {"step_time_buckets", run.buckets},
                 {"step_grid", grid_json(run.step_grid)},
                 {"prefill_grid", grid_json(run.prefill_grid)},
                 {"events", result.events}};
    if (const std::optional<double> usd = usd_per_million_output_tokens(run)) {
        json["cost_per_million_output_tokens_usd"] = *usd;
    }
    json["warnings"] = run.warnings;
    json["expectations"] = verdicts_json(verdicts);
    if (requests) {
        json["served"] = requests_json(result);
    }
    return json;
}

}  // namespace podsim::scenarios
