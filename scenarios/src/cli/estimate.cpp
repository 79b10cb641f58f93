#include "scenarios/src/cli/estimate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/simulate/memory.h"

namespace podsim::scenarios {
namespace {

std::string loading_text(const workloads::WeightLoading& loading) {
    const std::vector<std::string> parts = loading.parts();
    return parts.empty()
               ? ""
               : fmt::format(", bound by the loading of weights in {}", fmt::join(parts, ", "));
}

}  // namespace

std::string memory_text(const OrderedMemory& memory) {
    return fmt::format("{}: {} of {} at the peak in program order, {}{}", to_string(fit_of(memory)),
                       format_bytes(memory.peak), format_bytes(memory.capacity),
                       format_percent(memory.peak / memory.capacity),
                       memory.tight ? ", within the 5 % that no account decides" : "");
}

Json memory_json(const OrderedMemory& memory) {
    Json at_peak = Json::object();
    for (const auto& [name, bytes] : memory.at_peak) {
        at_peak[name] = bytes.value();
    }
    return {{"peak_bytes", memory.peak.value()},
            {"capacity_bytes", memory.capacity.value()},
            {"fits", memory.fits},
            {"tight", memory.tight},
            {"at_peak_bytes", std::move(at_peak)}};
}

std::string estimate_text(const Scenario& scenario, const StepEstimate& estimate) {
    const StepBounds& bounds = estimate.bounds;
    Table table({2});
    table.row({"Closed forms, at ideal rates", "time", ""});
    const auto row = [&](const char* name, sim::Seconds time, const std::string& meaning) {
        table.row({fmt::format("  {}", name), format_time(time.value()), meaning});
    };
    row("book", bounds.book, "the reference text's" + loading_text(bounds.book_loading));
    row("roofline_lower", bounds.lower.time,
        fmt::format("a true bound, by {}", bounds.lower.bound));
    row("  compute", bounds.lower.compute, "FLOPs at peak");
    row("  vpu", bounds.lower.vpu, "elementwise operations");
    row("  hbm", bounds.lower.hbm, "bytes of HBM");
    row("  links", bounds.lower.links, "the tightest set of links");
    row("roofline_serial", bounds.serial, "operations one after the other");
    return fmt::format("{}\n\n{}\n{}\n", scenario.name, table.text(0),
                       memory_text(estimate.memory));
}

Json estimate_json(const Scenario& scenario, const StepEstimate& estimate) {
    const workloads::LowerBound& lower = estimate.bounds.lower;
    return {{"schema", kSchemaName},
            {"kind", "estimate"},
            {"scenario", scenario.name},
            {"file", scenario.file},
            {"book_s", estimate.bounds.book.value()},
            {"book_weight_loading", estimate.bounds.book_loading.parts()},
            {"roofline_lower_s", lower.time.value()},
            {"bound", lower.bound},
            {"terms_s",
             {{"compute", lower.compute.value()},
              {"vpu", lower.vpu.value()},
              {"hbm", lower.hbm.value()},
              {"hbm_kernels", lower.hbm_kernels.value()},
              {"links", lower.links.value()}}},
            {"roofline_serial_s", estimate.bounds.serial.value()},
            {"prefetch_layers", estimate.prefetch_layers},
            {"memory", memory_json(estimate.memory)}};
}

}  // namespace podsim::scenarios
