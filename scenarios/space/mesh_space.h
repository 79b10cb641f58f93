// All meshes of a machine over some logical axes: every assignment of axis factors to parallelisms.
//
// A physical axis is a row of factors from the smallest stride to the largest, each of a logical axis other than its neighbours';
// their lengths multiply to the axis. Several slices are one more such row. A mesh is one row for each axis; of those that an exchange of
// equal axes takes into each other, which are one plan, the first (DeviceMesh::first_of_kind). The factors of a logical axis stand in the
// order x, y, z, slice: of an axis that goes by ranks no mesh is left out whose image has them in another order.
//
// The meshes are listed when somebody first asks for them: millions of them take seconds.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/spec/hardware.h"
#include "topology/mesh/mesh.h"

namespace podsim::scenarios {

/// A logical axis, and the sizes that it may have.
struct MeshAxis {
    std::string name;
    std::vector<int> sizes{};  ///< empty: any
    /// Ranks decide what its members do, so that the order of its factors makes another plan (pipeline).
    bool by_rank = false;
};

/// The mesh of the scenario, on machines that have its chips.
struct OwnMesh {
    topology::DeviceMesh mesh{};
    bool always = false;  ///< a space that lacks it has it besides, behind all others
};

class MeshSpace {
public:
    /// Without axes there is one mesh, that of the scenario. Throws sim::InputError where there are more than kMostMeshes.
    MeshSpace(const Hardware& hardware, std::vector<MeshAxis> axes, const OwnMesh* own = nullptr);

    static constexpr std::size_t kMostMeshes = 20'000'000;

    /// Lists the meshes, unless they are. `stop` is asked in between; where it holds the list is given up, and the result is false.
    bool list(const std::function<bool()>& stop) const;
    [[nodiscard]] bool is_listed() const { return listed_.load() != nullptr; }
    /// So many meshes there are at most, without a list.
    [[nodiscard]] std::uint64_t most() const;

    /// Meshes that have the same sizes.
    struct Class {
        std::vector<int> sizes;             ///< by axis
        std::vector<std::uint32_t> meshes;  ///< ascending
    };
    [[nodiscard]] const std::vector<Class>& classes() const { return listed().classes; }
    /// Of a logical axis in such meshes; 1 of one that they do not have.
    [[nodiscard]] int size_of(const Class& meshes, std::string_view axis) const;
    [[nodiscard]] std::size_t size() const {
        return listed().meshes.size() + (listed().extra ? 1 : 0);
    }
    /// The number of the scenario's own, where it is one of them.
    [[nodiscard]] std::optional<std::uint32_t> own() const { return listed().own; }
    /// The class that it is of.
    [[nodiscard]] const Class& class_of(std::uint32_t mesh) const;
    [[nodiscard]] const topology::Lattice& slice() const { return slice_; }
    [[nodiscard]] int slices() const { return slices_; }
    /// Whether it has the meshes of that machine too.
    [[nodiscard]] bool is_of(const Hardware& hardware) const;

    /// As a scenario has it: `{fsdp: x/4 y, tensor: x%4}`.
    [[nodiscard]] std::string text(std::uint32_t mesh) const;
    [[nodiscard]] topology::DeviceMesh mesh(std::uint32_t mesh) const;

private:
    static constexpr std::size_t kRows = topology::kAxes + 1;  ///< and one of slices
    /// A logical axis and how many of its members.
    struct Part {
        std::size_t owner = 0;
        int length = 1;
        auto operator<=>(const Part&) const = default;
    };
    using Row = std::vector<Part>;
    using Rows = std::array<std::uint16_t, kRows>;  ///< by physical axis: which of its rows
    struct Listed {
        std::vector<Rows> meshes{};  ///< ascending
        std::optional<topology::DeviceMesh>
            extra{};  ///< the scenario's mesh, where no rows make it
        std::optional<std::uint32_t> own{};
        std::vector<Class> classes{};
    };

    [[nodiscard]] const Listed& listed() const;
    void add_rows(std::vector<Row>& rows, Row& begun, int rest) const;
    void sort_rows(std::vector<Row>& rows) const;
    [[nodiscard]] bool is_first_of_kind(const Rows& rows) const;
    [[nodiscard]] bool keeps_ranks(const Rows& rows, const topology::AxisExchange& exchange) const;
    [[nodiscard]] bool allowed(const std::vector<int>& sizes) const;
    [[nodiscard]] bool collect(Listed& list, const std::function<bool()>& stop) const;
    [[nodiscard]] std::vector<topology::LogicalAxis> logical(std::uint32_t mesh) const;
    void add_own(Listed& list) const;
    [[nodiscard]] std::optional<std::uint32_t> number_of(
        const std::vector<Rows>& meshes, const topology::DeviceMesh& mesh,
        const topology::AxisExchange& exchange) const;

    std::vector<MeshAxis> axes_;
    topology::Lattice slice_;
    int slices_ = 1;
    topology::Point host_{};
    bool perturbed_ = false;
    std::array<std::vector<Row>, kRows> rows_;
    std::vector<topology::AxisExchange> exchanges_;
    std::optional<OwnMesh> own_mesh_;
    mutable std::mutex listing_;
    mutable std::unique_ptr<const Listed> list_;
    mutable std::atomic<const Listed*> listed_ =
        nullptr;  ///< what list_ has, for those that only look
};

}  // namespace podsim::scenarios
