#include <array>
#include <fmt/format.h>

#include "scenarios/src/base/format.h"
#include "scenarios/src/cli/catalogue_entry.h"
#include "topology/chips/chip.h"

namespace podsim::scenarios {
namespace {

/// Adds the values of one chip.
class ChipValues {
public:
    void count(std::string key, std::string name, const topology::Sourced<int>& of) {
        add(std::move(key), std::move(name), std::to_string(of.value), of.value, of.source);
    }
    void rate(std::string key, std::string name, const topology::Sourced<sim::BytesPerSecond>& of) {
        add(std::move(key), std::move(name), format_rate(of.value), of.value.value(), of.source);
    }
    void flops(std::string key, std::string name,
               const topology::Sourced<sim::FlopsPerSecond>& of) {
        add(std::move(key), std::move(name),
            of.value.value() > 0 ? format_flops_rate(of.value) : "none", of.value.value(),
            of.source);
    }
    void bytes(std::string key, std::string name, const topology::Sourced<sim::Bytes>& of) {
        add(std::move(key), std::move(name), format_bytes(of.value), of.value.value(), of.source);
    }
    void time(std::string key, std::string name, const topology::Sourced<sim::Seconds>& of) {
        add(std::move(key), std::move(name), format_time(of.value.value()), of.value.value(),
            of.source);
    }
    void words(std::string key, std::string name, const std::string& text,
               const std::string& source) {
        add(std::move(key), std::move(name), text, text, source);
    }
    void flag(std::string key, std::string name, const topology::Sourced<bool>& of) {
        add(std::move(key), std::move(name), of.value ? "yes" : "no", of.value, of.source);
    }

    std::vector<CatalogueValue> values;

private:
    void add(std::string key, std::string name, std::string text, Json value, std::string source) {
        values.push_back({.key = std::move(key),
                          .name = std::move(name),
                          .text = std::move(text),
                          .value = std::move(value),
                          .source = std::move(source)});
    }
};

std::string wrapping(topology::Wraparound rule) {
    switch (rule) {
        case topology::Wraparound::full_pod:
            return "all axes in the full pod, else none";
        case topology::Wraparound::cubes_of_4:
            return "all axes of whole 4x4x4 cubes, none of less";
        case topology::Wraparound::length_of_16:
            return "axes of length 16";
        case topology::Wraparound::every_axis:
            return "every axis";
        case topology::Wraparound::never:
            break;
    }
    return "none";
}

CatalogueEntry entry_of(const topology::ChipSpec& chip) {
    ChipValues all;
    const int dimensions = chip.torus_dimensions.value;
    all.flops("bf16_flops_per_s", "bf16", chip.bf16_flops);
    all.flops("int8_ops_per_s", "int8", chip.int8_ops);
    all.flops("fp8_flops_per_s", "fp8", chip.fp8_flops);
    all.flops("vpu_flops_per_s", "VPU", chip.vpu_flops);
    all.count("cores", "TensorCores", chip.cores);
    all.count("devices", "devices of JAX", chip.devices);
    all.count("mxu_rows", "MXU, rows and columns", chip.mxu_dimension);
    all.bytes("vmem_bytes", "VMEM", chip.vmem);
    all.bytes("hbm_bytes", "HBM", chip.hbm_capacity);
    all.bytes("hbm_reserved_bytes", "HBM kept by the runtime", chip.hbm_reserved);
    all.rate("hbm_bytes_per_s", "HBM rate", chip.hbm_bandwidth);
    all.count("torus_dimensions", "torus dimensions", chip.torus_dimensions);
    all.count("ici_links", "ICI links", chip.ici_links);
    all.rate("ici_one_way_book_bytes_per_s", "ICI link, one way (book)", chip.ici_one_way_book);
    all.rate("ici_both_ways_book_bytes_per_s", "ICI link, both ways (book)",
             chip.ici_both_ways_book);
    all.rate("ici_one_way_vendor_bytes_per_s", "ICI link, one way (vendor)",
             chip.ici_one_way_vendor);
    all.time("ici_latency_s", "ICI latency, a hop", chip.ici_latency);
    all.rate("pcie_one_way_bytes_per_s", "PCIe, each way", chip.pcie_one_way);
    all.time("pcie_latency_s", "PCIe latency", chip.pcie_latency);
    all.rate("dcn_per_host_bytes_per_s", "DCN of a host, each way", chip.dcn_per_host);
    all.time("dcn_latency_s", "DCN latency", chip.dcn_latency);
    all.words("host", "chips of a host", topology::to_string(chip.host_shape.value, dimensions),
              chip.host_shape.source);
    all.words("pod", "pod", topology::to_string(chip.pod_shape.value, dimensions),
              chip.pod_shape.source);
    all.words("wraparound", "axes that wrap", wrapping(chip.wraparound.value),
              chip.wraparound.source);
    all.flag("twistable", "twisted slices", chip.twistable);
    all.time("collective_launch_s", "launch of a collective", chip.collective_launch);
    return {.name = chip.name, .values = std::move(all.values)};
}

}  // namespace

std::vector<CatalogueEntry> chip_entries() {
    std::vector<CatalogueEntry> entries;
    for (const topology::ChipSpec& chip : topology::chip_catalogue()) {
        entries.push_back(entry_of(chip));
    }
    return entries;
}

}  // namespace podsim::scenarios
