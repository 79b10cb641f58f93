// Reads a Hugging Face config.json: a model, with every
// key of the file in one list, or a located error.
#include "sim/base/error.h"
#include "tests/fuzz/memory_file.h"
#include "workloads/models/hf_config.h"
#include "workloads/models/model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace podsim;
    const fuzz::MemoryFile file(fuzz::text_of(data, size));
    try {
        const workloads::HfReading reading = workloads::read_hf_config_fully(file.path());
        fuzz::must(!reading.family.empty() && !reading.read.empty());
        const workloads::ParameterCount count = workloads::count_parameters(reading.model);
        fuzz::must(count.total > 0 && count.active > 0 && count.active <= count.total);
    } catch (const sim::InputError& error) {
        for (const sim::InputError& each : sim::errors_in(error)) {
            fuzz::must(!each.problem().empty());
            fuzz::must(each.mark().file == file.path());
        }
    }
    return 0;
}
