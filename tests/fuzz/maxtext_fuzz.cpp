// Reads a configuration of MaxText: a scenario that names what it read, or a located error.
#include "scenarios/src/import/maxtext_import.h"
#include "scenarios/src/import/maxtext_settings.h"
#include "sim/base/error.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace podsim;
    try {
        const auto tree =
            scenarios::maxtext_tree(std::string(fuzz::text_of(data, size)), "fuzz.yml");
        scenarios::MaxTextSettings settings(tree, {});
        fuzz::must(!scenarios::import_maxtext(settings, "fuzz").scenario.empty());
    } catch (const sim::InputError& error) {
        for (const sim::InputError& each : sim::errors_in(error)) {
            fuzz::must(!each.problem().empty());
        }
    }
    return 0;
}
