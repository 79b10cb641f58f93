#include <algorithm>
#include <gtest/gtest.h>
#include <map>

#include "tests/topology/lattice_support.h"
#include "topology/chips/chip.h"
#include "topology/chips/core_clocks.h"

namespace podsim::topology {
namespace {

/// Calls `visit(field name, source)` for every field of the record.
void each_source(const ChipSpec& chip, auto&& visit) {
    visit("bf16_flops", chip.bf16_flops.source);
    visit("int8_ops", chip.int8_ops.source);
    visit("fp8_flops", chip.fp8_flops.source);
    visit("cores", chip.cores.source);
    visit("devices", chip.devices.source);
    visit("vpu_flops", chip.vpu_flops.source);
    visit("vmem", chip.vmem.source);
    visit("hbm_capacity", chip.hbm_capacity.source);
    visit("hbm_reserved", chip.hbm_reserved.source);
    visit("hbm_bandwidth", chip.hbm_bandwidth.source);
    visit("mxu_dimension", chip.mxu_dimension.source);
    visit("torus_dimensions", chip.torus_dimensions.source);
    visit("ici_links", chip.ici_links.source);
    visit("ici_one_way_book", chip.ici_one_way_book.source);
    visit("ici_both_ways_book", chip.ici_both_ways_book.source);
    visit("ici_one_way_vendor", chip.ici_one_way_vendor.source);
    visit("ici_latency", chip.ici_latency.source);
    visit("pcie_one_way", chip.pcie_one_way.source);
    visit("pcie_latency", chip.pcie_latency.source);
    visit("dcn_per_host", chip.dcn_per_host.source);
    visit("dcn_latency", chip.dcn_latency.source);
    visit("host_shape", chip.host_shape.source);
    visit("pod_shape", chip.pod_shape.source);
    visit("wraparound", chip.wraparound.source);
    visit("twistable", chip.twistable.source);
    visit("collective_launch", chip.collective_launch.source);
}

TEST(Catalogue, HoldsTheGenerationsOldestFirst) {
    std::vector<std::string> names;
    for (const ChipSpec& chip : chip_catalogue()) {
        names.push_back(chip.name);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"v2", "v3", "v4p", "v5p", "v5e", "v6e", "tpu7x"}));
}

// A source names a public document, or states that the value is an assumption or a definition.
TEST(Catalogue, EveryFieldNamesItsSource) {
    const std::vector<std::string> starts{"How to Scale Your Model, section 2",
                                          "How to Scale Your Model, section 9",
                                          "Google Cloud TPU documentation",
                                          "TPU v4 paper (2023)",
                                          "JAX, jax/_src/tpu_info.py",
                                          "MaxText, accelerator_to_spec_map.py",
                                          "assumption: no published figure, ",
                                          "profile ideal",
                                          "XLA's messages on memory that ran out"};
    for (const ChipSpec& chip : chip_catalogue()) {
        int fields = 0;
        each_source(chip, [&](const std::string& field, const std::string& source) {
            ++fields;
            const bool known = std::ranges::any_of(
                starts, [&](const std::string& start) { return source.starts_with(start); });
            EXPECT_TRUE(known) << chip.name << "." << field << ": '" << source << "'";
        });
        EXPECT_EQ(fields, 26);
    }
}

