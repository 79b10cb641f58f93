// Reads a scenario's YAML: it is loaded, or refused by a located error.
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/scenario_source.h"
#include "sim/base/error.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace podsim;
    const auto source = scenarios::handed_over("/nowhere", "fuzz.yaml",
                                               std::string(fuzz::text_of(data, size)), true);
    try {
        const scenarios::Scenario scenario =
            scenarios::load_scenario(source, {}, scenarios::Requests::any);
        static_cast<void>(scenario);
    } catch (const sim::InputError& error) {
        for (const sim::InputError& each : sim::errors_in(error)) {
            fuzz::must(!each.problem().empty());
            fuzz::must(!each.mark().file.empty());
        }
    }
    return 0;
}
