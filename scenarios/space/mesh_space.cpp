#include "scenarios/space/mesh_space.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <utility>

#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

using Exchange = std::array<std::size_t, topology::kAxes>;

/// The displacement with its axes exchanged: what lay along axis a lies along exchange[a].
topology::Point exchanged(const topology::Point& point, const Exchange& exchange) {
    topology::Point to{};
    for (std::size_t axis = 0; axis < exchange.size(); ++axis) {
        to[exchange[axis]] = point[axis];
    }
    return to;
}

/// Whether the lattice is the same with its axes exchanged: displacements that are nothing stay so.
bool is_symmetry(const topology::Lattice& slice, const Exchange& exchange) {
    for (std::size_t axis = 0; axis < exchange.size(); ++axis) {
        const std::size_t to = exchange[axis];
        if (slice.lengths[axis] != slice.lengths[to] || slice.wrapped[axis] != slice.wrapped[to]) {
            return false;
        }
        if (!slice.wrapped[axis]) {
            continue;
        }
        topology::Point once = topology::along(static_cast<int>(axis), slice.lengths[axis]);
        once = once - slice.wrap_shift[axis];
        if (slice.canonical(exchanged(once, exchange)) != topology::Point{}) {
            return false;
        }
    }
    return true;
}

}  // namespace

MeshSpace::MeshSpace(const Hardware& hardware, std::vector<MeshAxis> axes)
    : axes_(std::move(axes)),
      slice_(hardware.slice),
      slices_(hardware.slices),
      host_(hardware.chip.host_shape.value),
      perturbed_(!hardware.perturbations.empty()) {
    if (axes_.empty()) {
        meshes_.emplace_back();
        classes_ = {{.sizes = {}, .meshes = {0}}};
        return;
    }
    double count = 1;
    for (std::size_t row = 0; row < kRows; ++row) {
        Row begun;
        add_rows(rows_[row], begun, row < topology::kAxes ? slice_.lengths[row] : hardware.slices);
        count *= static_cast<double>(rows_[row].size());
        if (rows_[row].size() > std::numeric_limits<std::uint16_t>::max()) {
            count = std::numeric_limits<double>::infinity();
        }
    }
    find_symmetries();
    if (count > kMostMeshes) {
        throw sim::InputError(
            fmt::format("more than {} meshes over {} axes on {}", kMostMeshes, axes_.size(),
                        topology::slices_text(slice_, slices_)),
            "name fewer axes, as in search.mesh: {fsdp: any, tensor: [1, 2, 4, 8]}");
    }
    collect();
}

/// All rows that go on as begun with factors of `rest`.
void MeshSpace::add_rows(std::vector<Row>& rows, Row& begun, int rest) const {
    if (rest == 1) {
        rows.push_back(begun);
        return;
    }
    for (int factor = 2; factor <= rest; ++factor) {
        if (rest % factor != 0) {
            continue;
        }
        for (std::size_t owner = 0; owner < axes_.size(); ++owner) {
            if (begun.empty() || begun.back().owner != owner) {
                begun.push_back({owner, factor});
                add_rows(rows, begun, rest / factor);
                begun.pop_back();
            }
        }
    }
}

/// None on a machine that is not the same everywhere; where slices are joined through hosts, those that leave hosts as they are.
void MeshSpace::find_symmetries() {
    if (perturbed_) {
        return;
    }
    Exchange exchange{0, 1, 2};
    while (std::ranges::next_permutation(exchange).found) {
        if (is_symmetry(slice_, exchange) &&
            (slices_ == 1 || exchanged(host_, exchange) == host_)) {
            symmetries_.push_back(exchange);
        }
    }
}

bool MeshSpace::is_of(const Hardware& hardware) const {
    return slice_ == hardware.slice && slices_ == hardware.slices &&
           host_ == hardware.chip.host_shape.value && perturbed_ == !hardware.perturbations.empty();
}

