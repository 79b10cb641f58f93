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
const char* const kReserved =
    "XLA's messages on memory that ran out, less what they leave to programs (`Used ... of 15.75G "
    "hbm` on "
    "v5e, 30.75G on "
    "v4, 95.74G on v5p, 31.25G on v6e, twice 94.75G on tpu7x; MaxText, "
    "docs/guides/monitoring_and_debugging/understand_logs_and_metrics.md; public logs)";
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
const char* const kJax = "JAX, jax/_src/tpu_info.py";
const char* const kNoInt8 = "JAX, jax/_src/tpu_info.py: no int8 matmuls";

ChipSpec v2() {
    return {
        .name = "v2",
        .bf16_flops = {FlopsPerSecond(4.6e13),
                       "JAX, jax/_src/tpu_info.py (How to Scale Your Model, section 9: 23 TFLOP/s "
                       "a core)"},
        .int8_ops = {FlopsPerSecond(0), kNoInt8},
        .fp8_flops = {FlopsPerSecond(0), "JAX, jax/_src/tpu_info.py: no fp8 matmuls"},
        .cores = {2, kJax},
        .devices = {2, kJax},
        .vpu_flops = {FlopsPerSecond(2 * 2048 * 0.7e9),
                      "assumption: no published figure, the 128 lanes x 16 ALUs of v4p on 2 cores "
                      "at the 700 MHz at which an array of 128 x 128 a core gives the peak"},
        .vmem = {Bytes(32.0 * 1024 * 1024), "JAX, jax/_src/tpu_info.py (16 MiB a core)"},
        .hbm_capacity = {Bytes(16.0 * 1024 * 1024 * 1024),
                         "Google Cloud TPU documentation: 16 GiB (JAX: 16.0e9 bytes)"},
        .hbm_reserved = {Bytes(0.25 * 1024 * 1024 * 1024),
                         "assumption: no published figure, that of v5e"},
        .hbm_bandwidth = {BytesPerSecond(7.16e11), kJax},
        .mxu_dimension = {128, kDocs},
        .torus_dimensions = {2, kBook},
        .ici_links = {4, kBook},
        .ici_one_way_book = {BytesPerSecond(6.0e10),
                             "How to Scale Your Model, section 9 (half of 1.2e11 both ways)"},
        .ici_both_ways_book = {BytesPerSecond(1.2e11), "How to Scale Your Model, section 9"},
        .ici_one_way_vendor = {BytesPerSecond(6.0e10),
                               "assumption: no published figure, the book's rate"},
        .ici_latency = {Seconds(1e-6), kHop},
        .pcie_one_way = {BytesPerSecond(1.5e10), kBook},
        .pcie_latency = {Seconds(1e-6), kPcieLatency},
        .dcn_per_host = {BytesPerSecond(2.5e10), kBook},
        .dcn_latency = {Seconds(1e-5), kDcnLatency},
        .host_shape = {{2, 2, 1}, "Google Cloud TPU documentation (v2-8: 8 cores on a host)"},
        .pod_shape = {{16, 16, 1},
                      "Google Cloud TPU documentation: the largest type, v2-512, has 512 cores "
                      "(its text says 512 chips)"},
        .wraparound = {Wraparound::full_pod,
                       "assumption: no published figure, the rule of v3, of the same network"},
        .twistable = {false, kPaper},
        .collective_launch = {Seconds(0), kLaunch},
    };
}

