// Response of a step's time to each resource of its machine, and the fraction of it that depends on
// order.
//
// Each resource alone takes f times as long: 1 % slower and 10 % faster (f = 1.01, 1 / 1.1). A step
// whose time does not depend on order then takes between T and f T. A faster resource never makes
// it slower, and f T is its time if everything takes f times as long (launch costs apart). Times
// outside of this range are noise of orders, which a comparison of two steps must not take for a
// difference:
//   share = max over these runs of max(min(f, 1) - T_f / T, T_f / T - max(f, 1), 0)
// Each run orders its operations for itself (overlap.schedule), as a step on such a machine would.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/base/parallel.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

/// The step with one resource faster.
struct FasterResource {
    std::string what;  ///< `ICI`
    sim::Time step_time{};
};

struct OrderNoise {
    double share = 0;  ///< fraction of the step time
    /// The change that shows it, as in `1 % slower ICI`; empty if none does.
    std::string with{};
    sim::Time step_time{};  ///< step time with that change
    /// Each resource that the step uses, 10 % faster; compute first.
    std::vector<FasterResource> faster{};
    /// The two that save most, twice as fast, in order of saving. They show where another resource
    /// begins to bind.
    std::vector<FasterResource> twice{};
};

/// Steps of more events than this are not run again for it.
inline constexpr std::uint64_t kMostEventsOfOrderNoise = 2'000'000;
/// The report leaves out noise below this.
inline constexpr double kOrderNoiseToTell = 0.005;

/// Returns the noise of a scenario whose own run is `result`, by up to fourteen more runs, folded,
/// on `jobs` threads. Returns nothing if they would take long, or if one of them plays more than
/// most_played_to_explain. Throws the exception of the first that throws.
std::optional<OrderNoise> order_noise(const Scenario& scenario, const StepResult& result,
                                      bool reuse, int jobs = available_jobs(),
                                      Watch* watch = nullptr);

/// Returns a line of the first screen, such as `10 % faster saves of the step: compute 6.9 %, ICI
/// 2.0 %, ...; twice as fast: compute 10.6 %, ICI 8.7 %`; empty without runs.
std::string faster_text(const std::optional<OrderNoise>& noise, const StepResult& result);
/// Returns a line of the report; empty if there is nothing to report.
std::string order_noise_text(const std::optional<OrderNoise>& noise, const StepResult& result);
/// Returns the value of `order_noise`.
Json order_noise_json(const OrderNoise& noise);
/// Returns the value of `ten_percent_faster`, and of `twice_as_fast`.
Json faster_json(std::span<const FasterResource> faster, const StepResult& result);

}  // namespace podsim::scenarios
