// Reads meshes: the first line is a slice (`4x4x8`), the second the number of slices, each further
// one the factors of a logical axis (`x/4 y z%2`). An accepted mesh has every chip once, and its
// factors are read again from their own text.
#include <charconv>
#include <vector>

#include "scenarios/src/scenario/load.h"
#include "sim/base/error.h"
#include "tests/fuzz/memory_file.h"
#include "topology/lattice/shape.h"
#include "topology/mesh/mesh.h"

namespace {

using namespace podsim;

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty() && lines.size() < 12) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

void check_mesh(const topology::Lattice& slice, int slices, const std::vector<std::string>& lines) {
    std::vector<topology::LogicalAxis> axes;
    for (std::size_t i = 2; i < lines.size(); ++i) {
        topology::LogicalAxis axis{"axis" + std::to_string(i), {}};
        axis.factors = topology::parse_factors(lines[i], slice, slices);
        for (const topology::AxisFactor& factor : axis.factors) {
            const int length =
                factor.axis == topology::kSliceAxis ? slices : slice.length(factor.axis);
            const std::string text = topology::to_string(factor, length);
            fuzz::must(topology::parse_factor(text, slice, slices) == factor);
        }
        axes.push_back(std::move(axis));
    }
    const topology::DeviceMesh mesh(slice, axes, slices);
    std::int64_t chips = 1;
    for (const topology::LogicalAxis& axis : mesh.axes()) {
        chips *= axis.size();
    }
    fuzz::must(chips == std::int64_t{slice.size()} * slices);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::vector<std::string> lines = lines_of(fuzz::text_of(data, size));
    if (lines.size() < 2) {
        return 0;
    }
    int slices = 0;
    std::from_chars(lines[1].data(), lines[1].data() + lines[1].size(), slices);
    try {
        const topology::Lattice slice{.lengths = topology::parse_shape(lines[0])};
        // The reader of `hardware` refuses other slices before it reads meshes.
        if (slices >= 1 && slices <= scenarios::kMostChips / slice.size()) {
            check_mesh(slice, slices, lines);
        }
    } catch (const sim::InputError& error) {
        fuzz::must(!error.problem().empty());
    }
    return 0;
}
