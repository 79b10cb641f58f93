// Axes that are alike, and the representative of meshes that differ only in axis names.
#include "topology/mesh/exchange.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "topology/chips/chip.h"
#include "topology/lattice/shape.h"
#include "topology/mesh/mesh.h"

namespace podsim::topology {
namespace {

Lattice slice_of(const std::string& chip, Point shape, bool twisted = false) {
    return make_slice(find_chip(chip), shape, twisted);
}

std::size_t exchanges(const Lattice& slice, Point box = {1, 1, 1}) {
    return exchanges_of(slice, box).size();
}

// n equal axes have n! orders, one of which is their own.
TEST(AxisExchange, IsOfAxesThatAreAlike) {
    EXPECT_EQ(exchanges(slice_of("v5p", {4, 4, 4})), 5U);
    EXPECT_EQ(exchanges(slice_of("v5p", {4, 4, 8})), 1U);
    EXPECT_EQ(exchanges(slice_of("v5p", {4, 8, 16})), 0U);
    // A line is not a ring: on v5e only axes of 16 wrap.
    EXPECT_EQ(exchanges(slice_of("v5e", {8, 16, 1})), 0U);
    EXPECT_EQ(exchanges(slice_of("v5e", {16, 16, 1})), 1U);
    // On a twisted slice both short axes shift the long one.
    EXPECT_EQ(exchanges(slice_of("v5p", {4, 4, 8}, true)), 1U);
    // Hosts of 2x2x1 keep their orientation.
    EXPECT_EQ(exchanges(slice_of("v5p", {4, 4, 4}), {2, 2, 1}), 1U);
}

// The exchange takes x to y, y to z, z to x.
TEST(AxisExchange, GoesBack) {
    const AxisExchange round{.to = {1, 2, 0}};
    EXPECT_EQ(round.of({3, 5, 7}), (Point{7, 3, 5}));
    EXPECT_EQ(round.inverse().of(round.of({3, 5, 7})), (Point{3, 5, 7}));
}

std::string text_of(const DeviceMesh& mesh, const Lattice& slice) {
    std::string text;
    for (const LogicalAxis& axis : mesh.axes()) {
        text += (text.empty() ? "" : ", ") + axis.name + ":";
        for (const AxisFactor& factor : axis.factors) {
            text += " " + to_string(factor, slice.length(factor.axis));
        }
    }
    return text;
}

DeviceMesh sharded(const Lattice& slice,
                   const std::vector<std::pair<std::string, std::string>>& axes) {
    std::vector<LogicalAxis> logical;
    for (const auto& [name, factors] : axes) {
        logical.push_back({name, parse_factors(factors, slice)});
    }
    return {slice, logical};
}

// The physical axis with most factors comes first, then the order of names; in `fsdp: y x` the
// first factor counts. The image of a chip has the chip's rank.
TEST(AxisExchange, TakesMeshesToTheFirstOfTheirKind) {
    const Lattice slice = slice_of("v5p", {8, 8, 8});
    const std::vector<AxisExchange> all = exchanges_of(slice, {1, 1, 1});
    using Axes = std::vector<std::pair<std::string, std::string>>;
    const std::vector<std::pair<Axes, std::string>> cases{
        {{{"fsdp", "z y x"}}, "fsdp: x y z"},
        {{{"tensor", "x"}, {"fsdp", "y z"}}, "tensor: z, fsdp: x y"},
        {{{"fsdp", "x y z/4"}, {"tensor", "z%4"}}, "fsdp: y z x/4, tensor: x%4"},
        {{{"fsdp", "x%2 x/2 z"}, {"tensor", "y"}}, "fsdp: x%2 x/2 y, tensor: z"},
        {{{"fsdp", "x y/2"}, {"context", "y%2"}, {"tensor", "z"}},
         "fsdp: y x/2, context: x%2, tensor: z"},
    };
    for (const auto& [axes, first] : cases) {
        const DeviceMesh mesh = sharded(slice, axes);
        const DeviceMesh moved = mesh.first_of_kind(all);
        EXPECT_EQ(text_of(moved, slice), first);
        EXPECT_EQ(moved.first_of_kind(all).written(), moved.written());
        const AxisExchange simulated = moved.written().inverse();
        for (int chip = 0; chip < slice.size(); chip += 37) {
            for (const auto& [name, factors] : axes) {
                EXPECT_EQ(moved.rank(name, simulated.of(slice.point(chip)), 0),
                          mesh.rank(name, slice.point(chip), 0));
            }
        }
    }
    const DeviceMesh moved = sharded(slice, {{"tensor", "x"}, {"fsdp", "y z"}}).first_of_kind(all);
    EXPECT_EQ(moved.axis_name(2), 'x');
    EXPECT_EQ(moved.axis_name(0), 'y');
    EXPECT_EQ(moved.axis_name(1), 'z');
}

}  // namespace
}  // namespace podsim::topology