// The rows prove each other: redundant fields agree in every generation.
TEST(Catalogue, RedundantFieldsAgree) {
    for (const ChipSpec& chip : chip_catalogue()) {
        SCOPED_TRACE(chip.name);
        EXPECT_EQ(chip.ici_both_ways_book.value, chip.ici_one_way_book.value * 2);
        // A torus of d dimensions has one link in each direction along each axis.
        EXPECT_EQ(chip.ici_links.value, 2 * chip.torus_dimensions.value);
        for (const Point& box : {chip.host_shape.value, chip.pod_shape.value}) {
            for (int axis = 0; axis < kAxes; ++axis) {
                const int length = box[static_cast<std::size_t>(axis)];
                EXPECT_GE(length, 1);
                if (axis >= chip.torus_dimensions.value) {
                    EXPECT_EQ(length, 1);
                }
            }
        }
        // Hosts tile the pod.
        for (std::size_t axis = 0; axis < kAxes; ++axis) {
            EXPECT_EQ(chip.pod_shape.value[axis] % chip.host_shape.value[axis], 0);
        }
        // A host has 4 chips on 3-D generations and on v2, 8 on the other 2-D ones.
        const Point& host = chip.host_shape.value;
        const bool of_four = chip.torus_dimensions.value == 3 || chip.name == "v2";
        EXPECT_EQ(host[0] * host[1] * host[2], of_four ? 4 : 8);
        // int8 runs as fast as bf16 up to v4p and twice as fast since; v2 and tpu7x have none.
        const bool older = chip.name == "v3" || chip.name == "v4p";
        const bool none = chip.name == "v2" || chip.name == "tpu7x";
        EXPECT_EQ(chip.int8_ops.value, chip.bf16_flops.value * (none ? 0 : older ? 1 : 2));
        // fp8 runs twice as fast as bf16 on tpu7x, as fast since v5p; v2 to v4p have none.
        const int fp8 = chip.name == "tpu7x" ? 2 : older || chip.name == "v2" ? 0 : 1;
        EXPECT_EQ(chip.fp8_flops.value, chip.bf16_flops.value * fp8);
        // Memory that is nearer is faster: HBM > ICI link >
        // PCIe; a host's NIC is no faster than its PCIe links.
        EXPECT_GT(chip.hbm_bandwidth.value, chip.ici_both_ways_book.value);
        EXPECT_GT(chip.ici_one_way_book.value, chip.pcie_one_way.value);
        EXPECT_LE(chip.dcn_per_host.value,
                  chip.pcie_one_way.value * static_cast<double>(host[0] * host[1] * host[2]));
        EXPECT_EQ(chip.ici_latency.value.value(), 1e-6);
        EXPECT_GT(chip.dcn_latency.value, chip.pcie_latency.value);
        EXPECT_EQ(chip.collective_launch.value.value(), 0);
        EXPECT_EQ(chip.twistable.value, chip.torus_dimensions.value == 3);
        EXPECT_EQ(chip.ici_one_way(IciRates::book), chip.ici_one_way_book.value);
        EXPECT_EQ(chip.ici_one_way(IciRates::vendor), chip.ici_one_way_vendor.value);
    }
}

// TensorCores x MXUs x dimension^2 x 2 FLOPs x rows a cycle x clock gives the peak within 0.3 % if
// the documents are consistent (v2's is rounded to two digits; v3: the paper's 123 TFLOP/s, the
// book has 140). Up to v4p it is a row a cycle. Later chips count the cycles from one tile of rows
// to the next (XLA @acb91cb, xla/benchmarks/core/platform_info.py, matmul_cadence_cycles_by_dtype).
// A tile has 8 x 32 bits / the bits of an element: 16 rows of bf16, 32 of int8 and fp8. The peak of
// tpu7x is that of its fastest state.
TEST(Catalogue, PeakRatesFollowFromTheSystolicArrays) {
    struct Row {
        std::string chip;
        int arrays;
        double clock;
        double bf16_cycles;
        double int8_cycles;  ///< 0: none or unpublished
        double fp8_cycles;
    };
    const std::vector<Row> rows{{"v2", 2, 0.7e9, 16, 0, 0},     {"v4p", 8, 1.05e9, 16, 0, 0},
                                {"v5p", 8, 1.75e9, 16, 16, 32}, {"v5e", 4, 1.5e9, 16, 16, 32},
                                {"v6e", 2, 1.75e9, 8, 8, 16},   {"tpu7x", 4, 2.2e9, 8, 0, 8}};
    for (const Row& row : rows) {
        SCOPED_TRACE(row.chip);
        const ChipSpec& chip = find_chip(row.chip);
        const double side = chip.mxu_dimension.value;
        const double one_row = row.arrays * side * side * 2 * row.clock;
        EXPECT_NEAR(chip.bf16_flops.value.value() / (one_row * 16 / row.bf16_cycles), 1, 0.003);
        if (row.int8_cycles > 0) {
            EXPECT_NEAR(chip.int8_ops.value.value() / (one_row * 32 / row.int8_cycles), 1, 0.003);
        }
        if (row.fp8_cycles > 0) {
            EXPECT_NEAR(chip.fp8_flops.value.value() / (one_row * 32 / row.fp8_cycles), 1, 0.003);
        }
        if (!chip.clock_ghz.value.empty()) {
            EXPECT_EQ(std::ranges::max(chip.clock_ghz.value) * 1e9, row.clock);
        }
    }
}

