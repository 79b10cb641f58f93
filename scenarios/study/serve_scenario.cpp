#include "scenarios/study/serve_scenario.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <vector>

#include "scenarios/profile/changed_chip.h"
#include "scenarios/serve/batch.h"
#include "scenarios/served/largest_steps.h"
#include "scenarios/served/server_memory.h"
#include "scenarios/served/simulated_step_times.h"
#include "scenarios/spec/training_step.h"
#include "sim/base/error.h"
#include "workloads/plan/axes.h"

namespace podsim::scenarios {
namespace {

/// New tokens of the longest of steps.
std::int64_t most_tokens(std::span<const StepShape> steps) {
    std::int64_t most = 0;
    for (const StepShape& step : steps) {
        most = std::max(most,
                        step.decoding * step.decode_tokens + step.padding + step.prompt_tokens());
    }
    return most;
}

/// Of one server, none of whose steps needs more memory than these.
std::int64_t pages_beside(const Scenario& server, std::span<const StepShape> steps) {
    const CacheSpec& cache = server.serving->cache;
    const double share = cache.pages.has_value() ? 1 : cache.memory;
    const std::int64_t pages = cached_tokens_that_fit(server, steps, share) / cache.page;
    if (pages == 0) {
        throw sim::InputError(
            fmt::format(
                "the weights and the largest step, of {} tokens, leave no memory for a page of "
                "cache",
                most_tokens(steps)),
            "use more chips, narrower weights (inference.weights), fewer slots or shorter prompts");
    }
    return pages;
}

/// Whether sequences of all slots fit, so that none is ever preempted.
bool holds_all(const ServingSpec& spec, std::span<const Request> requests, std::int64_t pages) {
    std::int64_t most = 0;
    for (const Request& request : requests) {
        most = std::max(most, most_cached(request.prompt, request.output, spec.speculation.tokens));
    }
    return spec.batching.slots * spec.cache.pages_for(most) <= pages;
}

std::int64_t pages_that_fit(const Scenario& server, std::span<const Request> requests) {
    const ServingSpec& spec = *server.serving;
    const bool reserves = spec.cache.reserve || spec.batching.kind == BatchingKind::fixed;
    const std::int64_t pages = pages_beside(server, largest_steps(spec, requests, false));
    const bool again = !reserves && !holds_all(spec, requests, pages);
    if (spec.disaggregation.has_value()) {  // a prefill server holds the cache of a prompt, too
        const StepShape prompt = longest_prompt(spec, requests, again);
        static_cast<void>(pages_beside(server, {&prompt, 1}));
        return pages;
    }
    return again ? pages_beside(server, largest_steps(spec, requests, true)) : pages;
}

/// At the key of the file that says how much cache there is, or has to be.
void check_pages(const ServingSpec& spec, std::span<const Request> requests) {
    const CacheSpec& cache = spec.cache;
    const bool buffers = cache.pages_at.file.empty() && cache.length > 0;
    const sim::SourceMark& mark = buffers ? cache.length_at : cache.pages_at;
    try {
        check_cache(spec, requests);
    } catch (const sim::InputError& error) {
        if (mark.file.empty()) {
            throw;
        }
        throw sim::InputError(
            fmt::format("serving.cache.{}: {}", buffers ? "length" : "pages", error.problem()),
            error.remedy(), mark);
    }
}

ServingRun serve_with(const Scenario& scenario, StepTimes& steps, bool measure, Watch* watch) {
    const ServingSpec spec = with_pages(scenario);
    const std::int64_t servers = spec.disaggregation ? spec.disaggregation->prefill_servers +
                                                           spec.disaggregation->generate_servers
                                                     : 1;
    ServingRun run = run_serving(scenario.name, servers * scenario.hardware.chips(), spec,
                                 {.steps = &steps}, measure, watch);
    run.usd_per_chip_hour = scenario.step().report.usd_per_chip_hour;
    run.warnings = profile_warnings(scenario.hardware);
    return run;
}

}  // namespace

ServingSpec with_pages(const Scenario& scenario) {
    ServingSpec spec = *scenario.serving;
    const workloads::TrainingPlan& plan = scenario.step().plan;
    const bool by_sequence = plan.inference->split == workloads::CacheSplit::batch;
    spec.cache.kept = kept_on_chips(scenario);
    spec.cache.parts = ways_with(&workloads::PlanAxis::splits_batch, plan.ways) *
                       (by_sequence ? plan.ways.cache : 1);
    const std::vector<Request> requests = draw_requests(spec.load);
    try {
        const std::int64_t most = pages_that_fit(scenario, requests);
        if (spec.cache.pages.value_or(0) > most) {
            throw sim::InputError(
                fmt::format("serving.cache.pages: {} pages of {} tokens are more than the memory "
                            "holds beside the weights and the largest step",
                            *spec.cache.pages, spec.cache.page),
                fmt::format("write at most {}, or leave it out", most), spec.cache.pages_at);
        }
        spec.cache.pages = spec.cache.pages.value_or(most);
        check_pages(spec, requests);
    } catch (const sim::InputError& error) {
        throw error.at({scenario.file, 0, 0});
    }
    return spec;
}

ServingRun serve_scenario(const Scenario& scenario, Watch* watch) {
    SimulatedStepTimes steps(scenario, watch);
    return serve_with(scenario, steps, true, watch);
}

ServingRun serve_scenario(const Scenario& scenario, StepTimes& steps) {
    return serve_with(scenario, steps, false, nullptr);
}

}  // namespace podsim::scenarios