ChipSpec v3() {
    return {
        .name = "v3",
        .bf16_flops = {FlopsPerSecond(1.4e14),
                       "How to Scale Your Model, section 2 (TPU v4 paper (2023): 123 TFLOP/s)"},
        .int8_ops = {FlopsPerSecond(1.4e14), kBook},
        .fp8_flops = {FlopsPerSecond(0), kNoFp8},
        .cores = {2, kPaper},
        .devices = {2, kJax},
        .vpu_flops = {FlopsPerSecond(2 * 2048 * 0.94e9),
                      "assumption: no published figure, the 128 lanes x 16 ALUs of v4p at 940 "
                      "MHz on 2 cores"},
        .vmem = {Bytes(32.0 * 1024 * 1024), kPaper},
        .hbm_capacity = {Bytes(32.0 * 1024 * 1024 * 1024),
                         "Google Cloud TPU documentation: 32 GiB (JAX: 34.4e9 bytes; How to Scale "
                         "Your Model: 32 GB)"},
        .hbm_reserved = {Bytes(0.25 * 1024 * 1024 * 1024),
                         "assumption: no published figure, that of v5e"},
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
        .devices = {1, kJax},
        .vpu_flops =
            {FlopsPerSecond(2 * 2048 * 1.05e9),
             "TPU v4 paper (2023): 128 lanes x 16 ALUs a core; derived: x 2 cores x 1050 MHz"},
        .vmem = {Bytes(32.0 * 1024 * 1024),
                 "TPU v4 paper (2023), beside 128 MiB of CMEM, which is not modelled"},
        .hbm_capacity = {Bytes(32.0 * 1024 * 1024 * 1024),
                         "Google Cloud TPU documentation: 32 GiB (How to Scale Your Model: 32 GB)"},
        .hbm_reserved = {Bytes(1.25 * 1024 * 1024 * 1024), kReserved},
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
        .fp8_flops = {FlopsPerSecond(4.59e14),
                      "Google Cloud TPU documentation: 459 TFLOP/s, the rate of bf16 (JAX, "
                      "jax/_src/tpu_info.py: fp8 matmuls, no rate)"},
        .cores = {2, kDocs},
        .devices = {1, kJax},
        .vpu_flops = {FlopsPerSecond(2 * 4096 * 1.75e9),
                      "How to Scale Your Model, section 2: (8, 128) x 4 ALUs, about 7 TFLOP/s "
                      "a core; derived: x 2 cores x 1.75 GHz"},
        .vmem = {Bytes(128.0 * 1024 * 1024), "How to Scale Your Model, section 2 (64 MiB a core)"},
        .hbm_capacity = {Bytes(96.0 * 1024 * 1024 * 1024),
                         "JAX, jax/_src/tpu_info.py: 103e9 bytes (Google Cloud TPU documentation: "
                         "95 GiB; How to Scale Your Model: 96 GB)"},
        .hbm_reserved = {Bytes(0.26 * 1024 * 1024 * 1024), kReserved},
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
        .fp8_flops = {FlopsPerSecond(1.97e14),
                      "JAX, jax/_src/tpu_info.py: fp8 matmuls, no rate; that of bf16 by XLA, "
                      "platform_info.py: 32 rows in 32 cycles, as 16 of bf16 in 16"},
        .cores = {1, kDocs},
        .devices = {1, kJax},
        .vpu_flops = {FlopsPerSecond(4096 * 1.5e9),
                      "How to Scale Your Model, section 2: (8, 128) x 4 ALUs; derived: x 1 "
                      "core x 1.5 GHz"},
        .vmem = {Bytes(128.0 * 1024 * 1024), kBook},
        .hbm_capacity =
            {Bytes(16.0 * 1024 * 1024 * 1024),
             "JAX, jax/_src/tpu_info.py: 17.2e9 bytes (How to Scale Your Model: 16 GB)"},
        .hbm_reserved = {Bytes(0.25 * 1024 * 1024 * 1024), kReserved},
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
        .fp8_flops = {FlopsPerSecond(9.20e14),
                      "JAX, jax/_src/tpu_info.py: the rate of bf16 (Google Cloud TPU "
                      "documentation: bf16 and int8 matmuls only)"},
        .cores = {1, kDocs},
        .devices = {1, kJax},
        .vpu_flops = {FlopsPerSecond(4096 * 1.75e9),
                      "assumption: no published figure, the (8, 128) x 4 ALUs of a v5p core; "
                      "derived: x 1.75 GHz (XLA, platform_info.py)"},
        .vmem = {Bytes(128.0 * 1024 * 1024), kBook},
        .hbm_capacity = {Bytes(32.0 * 1024 * 1024 * 1024),
                         "Google Cloud TPU documentation: 32 GiB (How to Scale Your Model: 32 GB)"},
        .hbm_reserved = {Bytes(0.75 * 1024 * 1024 * 1024), kReserved},
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
        .dcn_per_host = {BytesPerSecond(1.0e11),
                         "Google Cloud TPU documentation: 4 x 200 Gb/s a host (How to Scale Your "
                         "Model, section 2: 25 GB/s)"},
        .dcn_latency = {Seconds(1e-5), kDcnLatency},
        .host_shape = {{4, 2, 1}, kBook},
        .pod_shape = {{16, 16, 1}, kBook},
        .wraparound = {Wraparound::length_of_16, kBook},
        .twistable = {false, kBook},
        .collective_launch = {Seconds(0), kLaunch},
    };
}