// The vector rate is cores x ALUs of a core x clock. The paper gives 128 lanes x 16 ALUs for v4p,
// the reference text (8, 128) x 4 for the fifth generation and about 7 TFLOP/s for a core of v5p;
// those of v2, v3, v6e and tpu7x are assumptions of the catalogue.
TEST(Catalogue, VectorRatesFollowFromTheAlus) {
    struct Row {
        int cores;
        double alus;
        double clock;
    };
    const std::map<std::string, Row> rows{
        {"v2", {2, 128 * 16, 0.7e9}},      {"v3", {2, 128 * 16, 0.94e9}},
        {"v4p", {2, 128 * 16, 1.05e9}},    {"v5p", {2, 8 * 128 * 4, 1.75e9}},
        {"v5e", {1, 8 * 128 * 4, 1.5e9}},  {"v6e", {1, 8 * 128 * 4, 1.75e9}},
        {"tpu7x", {2, 8 * 128 * 4, 1.9e9}}};
    for (const ChipSpec& chip : chip_catalogue()) {
        SCOPED_TRACE(chip.name);
        const Row& row = rows.at(chip.name);
        EXPECT_EQ(chip.cores.value, row.cores);
        EXPECT_EQ(chip.vpu_flops.value.value(), row.cores * row.alus * row.clock);
        if (!chip.clock_ghz.value.empty()) {
            EXPECT_EQ(usual_ghz(chip) * 1e9, row.clock);
        }
        EXPECT_EQ(chip.vpu_flops.source.find("not published"), std::string::npos);
        const bool cited = chip.name == "v4p" || chip.name == "v5p" || chip.name == "v5e";
        EXPECT_EQ(chip.vpu_flops.source.starts_with("assumption"), !cited);
        const bool older = chip.name == "v2" || chip.name == "v3" || chip.name == "v4p";
        EXPECT_EQ(chip.vmem.value.value(), (older ? 32 : 128) * 1024.0 * 1024.0);
    }
    const ChipSpec& v5p = find_chip("v5p");
    EXPECT_NEAR(v5p.vpu_flops.value.value() / v5p.cores.value / 7e12, 1, 0.03);
}

// Ratios that the reference text states or uses, one a line.
TEST(Catalogue, ReproducesTheRatiosOfTheReferenceText) {
    const ChipSpec& v5p = find_chip("v5p");
    // "2550" is FLOP/s over bidirectional ICI bytes/s, 4.59e14 / 1.8e11.
    EXPECT_DOUBLE_EQ(v5p.bf16_flops.value.value() / v5p.ici_both_ways_book.value.value(), 2550);
    // The pod has 16 x 20 x 28 chips.
    EXPECT_EQ(v5p.pod_shape.value[0] * v5p.pod_shape.value[1] * v5p.pod_shape.value[2], 8960);
    // v6e and tpu7x have arrays of 256.
    for (const ChipSpec& chip : chip_catalogue()) {
        const bool wide = chip.name == "v6e" || chip.name == "tpu7x";
        EXPECT_EQ(chip.mxu_dimension.value, wide ? 256 : 128) << chip.name;
    }
    // Peak rates rise from v3 to v4p to v5p, and from v5e to v6e.
    EXPECT_LT(find_chip("v3").bf16_flops.value, find_chip("v4p").bf16_flops.value);
    EXPECT_LT(find_chip("v4p").bf16_flops.value, v5p.bf16_flops.value);
    EXPECT_LT(find_chip("v5e").bf16_flops.value, find_chip("v6e").bf16_flops.value);
    // The book's usable ICI rate is 90 % of the vendor's, from v4p on.
    for (const ChipSpec& chip : chip_catalogue()) {
        if (chip.name != "v2" && chip.name != "v3") {
            EXPECT_DOUBLE_EQ(chip.ici_one_way_book.value / chip.ici_one_way_vendor.value, 0.9)
                << chip.name;
        }
    }
    EXPECT_EQ(find_chip("v3").ici_one_way_vendor.value.value(), 70e9);
}

