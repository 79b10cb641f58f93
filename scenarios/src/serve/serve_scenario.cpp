#include "scenarios/src/serve/serve_scenario.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "scenarios/src/scenario/changed_chip.h"
#include "scenarios/src/scenario/check_cache.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/serve/batch.h"
#include "scenarios/src/serve/step_cost.h"
#include "scenarios/src/simulate/simulate.h"
#include "scenarios/src/simulate/within_clock.h"
#include "sim/base/error.h"
#include "workloads/plan/axes.h"
#include "workloads/program/memory_peak.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

using workloads::CachedRun;

/// Returns sequences that decode behind caches with `cached` tokens in total.
CachedRun decodes(const StepShape& shape, std::int64_t sequences, std::int64_t cached) {
    const double mean = static_cast<double>(cached) / static_cast<double>(sequences);
    return {sequences, shape.decode_tokens, std::llround(mean), shape.decode_tokens};
}

std::int64_t most_at_once(const ServingSpec& spec, std::span<const Request> requests) {
    const std::int64_t come = spec.load.arrivals == ArrivalKind::concurrency
                                  ? std::min(std::ssize(requests), spec.load.concurrency)
                                  : std::ssize(requests);
    return std::min(spec.batching.slots, come);
}

/// Returns the tokens to compute of each request, in decreasing order.
std::vector<std::int64_t> to_compute(const ServingSpec& spec, std::span<const Request> requests,
                                     bool again) {
    const std::int64_t page = spec.cache.page;
    std::vector<std::int64_t> tokens;
    tokens.reserve(requests.size());
    for (const Request& request : requests) {
        tokens.push_back(request.prompt - request.prefix / page * page +
                         (again ? request.output - 1 : 0));
    }
    std::ranges::sort(tokens, std::greater{});
    return tokens;
}

/// Returns a step of that many tokens and prompts, as equal as possible.
StepShape prompt_step(std::int64_t sequences, std::int64_t tokens) {
    StepShape shape;
    const std::int64_t count = std::min(sequences, tokens);
    for (std::int64_t i = 0; i < count; ++i) {
        shape.prompts.push_back({tokens / count + (i < tokens % count ? 1 : 0), 0, true});
    }
    return shape;
}

StepShape decode_step(const ServingSpec& spec, std::int64_t sequences) {
    return as_compiled({.decoding = sequences, .decode_tokens = 1 + spec.speculation.tokens}, spec);
}

/// Adds the steps of a budget: prompts alone, and one prompt beside decodes if steps mix them.
void add_chunks(std::vector<StepShape>& steps, const ServingSpec& spec, std::int64_t sequences,
                std::span<const std::int64_t> tokens) {
    const std::int64_t budget = spec.batching.budget;
    const std::int64_t all = std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0});
    steps.push_back(prompt_step(sequences, std::min(budget, all)));
    const std::int64_t beside = budget - (sequences - 1) * (1 + spec.speculation.tokens);
    if (spec.batching.mixed && sequences > 1 && beside > 0) {
        steps.push_back(decode_step(spec, sequences - 1));
        steps.back().prompts.push_back({std::min(beside, tokens.front()), 0, true});
    }
}

/// Returns the fullest chip's peak without its cache.
sim::Bytes without_cache(const Scenario& scenario, const StepShape& step) {
    workloads::TrainingPlan plan = scenario.step().plan;
    workloads::Inference& inference = plan.inference.value();
    inference.runs = runs_of(step);
    plan.batch.tokens = inference.tokens();
    plan.batch.sequence = inference.runs.size() == 1 ? inference.runs.front().fresh : 1;
    sim::Bytes most;
    for (const workloads::StepProgram& program :
         workloads::build_stages(scenario.step().model, plan).programs) {
        const workloads::MemoryPeak peak = workloads::peak_in_program_order(program);
        most = std::max(most, peak.total - peak.of(workloads::MemoryClass::kv_cache));
    }
    return most;
}

/// Returns, for every stage's chip, the bytes of a sequence of that many tokens, as a mean over all
/// shards of the cache.
std::vector<sim::Bytes> of_sequence(const Scenario& scenario, std::int64_t tokens) {
    workloads::TrainingPlan plan = scenario.step().plan;
    // One sequence, or tokens of one, for each member that holds different ones.
    const std::int64_t sequences =
        ways_with(&workloads::PlanAxis::splits_batch, plan.ways) * plan.ways.cache;
    workloads::Inference& inference = plan.inference.value();
    inference.runs = {{sequences, 1, tokens - 1, 1}};
    plan.batch.microbatches = 1;
    plan.batch.tokens = inference.tokens();
    plan.batch.sequence = 1;
    std::vector<sim::Bytes> taken;
    for (const workloads::StepProgram& program :
         workloads::build_stages(scenario.step().model, plan).programs) {
        taken.push_back(
            workloads::peak_in_program_order(program).of(workloads::MemoryClass::kv_cache) /
            static_cast<double>(sequences));
    }
    return taken;
}

sim::Bytes of_token(const Scenario& scenario) {
    return std::ranges::max(of_sequence(scenario, 1));
}

