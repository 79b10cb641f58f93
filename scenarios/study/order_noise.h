// How a step's time answers to each resource of its machine, and how much of that hangs on who comes first.
//
// Each resource alone takes f times as long: 1 % slower and 10 % faster (f = 1.01, 1 / 1.1). A step in which nothing hangs on order takes then between T
// and f T: nothing that is faster makes it slower, and f T is what it takes if everything takes f times as long (launch
// costs apart). What lies outside is noise of orders, which a comparison of two steps must not take for a difference:
//   share = max over these runs of max(min(f, 1) - T_f / T, T_f / T - max(f, 1), 0)
// Each run orders its operations for itself (overlap.schedule), as a step on such a machine would.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/ranks/parallel.h"
#include "scenarios/simulate/simulate.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

/// The step with one resource faster.
struct FasterResource {
    std::string what;  ///< `ICI`
    sim::Time step_time{};
};

struct OrderNoise {
    double share = 0;       ///< of the step time
    std::string with{};     ///< the change that shows it: `1 % slower ICI`; empty: nothing does
    sim::Time step_time{};  ///< with that
    std::vector<FasterResource>
        faster{};  ///< by 10 %: the resources that the step uses, compute first
    /// Twice as fast: the two that save most, the first of them first. It shows where another resource begins to bind.
    std::vector<FasterResource> twice{};
};

/// Steps of more events than these are not run again for it.
inline constexpr std::uint64_t kMostEventsOfOrderNoise = 2'000'000;
/// Below this the report says nothing.
inline constexpr double kOrderNoiseToTell = 0.005;

/// Of a scenario whose own run is `result`: up to fourteen more runs, folded, on `jobs` threads; nothing where they would take long, or one of them
/// plays more than most_played_to_explain. Throws what the first of them throws.
std::optional<OrderNoise> order_noise(const Scenario& scenario, const StepResult& result,
                                      bool reuse, int jobs = available_jobs(),
                                      Watch* watch = nullptr);

/// `10 % faster saves of the step: compute 6.9 %, ICI 2.0 %, ...; twice as fast: compute 10.6 %, ICI 8.7 %`: a line of the first screen;
/// empty without runs.
std::string faster_text(const std::optional<OrderNoise>& noise, const StepResult& result);
/// A line of the report; empty where there is nothing to tell.
std::string order_noise_text(const std::optional<OrderNoise>& noise, const StepResult& result);
/// The value of `order_noise`.
Json order_noise_json(const OrderNoise& noise);
/// The value of `ten_percent_faster`, and of `twice_as_fast`.
Json faster_json(std::span<const FasterResource> faster, const StepResult& result);

}  // namespace podsim::scenarios
