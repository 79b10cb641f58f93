#include "scenarios/study/serve_scenario.h"

#include <algorithm>

#include "scenarios/serve/batch.h"
#include "scenarios/served/server_memory.h"
#include "scenarios/served/simulated_step_times.h"
#include "scenarios/spec/training_step.h"
#include "sim/base/error.h"
#include "workloads/plan/axes.h"

namespace podsim::scenarios {
namespace {

std::int64_t pages_that_fit(const Scenario& server) {
    const ServingSpec& spec = *server.serving;
    std::int64_t longest = 1;
    for (const Request& request : draw_requests(spec.load)) {
        longest = std::max(longest, request.prompt);
    }
    const bool chunked = spec.batching.kind == BatchingKind::chunked;
    const std::int64_t tokens =
        cached_tokens_that_fit(server, chunked ? spec.batching.budget : longest,
                               chunked ? spec.batching.slots : 1, spec.cache.memory);
    const std::int64_t pages = tokens / spec.cache.page;
    if (pages == 0) {
        throw sim::InputError("the weights and a step leave no memory for a page of cache",
                              "use more chips, or narrower weights (inference.weights)");
    }
    return pages;
}

ServingRun serve_with(const Scenario& scenario, StepTimes& steps, bool measure, Watch* watch) {
    const ServingSpec spec = with_pages(scenario);
    const std::int64_t servers = spec.disaggregation ? spec.disaggregation->prefill_servers +
                                                           spec.disaggregation->generate_servers
                                                     : 1;
    ServingRun run = run_serving(scenario.name, servers * scenario.hardware.chips(), spec,
                                 {.steps = &steps}, measure, watch);
    run.usd_per_chip_hour = scenario.step().report.usd_per_chip_hour;
    return run;
}

}  // namespace

ServingSpec with_pages(const Scenario& scenario) {
    ServingSpec spec = *scenario.serving;
    const workloads::TrainingPlan& plan = scenario.step().plan;
    const bool by_sequence = plan.inference->split == workloads::CacheSplit::batch;
    spec.window = scenario.step().model.window;
    spec.cache.parts = ways_with(&workloads::PlanAxis::splits_batch, plan.ways) *
                       (by_sequence ? plan.ways.cache : 1);
    try {
        spec.cache.pages = spec.cache.pages ? spec.cache.pages : pages_that_fit(scenario);
        check_cache(spec, draw_requests(spec.load));
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