/// Returns the new tokens of the longest step.
std::int64_t most_tokens(std::span<const StepShape> steps) {
    std::int64_t most = 0;
    for (const StepShape& step : steps) {
        most = std::max(most,
                        step.decoding * step.decode_tokens + step.padding + step.prompt_tokens());
    }
    return most;
}

/// Returns the pages of one server for which these steps need the most memory.
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

/// True if the sequences of all slots fit, so that none is ever preempted.
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
    if (spec.disaggregation.has_value()) {  // a prefill server also holds the cache of a prompt
        const StepShape prompt = longest_prompt(spec, requests, again);
        static_cast<void>(pages_beside(server, {&prompt, 1}));
        return pages;
    }
    return again ? pages_beside(server, largest_steps(spec, requests, true)) : pages;
}

/// Throws errors at the key of the file that sets the size of the cache, or has to set it.
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

std::vector<CachedRun> runs_of(const StepShape& shape) {
    std::vector<CachedRun> runs;
    if (shape.full > 0) {
        runs.push_back(decodes(shape, shape.full, shape.full_cached));
    }
    if (shape.decoding > shape.full) {
        runs.push_back(
            decodes(shape, shape.decoding - shape.full, shape.decode_cached - shape.full_cached));
    }
    if (shape.padding > 0) {
        runs.push_back({shape.padding, 1, 0, 1, true});
    }
    const PromptPart* before = nullptr;
    for (const PromptPart& part : shape.prompts) {
        if (part.tokens == 0) {
            continue;
        }
        if (before != nullptr && *before == part) {
            ++runs.back().sequences;
        } else {
            runs.push_back({1, part.tokens, part.cached, part.ends ? 1 : 0});
        }
        before = &part;
    }
    return runs;
}

SimulatedStepTimes::SimulatedStepTimes(const Scenario& scenario, Watch* watch)
    : scenario_(scenario), watch_(watch) {
    scenario_.hardware.efficiency.host_s = 0;
}

sim::Time SimulatedStepTimes::time_of(const StepShape& shape) {
    std::vector<CachedRun> runs = runs_of(shape);
    if (runs.empty()) {
        return {};
    }
    Scenario step = scenario_;
    workloads::TrainingPlan& plan = step.step().plan;
    plan.inference->runs = std::move(runs);
    plan.batch.tokens = plan.inference->tokens();
    plan.batch.sequence = plan.inference->runs.size() == 1 ? plan.inference->runs.front().fresh : 1;
    step.serving.reset();
    try {
        return simulate_step(step, Fold::automatic,
                             {.explain = false, .watch = &watch_, .memory = &memory_})
            .step_time;
    } catch (const sim::TimeOverflow& error) {
        const sim::InputError cause = clock_error_of(step, error);
        throw sim::InputError(
            fmt::format("a step of {} tokens: {}", plan.inference->tokens(), cause.problem()),
            cause.remedy(), cause.mark());
    }
}

StepShape longest_prompt(const ServingSpec& spec, std::span<const Request> requests, bool again) {
    return prompt_step(1, to_compute(spec, requests, again).front());
}

std::vector<StepShape> largest_steps(const ServingSpec& spec, std::span<const Request> requests,
                                     bool again) {
    std::vector<StepShape> steps;
    const std::int64_t sequences = most_at_once(spec, requests);
    if (spec.disaggregation.has_value() ||
        std::ranges::any_of(requests, [](const Request& one) { return one.output > 1; })) {
        steps.push_back(decode_step(spec, sequences));
    }
    if (spec.disaggregation.has_value()) {
        return steps;
    }
    std::vector<std::int64_t> tokens = to_compute(spec, requests, again);
    tokens.resize(static_cast<std::size_t>(sequences));
    switch (spec.batching.kind) {
        case BatchingKind::fixed:
            steps.push_back(prompt_step(
                sequences, std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0})));
            break;
        case BatchingKind::continuous:
            steps.push_back(prompt_step(1, tokens.front()));
            break;
        case BatchingKind::chunked:
            add_chunks(steps, spec, sequences, tokens);
            break;
    }
    return steps;
}

std::int64_t cached_tokens_that_fit(const Scenario& scenario, std::span<const StepShape> steps,
                                    double share) {
    sim::Bytes most;
    for (const StepShape& step : steps) {
        most = std::max(most, without_cache(scenario, step));
    }
    const double left = scenario.hardware.chip.usable_hbm().value() * share - most.value();
    return left <= 0 ? 0 : static_cast<std::int64_t>(std::floor(left / of_token(scenario).value()));
}

KeptTokens kept_on_chips(const Scenario& scenario) {
    const std::int64_t window = scenario.step().model.window;
    if (window == 0) {
        return {};
    }
    const std::vector<sim::Bytes> full = of_sequence(scenario, window);
    const std::vector<sim::Bytes> twice = of_sequence(scenario, 2 * window);
    sim::Bytes most;
    for (std::size_t stage = 0; stage < full.size(); ++stage) {
        most = std::max(most, twice[stage] - full[stage]);
    }
    return {.window = window, .beyond = most / static_cast<double>(window) / of_token(scenario)};
}

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
