// Reads texts as HLO modules: they are counted and imported, or refused.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/base/error.h"
#include "workloads/hlo/import_step.h"
#include "workloads/hlo/read_module.h"
#include "workloads/hlo/totals.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace podsim::workloads::hlo;
    constexpr std::int64_t kMostDevices = 4096;
    try {
        const Module module =
            read_module({reinterpret_cast<const char*>(data), size}, "module.txt");
        const Totals totals = totals_of(module, {}, {});
        double iterations = 1;
        for (const LoopTotal& loop : totals.loops) {
            iterations += static_cast<double>(loop.trips) * loop.runs;
        }
        if (totals.devices <= kMostDevices && iterations < 1000) {
            import_step(module, DeviceAxes(module, totals.devices, {}), {}, {});
        }
    } catch (const podsim::sim::InputError&) {  // NOLINT(bugprone-empty-catch): refused
    }
    return 0;
}
