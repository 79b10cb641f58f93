// A program on the installed libraries: it simulates a collective and a step, and prints the
// picoseconds of both.
#include <iostream>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/simulate/simulate.h"

int main(int count, char** arguments) {
    using namespace podsim;
    if (count != 2) {
        return 2;
    }
    scenarios::CollectiveRequest request;
    request.hardware = scenarios::hardware_from_options(
        {.chip = "v5p", .slice = "4x4x4", .latency = "additive", .hbm = "private"});
    request.operation = collectives::Operation::all_gather;
    request.members = scenarios::parse_members("x", request.hardware.slice);
    request.bytes = sim::Bytes(360e3);
    request.algorithm = collectives::Algorithm::one_way;
    const auto gathered = scenarios::simulate_collective(request, scenarios::Fold::automatic);

    const scenarios::Scenario scenario = scenarios::load_scenario(arguments[1]);
    const auto step =
        scenarios::simulate_step(scenario, scenarios::Fold::automatic, {.explain = false});
    std::cout << gathered.simulated.ps << ' ' << step.step_time.ps << '\n';
}
