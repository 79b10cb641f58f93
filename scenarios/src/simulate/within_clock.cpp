#include "scenarios/src/simulate/within_clock.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <vector>

#include "scenarios/src/scenario/arrivals.h"
#include "scenarios/src/scenario/serving_spec.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/estimate_step.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {
namespace {

constexpr double kDay = 86400;

struct ClockCause {
    std::string_view what;
    std::string_view check;
};

/// Returns the cause by LowerBound::bound.
ClockCause cause_of(std::string_view bound) {
    static const std::map<std::string_view, ClockCause> causes = {
        {"compute",
         {"its matmuls alone, at peak FLOPs,", "the batch, the model and the chip's FLOPs"}},
        {"vpu",
         {"its elementwise operations alone", "the batch, the model and the chip's VPU rate"}},
        {"hbm", {"its bytes of HBM alone", "the batch, the model and the chip's HBM rate"}},
        {"pcie", {"its bytes on PCIe alone", "what is offloaded, and the chip's PCIe rate"}},
        {"dcn", {"its bytes between slices alone", "the mesh and the chip's DCN rate"}},
    };
    const auto found = causes.find(bound);
    return found != causes.end()
               ? found->second
               : ClockCause{"its bytes on ICI alone", "the mesh and hardware.ici_rates"};
}

sim::InputError clock_error_of(const IdealHardware& hardware, const Program& program,
                               const sim::TimeOverflow& error) {
    const LongestStage longest = longest_stage(hardware, program);
    return sim::InputError(
        fmt::format("{}; of the stages this takes longest: {:.4g} s at ideal rates", error.what(),
                    longest.bound.value()),
        "check its size and the rates", longest.stage->mark);
}

/// Returns the seconds for which each prefill server, if all are equally busy, sends the caches of
/// requests with more than one output token.
double sending(const ServingSpec& serving, const std::vector<Request>& requests) {
    if (!serving.disaggregation) {
        return 0;
    }
    const DisaggregationSpec& apart = *serving.disaggregation;
    sim::Seconds total;
    for (const Request& request : requests) {
        if (request.output > 1) {
            const std::int64_t page = serving.cache.page;
            const std::int64_t shared =
                serving.load.common_prefix > 0 ? request.prefix / page * page : 0;
            total += apart.bytes_of(request.prompt - shared) / apart.rate +
                     sim::Seconds(apart.latency.seconds());
        }
    }
    const std::int64_t most = serving.load.arrivals == ArrivalKind::concurrency
                                  ? serving.load.concurrency
                                  : apart.prefill_servers;
    return total.value() / static_cast<double>(std::min(most, apart.prefill_servers));
}

/// Returns the error of a serving run each of whose steps is within the clock.
sim::InputError clock_error_of(const std::string& file, const ServingSpec& serving,
                               const sim::TimeOverflow& error) {
    const std::vector<Request> requests = draw_requests(serving.load);
    const double ways = sending(serving, requests);
    if (ways > sim::Time::max().seconds() / 2) {
        return sim::InputError(
            fmt::format("{}: the caches of a prefill server are on their way for {:.4g} days",
                        error.what(), ways / kDay),
            "check serving.disaggregated.rate, latency and bytes", {file, 0, 0});
    }
    double tokens = 0;
    for (const Request& request : requests) {
        tokens += static_cast<double>(request.prompt) + static_cast<double>(request.output);
    }
    return sim::InputError(
        fmt::format("{}, of which no step takes so much: it is the steps of all {} requests, of "
                    "{:.4g} tokens, one after the other",
                    error.what(), requests.size(), tokens),
        "check serving.requests, their prompts and outputs, serving.slots and serving.host",
        {file, 0, 0});
}

}  // namespace

sim::InputError clock_error_of(const Scenario& scenario, const sim::TimeOverflow& error) {
    if (scenario.serving != nullptr) {
        return clock_error_of(scenario.file, *scenario.serving, error);
    }
    if (scenario.is_program()) {
        return clock_error_of(scenario.hardware, scenario.program(), error);
    }
    const workloads::LowerBound lower = estimate_step(scenario).bounds.lower;
    if (lower.time.value() >= sim::Time::max().seconds()) {
        const ClockCause cause = cause_of(lower.bound);
        return sim::InputError(fmt::format("{}: {} take {:.0f} days", error.what(), cause.what,
                                           lower.time.value() / kDay),
                               fmt::format("check {}", cause.check), {scenario.file, 0, 0});
    }
    const bool perturbed = !scenario.hardware.perturbations.empty();
    return sim::InputError(fmt::format("{}, while its closed forms at ideal rates say {:.4g} s",
                                       error.what(), lower.time.value()),
                           perturbed
                               ? "check the factors and rates of perturb"
                               : "check hardware.profile, the latencies and the rates of links",
                           {scenario.file, 0, 0});
}

void refuse_beyond_clock(const Scenario& scenario, sim::Seconds least) {
    if (least.value() >= sim::Time::max().seconds()) {
        throw clock_error_of(scenario, sim::TimeOverflow{});
    }
}

}  // namespace podsim::scenarios