// A chip of two chiplets is one chip: both cores' rates (1153.5 bf16 TFLOP/s each), both halves of
// the HBM, in GiB as the vendor has it. MaxText's tpu7x-128, 128 devices, is the cube of 64 chips,
// and tpu7x-18432 the pod.
TEST(Catalogue, ATpu7xChipHasTheRatesOfBothItsCores) {
    const ChipSpec& chip = find_chip("tpu7x");
    EXPECT_EQ(chip.cores.value, 2);
    EXPECT_EQ(chip.bf16_flops.value.value(), 2 * 1153.5e12);
    EXPECT_EQ(chip.fp8_flops.value.value(), 2 * 2307e12);
    EXPECT_EQ(chip.hbm_capacity.value.value(), 2 * 96 * 1073741824.0);
    const Point& pod = chip.pod_shape.value;
    EXPECT_EQ(pod[0] * pod[1] * pod[2] * chip.cores.value, 18432);
    const Lattice cube = make_slice(chip, {4, 4, 4}, false);
    EXPECT_EQ(cube.size() * chip.cores.value, 128);
    EXPECT_EQ(cube.wrapped, (std::array{true, true, true}));
    EXPECT_EQ(make_slice(chip, {2, 4, 4}, false).wrapped, (std::array{false, false, false}));
    EXPECT_EQ(make_slice(chip, {16, 24, 24}, false).size(), 9216);
    EXPECT_EQ(error_of([&] {
                  make_slice(chip, {16, 24, 28}, false);
              }),
              "tpu7x does not offer a slice 16x24x28; tpu7x offers lengths that are all multiples "
              "of 4, up to 9216 chips, or boxes of lengths 1, 2, 4 inside one 4x4x4 cube; nearest: "
              "16x24x24");
}

// A v2 chip has two cores and 4 nearest neighbours; the pod
// of v2-512 is a torus of 256 chips, as v3's of 1024 is.
TEST(Catalogue, AV2PodIsATorusOf256Chips) {
    const ChipSpec& chip = find_chip("v2");
    EXPECT_EQ(make_slice(chip, {16, 16, 1}, false).wrapped, (std::array{true, true, false}));
    EXPECT_EQ(make_slice(chip, {8, 16, 1}, false).wrapped, (std::array{false, false, false}));
    EXPECT_EQ(chip.hbm_capacity.value.value(), 16 * 1073741824.0);
    EXPECT_EQ(chip.cores.value * 256, 512);
}

TEST(Catalogue, AnUnknownChipNamesTheNearest) {
    EXPECT_EQ(
        error_of([] { find_chip("v4pp"); }),
        "unknown chip 'v4pp'; did you mean 'v4p'? allowed: v2, v3, v4p, v5p, v5e, v6e, tpu7x");
    EXPECT_EQ(error_of([] { find_chip("V5P"); }),
              "unknown chip 'V5P'; did you mean 'v5p'? allowed: v2, v3, v4p, v5p, v5e, v6e, tpu7x");
    // v2 is nearer by its letters, but the number belongs to another chip.
    EXPECT_EQ(
        error_of([] { find_chip("v7"); }),
        "unknown chip 'v7'; did you mean 'tpu7x'? allowed: v2, v3, v4p, v5p, v5e, v6e, tpu7x");
    EXPECT_EQ(error_of([] { find_chip("blackwell"); }),
              "unknown chip 'blackwell'; allowed: v2, v3, v4p, v5p, v5e, v6e, tpu7x");
}

}  // namespace
}  // namespace podsim::topology
