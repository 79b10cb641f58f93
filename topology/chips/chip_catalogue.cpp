// The chips, as data. Where public documents disagree, the value used stands in the field and the
// other one in its source. "Book" is Austin et al., How to Scale Your Model (Google DeepMind,
// 2025).
#include <array>

#include "topology/chips/chip.h"

namespace podsim::topology {
namespace {

using sim::Bytes;
using sim::BytesPerSecond;
using sim::FlopsPerSecond;
using sim::Seconds;

const char* const kBook = "How to Scale Your Model, section 2";
const char* const kDocs = "Google Cloud TPU documentation";
const char* const kPaper = "TPU v4 paper (2023)";
const char* const kHop =
    "How to Scale Your Model, section 2: typically around 1 us a hop, a rule of thumb (no "
    "published "
    "hardware measurement)";
const char* const kPcieLatency =
    "assumption: no published figure, 1 us taken for a DMA across PCIe, the same as an ICI hop";
const char* const kDcnLatency =
    "assumption: no published figure, 10 us taken for NIC to NIC across a datacenter fabric";
const char* const kNoFp8 = "Google Cloud TPU documentation: bf16 and int8 matmuls only";
const char* const kLaunch = "profile ideal: 0 by definition";

ChipSpec v3() {
    return {
        .name = "v3",
        .bf16_flops = {FlopsPerSecond(1.4e14),
                       "How to Scale Your Model, section 2 (TPU v4 paper (2023): 123 TFLOP/s)"},
        .int8_ops = {FlopsPerSecond(1.4e14), kBook},
        .fp8_flops = {FlopsPerSecond(0), kNoFp8},
        .cores = {2, kPaper},
        .vpu_flops = {FlopsPerSecond(2 * 2048 * 0.94e9),
                      "assumption: no published figure, the 128 lanes x 16 ALUs of v4p at 940 "
                      "MHz on 2 cores"},
        .vmem = {Bytes(32.0 * 1024 * 1024), kPaper},
        .hbm_capacity = {Bytes(32e9), kBook},
        .hbm_bandwidth = {BytesPerSecond(9.0e11), kBook},
        .mxu_dimension = {128, kBook},
        .torus_dimensions = {2, kBook},
        .ici_links = {4, kPaper},
        .ici_one_way_book = {BytesPerSecond(1.0e11), kBook},
        .ici_both_ways_book = {BytesPerSecond(2.0e11), kBook},
        .ici_one_way_vendor = {BytesPerSecond(7.0e10), kPaper},
        .ici_latency = {Seconds(1e-6), kHop},
        .pcie_one_way = {BytesPerSecond(1.5e10), kBook},
        .pcie_latency = {Seconds(1e-6), kPcieLatency},
        .dcn_per_host = {BytesPerSecond(2.5e10), kBook},
        .dcn_latency = {Seconds(1e-5), kDcnLatency},
        .host_shape = {{4, 2, 1}, kBook},
        .pod_shape = {{32, 32, 1}, kBook},
        .wraparound = {Wraparound::full_pod, kDocs},
        .twistable = {false, kPaper},
        .collective_launch = {Seconds(0), kLaunch},
    };
}

ChipSpec v4p() {
    return {
        .name = "v4p",
        .bf16_flops = {FlopsPerSecond(2.75e14), kBook},
        .int8_ops = {FlopsPerSecond(2.75e14), kBook},
        .fp8_flops = {FlopsPerSecond(0), kNoFp8},
        .cores = {2, kPaper},
        .vpu_flops =
            {FlopsPerSecond(2 * 2048 * 1.05e9),
             "TPU v4 paper (2023): 128 lanes x 16 ALUs a core; derived: x 2 cores x 1050 MHz"},
        .vmem = {Bytes(32.0 * 1024 * 1024),
                 "TPU v4 paper (2023), beside 128 MiB of CMEM, which is not modelled"},
        .hbm_capacity =
            {Bytes(32e9),
             "How to Scale Your Model, section 2 (Google Cloud TPU documentation: 32 GiB)"},
        .hbm_bandwidth = {BytesPerSecond(1.2e12), kBook},
        .mxu_dimension = {128, kBook},
        .torus_dimensions = {3, kBook},
        .ici_links = {6, kPaper},
        .ici_one_way_book = {BytesPerSecond(4.5e10), kBook},
        .ici_both_ways_book = {BytesPerSecond(9.0e10), kBook},
        .ici_one_way_vendor = {BytesPerSecond(5.0e10), kPaper},
        .ici_latency = {Seconds(1e-6), kHop},
        .pcie_one_way = {BytesPerSecond(1.6e10), kBook},
        .pcie_latency = {Seconds(1e-6), kPcieLatency},
        .dcn_per_host = {BytesPerSecond(2.5e10), kBook},
        .dcn_latency = {Seconds(1e-5), kDcnLatency},
        .host_shape = {{2, 2, 1}, kBook},
        .pod_shape = {{16, 16, 16}, kBook},
        .wraparound = {Wraparound::cubes_of_4, kBook},
        .twistable = {true, kPaper},
        .collective_launch = {Seconds(0), kLaunch},
    };
}

ChipSpec v5p() {
    return {
        .name = "v5p",
        .bf16_flops = {FlopsPerSecond(4.59e14), kBook},
        .int8_ops = {FlopsPerSecond(9.18e14), kBook},
        .fp8_flops = {FlopsPerSecond(0), kNoFp8},
        .cores = {2, kDocs},
        .vpu_flops = {FlopsPerSecond(2 * 4096 * 1.75e9),
                      "How to Scale Your Model, section 2: (8, 128) x 4 ALUs, about 7 TFLOP/s "
                      "a core; derived: x 2 cores x 1.75 GHz"},
        .vmem = {Bytes(128.0 * 1024 * 1024), "How to Scale Your Model, section 2 (64 MiB a core)"},
        .hbm_capacity = {Bytes(96e9),
                         "How to Scale Your Model, section 2 (Google Cloud TPU "
                         "documentation: 95 GiB usable of 96 GiB)"},
        .hbm_bandwidth = {BytesPerSecond(2.8e12),
                          "How to Scale Your Model, section 2 (Google Cloud "
                          "TPU documentation: 2765 GB/s)"},
        .mxu_dimension = {128, kBook},
        .torus_dimensions = {3, kBook},
        .ici_links = {6, kDocs},
        .ici_one_way_book = {BytesPerSecond(9.0e10), kBook},
        .ici_both_ways_book = {BytesPerSecond(1.8e11), kBook},
        .ici_one_way_vendor = {BytesPerSecond(1.0e11), kDocs},
        .ici_latency = {Seconds(1e-6), kHop},
        .pcie_one_way = {BytesPerSecond(1.5e10),
                         "How to Scale Your Model, section 2 (PCIe Gen3 x16 would be 16 GB/s)"},
        .pcie_latency = {Seconds(1e-6), kPcieLatency},
        .dcn_per_host = {BytesPerSecond(2.5e10), kBook},
        .dcn_latency = {Seconds(1e-5), kDcnLatency},
        .host_shape = {{2, 2, 1}, kBook},
        .pod_shape = {{16, 20, 28}, kBook},
        .wraparound = {Wraparound::cubes_of_4, kBook},
        .twistable = {true, kBook},
        .collective_launch = {Seconds(0), kLaunch},
    };
}

ChipSpec v5e() {
    return {
        .name = "v5e",
        .bf16_flops = {FlopsPerSecond(1.97e14), kBook},
        .int8_ops = {FlopsPerSecond(3.94e14), kBook},
        .fp8_flops = {FlopsPerSecond(0), kNoFp8},
        .cores = {1, kDocs},
        .vpu_flops = {FlopsPerSecond(4096 * 1.5e9),
                      "How to Scale Your Model, section 2: (8, 128) x 4 ALUs; derived: x 1 "
                      "core x 1.5 GHz"},
        .vmem = {Bytes(128.0 * 1024 * 1024), kBook},
        .hbm_capacity = {Bytes(16e9), kBook},
        .hbm_bandwidth = {BytesPerSecond(8.1e11),
                          "How to Scale Your Model, section 2 (Google Cloud "
                          "TPU documentation: 819 GB/s)"},
        .mxu_dimension = {128, kBook},
        .torus_dimensions = {2, kBook},
        .ici_links = {4, kDocs},
        .ici_one_way_book = {BytesPerSecond(4.5e10), kBook},
        .ici_both_ways_book = {BytesPerSecond(9.0e10), kBook},
        .ici_one_way_vendor = {BytesPerSecond(5.0e10), kDocs},
        .ici_latency = {Seconds(1e-6), kHop},
        .pcie_one_way = {BytesPerSecond(1.5e10), kBook},
        .pcie_latency = {Seconds(1e-6), kPcieLatency},
        .dcn_per_host = {BytesPerSecond(2.5e10), kBook},
        .dcn_latency = {Seconds(1e-5), kDcnLatency},
        .host_shape = {{4, 2, 1}, kBook},
        .pod_shape = {{16, 16, 1}, kBook},
        .wraparound = {Wraparound::length_of_16, kBook},
        .twistable = {false, kBook},
        .collective_launch = {Seconds(0), kLaunch},
    };
}

ChipSpec v6e() {
    return {
        .name = "v6e",
        .bf16_flops = {FlopsPerSecond(9.20e14),
                       "How to Scale Your Model, section 2 (Google Cloud "
                       "TPU documentation: 918 TFLOP/s)"},
        .int8_ops = {FlopsPerSecond(1.84e15),
                     "How to Scale Your Model, section 2 (Google Cloud TPU "
                     "documentation: 1836 TOP/s)"},
        .fp8_flops = {FlopsPerSecond(0), kNoFp8},
        .cores = {1, kDocs},
        .vpu_flops = {FlopsPerSecond(4096 * 1.75e9),
                      "assumption: no published figure, the (8, 128) x 4 ALUs and 1.75 GHz of "
                      "a v5p core (the clock of v6e is not published)"},
        .vmem = {Bytes(128.0 * 1024 * 1024), kBook},
        .hbm_capacity = {Bytes(32e9), kBook},
        .hbm_bandwidth = {BytesPerSecond(1.6e12),
                          "How to Scale Your Model, section 2 (Google Cloud "
                          "TPU documentation: 1638 GB/s)"},
        .mxu_dimension = {256, kBook},
        .torus_dimensions = {2, kBook},
        .ici_links = {4, kDocs},
        .ici_one_way_book = {BytesPerSecond(9.0e10), kBook},
        .ici_both_ways_book = {BytesPerSecond(1.8e11), kBook},
        .ici_one_way_vendor = {BytesPerSecond(1.0e11), kDocs},
        .ici_latency = {Seconds(1e-6), kHop},
        .pcie_one_way = {BytesPerSecond(3.2e10), kBook},
        .pcie_latency = {Seconds(1e-6), kPcieLatency},
        .dcn_per_host = {BytesPerSecond(2.5e10),
                         "How to Scale Your Model, section 2 (Google Cloud "
                         "TPU documentation: 4 x 200 Gb/s)"},
        .dcn_latency = {Seconds(1e-5), kDcnLatency},
        .host_shape = {{4, 2, 1}, kBook},
        .pod_shape = {{16, 16, 1}, kBook},
        .wraparound = {Wraparound::length_of_16, kBook},
        .twistable = {false, kBook},
        .collective_launch = {Seconds(0), kLaunch},
    };
}

}  // namespace

std::span<const ChipSpec> chip_catalogue() {
    static const std::array<ChipSpec, 5> catalogue{v3(), v4p(), v5p(), v5e(), v6e()};
    return catalogue;
}

}  // namespace podsim::topology
