// All meshes of a machine over logical axes: every assignment of axis factors to parallelisms.
//
// A physical axis is a row of factors from the smallest stride to the largest. Each factor belongs
// to another logical axis than its neighbours, and their lengths multiply to the axis. Several
// slices are one more such row. A mesh is one row for each axis. Meshes that an exchange of equal
// axes maps to each other are one plan, and only the first of them counts
// (DeviceMesh::first_of_kind). The factors of a logical axis are in the order x, y, z, slice. If an
// axis goes by ranks, a mesh is not left out for an image that has the factors of this axis in
// another order.
//
// The meshes are listed on first use: millions of them take seconds.
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

#include "scenarios/src/scenario/hardware.h"
#include "topology/mesh/mesh.h"

namespace podsim::scenarios {

/// A logical axis and its allowed sizes.
struct MeshAxis {
    std::string name;
    std::vector<int> sizes{};  ///< empty: any
    /// True if ranks decide what its members do, so that another order of its factors makes another
    /// plan (pipeline).
    bool by_rank = false;
};

/// The mesh of the scenario, for machines that have its chips.
struct OwnMesh {
    topology::DeviceMesh mesh{};
    /// True: a space that lacks this mesh has it in addition, behind all others.
    bool always = false;
};

class MeshSpace {
public:
    /// Without axes there is one mesh, that of the scenario. Throws sim::InputError if there are
    /// more than kMostMeshes.
    MeshSpace(const Hardware& hardware, std::vector<MeshAxis> axes, const OwnMesh* own = nullptr);

    static constexpr std::size_t kMostMeshes = 20'000'000;

    /// Lists the meshes unless they are listed. Calls `stop` in between; if it returns true, the
    /// list is discarded and the result is false.
    bool list(const std::function<bool()>& stop) const;
    [[nodiscard]] bool is_listed() const { return listed_.load() != nullptr; }
    /// Returns an upper bound of the number of meshes, without a list.
    [[nodiscard]] std::uint64_t most() const;

    /// Meshes of the same sizes.
    struct Class {
        std::vector<int> sizes;             ///< by axis
        std::vector<std::uint32_t> meshes;  ///< ascending
    };
    [[nodiscard]] const std::vector<Class>& classes() const { return listed().classes; }
    /// Returns the size of a logical axis in these meshes; 1 if they lack it.
    [[nodiscard]] int size_of(const Class& meshes, std::string_view axis) const;
    [[nodiscard]] std::size_t size() const {
        return listed().meshes.size() + (listed().extra ? 1 : 0);
    }
    /// Returns the number of the scenario's own mesh, if it is one of them.
    [[nodiscard]] std::optional<std::uint32_t> own() const { return listed().own; }
    /// Returns the class of a mesh.
    [[nodiscard]] const Class& class_of(std::uint32_t mesh) const;
    [[nodiscard]] const topology::Lattice& slice() const { return slice_; }
    [[nodiscard]] int slices() const { return slices_; }
    /// True if it also has the meshes of that machine.
    [[nodiscard]] bool is_of(const Hardware& hardware) const;

    /// Returns a mesh as a scenario has it: `{fsdp: x/4 y, tensor: x%4}`.
    [[nodiscard]] std::string text(std::uint32_t mesh) const;
    [[nodiscard]] topology::DeviceMesh mesh(std::uint32_t mesh) const;

private:
    static constexpr std::size_t kRows = topology::kAxes + 1;  ///< the physical axes and the slices
    /// A factor of a row: its logical axis and the number of its members.
    struct Part {
        std::size_t owner = 0;
        int length = 1;
        auto operator<=>(const Part&) const = default;
    };
    using Row = std::vector<Part>;
    /// Index of the row in rows_, by physical axis.
    using Rows = std::array<std::uint16_t, kRows>;
    struct Listed {
        std::vector<Rows> meshes{};  ///< ascending
        /// The scenario's mesh, if no rows make it.
        std::optional<topology::DeviceMesh> extra{};
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
    /// Points to the content of list_, for reading without the lock.
    mutable std::atomic<const Listed*> listed_ = nullptr;
};

}  // namespace podsim::scenarios