std::uint64_t MeshSpace::kind(std::uint32_t mesh) const {
    const Rows& rows = meshes_[mesh];
    Rows first = rows;
    for (const Exchange& exchange : symmetries_) {
        Rows image = rows;
        for (std::size_t axis = 0; axis < exchange.size(); ++axis) {
            image[exchange[axis]] = rows[axis];
        }
        first = std::min(first, image);
    }
    constexpr unsigned kBitsOfRow = 16;
    std::uint64_t kind = 0;
    for (const std::uint16_t row : first) {
        kind = kind << kBitsOfRow | row;
    }
    return kind;
}

bool MeshSpace::allowed(const std::vector<int>& sizes) const {
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
        const std::vector<int>& wanted = axes_[axis].sizes;
        if (!wanted.empty() && std::ranges::find(wanted, sizes[axis]) == wanted.end()) {
            return false;
        }
    }
    return true;
}

void MeshSpace::collect() {
    std::map<std::vector<int>, std::vector<std::uint32_t>> by_sizes;
    Rows rows{};
    const auto count = [&](std::size_t row) {
        return static_cast<std::uint16_t>(rows_[row].size());
    };
    for (rows[0] = 0; rows[0] < count(0); ++rows[0]) {
        for (rows[1] = 0; rows[1] < count(1); ++rows[1]) {
            for (rows[2] = 0; rows[2] < count(2); ++rows[2]) {
                for (rows[3] = 0; rows[3] < count(3); ++rows[3]) {
                    std::vector<int> sizes(axes_.size(), 1);
                    for (std::size_t row = 0; row < kRows; ++row) {
                        for (const Part& part : rows_[row][rows[row]]) {
                            sizes[part.owner] *= part.length;
                        }
                    }
                    if (allowed(sizes)) {
                        by_sizes[std::move(sizes)].push_back(
                            static_cast<std::uint32_t>(meshes_.size()));
                        meshes_.push_back(rows);
                    }
                }
                rows[3] = 0;
            }
        }
    }
    for (auto& [sizes, meshes] : by_sizes) {
        classes_.push_back({sizes, std::move(meshes)});
    }
}

std::vector<topology::LogicalAxis> MeshSpace::logical(std::uint32_t mesh) const {
    std::vector<topology::LogicalAxis> logical;
    for (const MeshAxis& axis : axes_) {
        logical.push_back({axis.name, {}});
    }
    for (std::size_t row = 0; row < kRows; ++row) {
        int stride = 1;
        for (const Part& part : rows_[row][meshes_[mesh][row]]) {
            logical[part.owner].factors.push_back({static_cast<int>(row), stride, part.length});
            stride *= part.length;
        }
    }
    std::erase_if(logical, [](const topology::LogicalAxis& axis) { return axis.factors.empty(); });
    return logical;
}

topology::DeviceMesh MeshSpace::mesh(std::uint32_t mesh) const {
    return {slice_, logical(mesh), slices_};
}

int MeshSpace::size_of(const Class& meshes, std::string_view axis) const {
    for (std::size_t i = 0; i < axes_.size(); ++i) {
        if (axes_[i].name == axis) {
            return meshes.sizes[i];
        }
    }
    return 1;
}

std::string MeshSpace::text(std::uint32_t mesh) const {
    std::vector<std::string> axes;
    for (const topology::LogicalAxis& axis : logical(mesh)) {
        std::vector<std::string> factors;
        for (const topology::AxisFactor& factor : axis.factors) {
            factors.push_back(topology::to_string(factor, factor.axis == topology::kSliceAxis
                                                              ? slices_
                                                              : slice_.length(factor.axis)));
        }
        axes.push_back(fmt::format("{}: {}", axis.name, fmt::join(factors, " ")));
    }
    return fmt::format("{{{}}}", fmt::join(axes, ", "));
}

}  // namespace podsim::scenarios
