// Reads a trace of requests: requests in the order of their arrival, or a located error.
#include "scenarios/src/scenario/read_requests.h"
#include "sim/base/error.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace podsim;
    try {
        const auto requests = scenarios::parse_trace(fuzz::text_of(data, size), "fuzz.csv");
        fuzz::must(!requests.empty());
    } catch (const sim::InputError& error) {
        for (const sim::InputError& each : sim::errors_in(error)) {
            fuzz::must(!each.problem().empty());
            fuzz::must(each.mark().file == "fuzz.csv");
        }
    }
    return 0;
}