/// A chip is two chiplets, which JAX shows as two devices; here it is one chip with the rates of both.
ChipSpec tpu7x() {
    return {
        .name = "tpu7x",
        .bf16_flops = {FlopsPerSecond(2.307e15),
                       "Google Cloud TPU documentation (JAX, jax/_src/tpu_info.py: 2.31e15)"},
        .int8_ops = {FlopsPerSecond(0), kNoInt8},
        .fp8_flops = {FlopsPerSecond(4.614e15),
                      "Google Cloud TPU documentation (JAX, jax/_src/tpu_info.py: 4.60e15)"},
        .cores = {2, kDocs},
        .devices = {2, kDocs},
        .vpu_flops = {FlopsPerSecond(2 * 4096 * 1.9e9),
                      "assumption: no published figure, the (8, 128) x 4 ALUs of a v5p core; "
                      "derived: x 2 cores x 1.9 GHz, the default P-state (XLA, platform_info.py; "
                      "the peaks of matmuls are those of state 7, 2.2 GHz)"},
        .vmem = {Bytes(128.0 * 1024 * 1024), "JAX, jax/_src/tpu_info.py (64 MiB a core)"},
        .hbm_capacity = {Bytes(192.0 * 1024 * 1024 * 1024),
                         "Google Cloud TPU documentation: 192 GiB, 96 of each chiplet"},
        .hbm_reserved = {Bytes(2.5 * 1024 * 1024 * 1024), kReserved},
        .hbm_bandwidth = {BytesPerSecond(7.38e12),
                          "Google Cloud TPU documentation: 7380 GB/s (JAX, "
                          "jax/_src/tpu_info.py: 7.40e12)"},
        .mxu_dimension = {256, kDocs},
        .torus_dimensions = {3, kDocs},
        .ici_links = {6, kDocs},
        .ici_one_way_book = {BytesPerSecond(9.0e10),
                             "assumption: no published figure, 90 % of the vendor's, as the book "
                             "has it from v4p to v6e"},
        .ici_both_ways_book = {BytesPerSecond(1.8e11),
                               "assumption: no published figure, twice one way"},
        .ici_one_way_vendor = {BytesPerSecond(1.0e11),
                               "Google Cloud TPU documentation: 1200 GB/s both ways over 6 links; "
                               "between the chiplets of a chip: not published, not modelled"},
        .ici_latency = {Seconds(1e-6), kHop},
        .pcie_one_way = {BytesPerSecond(3.2e10),
                         "assumption: no published figure, the 32 GB/s of v6e"},
        .pcie_latency = {Seconds(1e-6), kPcieLatency},
        .dcn_per_host = {BytesPerSecond(5.0e10),
                         "Google Cloud TPU documentation: 2 NICs a host; 200 Gb/s each by third "
                         "parties"},
        .dcn_latency = {Seconds(1e-5), kDcnLatency},
        .host_shape = {{2, 2, 1}, kDocs},
        .pod_shape = {{16, 24, 24},
                      "Google Cloud TPU documentation: 9216 chips (MaxText, "
                      "accelerator_to_spec_map.py: tpu7x-18432 is 16x24x24)"},
        .wraparound = {Wraparound::cubes_of_4,
                       "MaxText, accelerator_to_spec_map.py: from 4x4x4 upward every axis wraps"},
        .twistable = {true, kDocs},
        .collective_launch = {Seconds(0), kLaunch},
    };
}

}  // namespace

std::span<const ChipSpec> chip_catalogue() {
    static const std::array<ChipSpec, 7> catalogue{v2(), v3(), v4p(), v5p(), v5e(), v6e(), tpu7x()};
    return catalogue;
}

}  // namespace podsim::topology
