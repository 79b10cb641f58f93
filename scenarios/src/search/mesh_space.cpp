#include "scenarios/src/search/mesh_space.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <utility>

#include "sim/base/error.h"

namespace podsim::scenarios {

MeshSpace::MeshSpace(const Hardware& hardware, std::vector<MeshAxis> axes, const OwnMesh* own)
    : axes_(std::move(axes)),
      slice_(hardware.slice),
      slices_(hardware.slices),
      host_(hardware.chip.host_shape.value),
      perturbed_(!hardware.perturbations.empty()),
      exchanges_(axis_exchanges(hardware)) {
    if (own != nullptr) {
        own_mesh_ = *own;
    }
    double count = 1;
    for (std::size_t row = 0; row < kRows && !axes_.empty(); ++row) {
        Row begun;
        add_rows(rows_[row], begun, row < topology::kAxes ? slice_.lengths[row] : hardware.slices);
        sort_rows(rows_[row]);
        count *= static_cast<double>(rows_[row].size());
        if (rows_[row].size() > std::numeric_limits<std::uint16_t>::max()) {
            count = std::numeric_limits<double>::infinity();
        }
    }
    if (count > kMostMeshes) {
        throw sim::InputError(
            fmt::format("more than {} meshes over {} axes on {}", kMostMeshes, axes_.size(),
                        topology::slices_text(slice_, slices_)),
            "name fewer axes, as in search.mesh: {fsdp: any, tensor: [1, 2, 4, 8]}");
    }
}

std::uint64_t MeshSpace::most() const {
    std::uint64_t most = 1;
    for (const std::vector<Row>& rows : rows_) {
        most *= axes_.empty() ? 1 : rows.size();
    }
    return most + (own_mesh_ ? 1 : 0);
}

bool MeshSpace::list(const std::function<bool()>& stop) const {
    const std::scoped_lock lock(listing_);
    if (list_ != nullptr) {
        return true;
    }
    auto list = std::make_unique<Listed>();
    if (axes_.empty()) {
        *list = {.meshes = {{}}, .own = 0, .classes = {{.sizes = {}, .meshes = {0}}}};
    } else if (!collect(*list, stop)) {
        return false;
    } else if (own_mesh_) {
        add_own(*list);
    }
    list_ = std::move(list);
    listed_ = list_.get();
    return true;
}

const MeshSpace::Listed& MeshSpace::listed() const {
    const Listed* found = listed_.load();
    if (found == nullptr) {
        (void)list([] { return false; });
        found = listed_.load();
    }
    return *found;
}

/// Adds all rows that extend `begun` with factors of `rest`.
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

/// Sorts rows in the order of an axis before another that is like it.
void MeshSpace::sort_rows(std::vector<Row>& rows) const {
    std::ranges::sort(rows, {}, [&](const Row& row) {
        topology::AxisContent content;
        for (const Part& part : row) {
            content.parts.emplace_back(axes_[part.owner].name, part.length);
        }
        return content;
    });
}

bool MeshSpace::is_first_of_kind(const Rows& rows) const {
    return std::ranges::all_of(exchanges_, [&](const topology::AxisExchange& exchange) {
        Rows image = rows;
        for (std::size_t axis = 0; axis < topology::kAxes; ++axis) {
            image[exchange.to[axis]] = rows[axis];
        }
        return rows <= image || !keeps_ranks(rows, exchange);
    });
}

/// True if the axes that go by ranks also have their factors in the order of physical axes in the
/// image.
bool MeshSpace::keeps_ranks(const Rows& rows, const topology::AxisExchange& exchange) const {
    for (std::size_t owner = 0; owner < axes_.size(); ++owner) {
        std::size_t last = 0;
        for (std::size_t axis = 0; axes_[owner].by_rank && axis < topology::kAxes; ++axis) {
            if (std::ranges::find(rows_[axis][rows[axis]], owner, &Part::owner) ==
                rows_[axis][rows[axis]].end()) {
                continue;
            }
            if (exchange.to[axis] < last) {
                return false;
            }
            last = exchange.to[axis];
        }
    }
    return true;
}

bool MeshSpace::is_of(const Hardware& hardware) const {
    return slice_ == hardware.slice && slices_ == hardware.slices &&
           host_ == hardware.chip.host_shape.value && perturbed_ == !hardware.perturbations.empty();
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

/// Returns false if it was stopped.
bool MeshSpace::collect(Listed& list, const std::function<bool()>& stop) const {
    constexpr std::size_t kBetweenStops = 4096;  // a few milliseconds
    std::map<std::vector<int>, std::vector<std::uint32_t>> by_sizes;
    Rows rows{};
    std::size_t seen = 0;
    const auto count = [&](std::size_t row) {
        return static_cast<std::uint16_t>(rows_[row].size());
    };
    for (rows[0] = 0; rows[0] < count(0); ++rows[0]) {
        for (rows[1] = 0; rows[1] < count(1); ++rows[1]) {
            for (rows[2] = 0; rows[2] < count(2); ++rows[2]) {
                for (rows[3] = 0; rows[3] < count(3); ++rows[3]) {
                    if (++seen % kBetweenStops == 0 && stop()) {
                        return false;
                    }
                    if (!is_first_of_kind(rows)) {
                        continue;
                    }
                    std::vector<int> sizes(axes_.size(), 1);
                    for (std::size_t row = 0; row < kRows; ++row) {
                        for (const Part& part : rows_[row][rows[row]]) {
                            sizes[part.owner] *= part.length;
                        }
                    }
                    if (allowed(sizes)) {
                        by_sizes[std::move(sizes)].push_back(
                            static_cast<std::uint32_t>(list.meshes.size()));
                        list.meshes.push_back(rows);
                    }
                }
                rows[3] = 0;
            }
        }
    }
    for (auto& [sizes, meshes] : by_sizes) {
        list.classes.push_back({sizes, std::move(meshes)});
    }
    return true;
}

/// Returns the mesh with its axes exchanged, if rows make it.
std::optional<std::uint32_t> MeshSpace::number_of(const std::vector<Rows>& meshes,
                                                  const topology::DeviceMesh& mesh,
                                                  const topology::AxisExchange& exchange) const {
    std::array<std::map<int, Part>, kRows> by_stride;
    for (const topology::LogicalAxis& axis : mesh.axes()) {
        const auto owner = static_cast<std::size_t>(
            std::ranges::find(axes_, axis.name, &MeshAxis::name) - axes_.begin());
        // the physical axis and the stride of the previous factor
        std::pair last{-1, 0};
        for (const topology::AxisFactor& factor : axis.factors) {
            if (factor.length == 1) {
                continue;
            }
            const int along =
                factor.axis == topology::kSliceAxis
                    ? factor.axis
                    : static_cast<int>(exchange.to[static_cast<std::size_t>(factor.axis)]);
            const std::pair here{along, factor.stride};
            if (owner == axes_.size() || (axes_[owner].by_rank && here < last)) {
                return std::nullopt;
            }
            last = here;
            by_stride[static_cast<std::size_t>(along)][factor.stride] = {owner, factor.length};
        }
    }
    Rows rows{};
    for (std::size_t row = 0; row < kRows; ++row) {
        Row parts;
        for (const auto& [stride, part] : by_stride[row]) {
            if (parts.empty() || parts.back().owner != part.owner) {
                parts.push_back(part);
            } else if (axes_[part.owner].by_rank) {
                // in one factor ranks count in the other direction
                return std::nullopt;
            } else {
                parts.back().length *= part.length;
            }
        }
        const auto found = std::ranges::find(rows_[row], parts);
        if (found == rows_[row].end()) {
            return std::nullopt;
        }
        rows[row] = static_cast<std::uint16_t>(found - rows_[row].begin());
    }
    const auto found = std::ranges::lower_bound(meshes, rows);
    return found != meshes.end() && *found == rows
               ? std::optional(static_cast<std::uint32_t>(found - meshes.begin()))
               : std::nullopt;
}

void MeshSpace::add_own(Listed& list) const {
    const topology::DeviceMesh& mesh = own_mesh_->mesh;
    list.own = number_of(list.meshes, mesh, {});
    for (const topology::AxisExchange& exchange : exchanges_) {
        list.own = list.own ? list.own : number_of(list.meshes, mesh, exchange);
    }
    if (list.own || !own_mesh_->always) {
        return;
    }
    list.own = static_cast<std::uint32_t>(list.meshes.size());
    list.extra = mesh;
    Class& alone = list.classes.emplace_back();
    for (const MeshAxis& axis : axes_) {
        alone.sizes.push_back(mesh.size(axis.name));
    }
    alone.meshes = {*list.own};
}

const MeshSpace::Class& MeshSpace::class_of(std::uint32_t mesh) const {
    return *std::ranges::find_if(
        classes(), [&](const Class& one) { return std::ranges::binary_search(one.meshes, mesh); });
}

std::vector<topology::LogicalAxis> MeshSpace::logical(std::uint32_t mesh) const {
    std::vector<topology::LogicalAxis> logical;
    const Listed& list = listed();
    if (mesh == list.meshes.size() && list.extra) {
        for (topology::LogicalAxis axis : list.extra->axes()) {
            std::erase_if(axis.factors, [](const auto& factor) { return factor.length == 1; });
            if (!axis.factors.empty()) {
                logical.push_back(std::move(axis));
            }
        }
        return logical;
    }
    for (const MeshAxis& axis : axes_) {
        logical.push_back({axis.name, {}});
    }
    for (std::size_t row = 0; row < kRows; ++row) {
        int stride = 1;
        for (const Part& part : rows_[row][list.meshes[mesh][row]]) {
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
    const Listed& list = listed();
    if (list.extra && meshes.meshes.front() == list.meshes.size()) {
        return list.extra->size(axis);
    }
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
