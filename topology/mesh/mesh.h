// The device mesh: named logical axes (data, fsdp, context, tensor) mapped onto physical axes of a
// slice, whole or in factors.
//
// A factor of a physical axis is a pair (stride s, length f): the members of one group are the
// chips c, c + s, ..., c + (f-1) s along that axis. Notation: `y` is the whole axis, `x%4` blocks
// of 4 neighbours (stride 1), `x/4` their outer, strided factor (stride 4, length n/4), `x/2%3`
// stride 2 and length 3. The factors of a mesh must tile every physical axis exactly. Sorted by
// stride, each stride is the product of the lengths before it, and the product of all is the axis
// length. Several slices are one more axis, `slice`.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topology/lattice/lattice.h"
#include "topology/lattice/places.h"
#include "topology/mesh/exchange.h"

namespace podsim::topology {

/// The axis of the slices, written `slice`, `slice%2`, `slice/2`.
inline constexpr int kSliceAxis = kAxes;

struct AxisFactor {
    int axis = 0;  ///< 0, 1, 2 for x, y, z; kSliceAxis
    int stride = 1;
    int length = 1;

    friend bool operator==(const AxisFactor&, const AxisFactor&) = default;
};

/// Returns `x`, `x%4`, `x/4` or `x/2%3`: the text that parse_factor reads for this factor on an
/// axis of that length.
std::string to_string(const AxisFactor& factor, int axis_length);

/// Returns `slice 8x8`, or `4 slices of 8x8x1`.
std::string slices_text(const Lattice& slice, int slices);

/// One named axis of the mesh; its ranks count through `factors` with the last one fastest.
struct LogicalAxis {
    std::string name;
    std::vector<AxisFactor> factors;

    /// Number of members: the product of the factors' lengths (1 without factors).
    [[nodiscard]] int size() const;
};

class DeviceMesh {
public:
    DeviceMesh() = default;
    /// Throws sim::InputError if a name occurs twice, a factor does not divide its axis, or the
    /// factors do not tile the slice's axes exactly (see above). The message names the factor that
    /// is unused or used twice. Factors of length 1 are allowed and do nothing.
    DeviceMesh(const Lattice& slice, std::vector<LogicalAxis> axes, int slices = 1);

    [[nodiscard]] const std::vector<LogicalAxis>& axes() const { return axes_; }

    /// Number of members of the axis of that name; 1 if the mesh has no such axis.
    [[nodiscard]] int size(std::string_view name) const;

    /// Returns the factors within a slice of several axes as one group, in the order named.
    /// Neighbouring factors of one physical axis are merged (stride s, length f with stride s f,
    /// length g gives stride s, length f g). Factors of length 1 are dropped, and the rest is
    /// sorted by axis, then stride. Names that the mesh lacks add nothing; repeated names count
    /// once.
    [[nodiscard]] std::vector<AxisFactor> group(const std::vector<std::string>& names) const;

    /// Returns the rank of a chip of a slice along the axis of that name; 0 if the mesh has no such
    /// axis.
    [[nodiscard]] int rank(std::string_view name, const Point& chip, int slice) const;
    /// Returns the rank of a chip along several axes together, the last of them fastest.
    [[nodiscard]] int rank(const std::vector<std::string>& names, const Point& chip,
                           int slice) const;

    /// From the member of rank `from` of an axis to that of rank `to`, not beyond an edge.
    struct Displacement {
        Point chips{};
        int slices = 0;
    };
    [[nodiscard]] Displacement between(std::string_view name, int from, int to) const;

    /// Returns the mesh itself or its image under one of these exchanges of equal axes: the one
    /// whose x, then y, then z comes first (AxisContent). Ranks are unchanged.
    [[nodiscard]] DeviceMesh first_of_kind(const std::vector<AxisExchange>& exchanges) const;
    /// Maps axis a of this mesh to axis to[a] of the mesh as written, before first_of_kind.
    [[nodiscard]] const AxisExchange& written() const { return written_; }
    /// Returns the axis in the mesh as written; axis_name() returns its name there: `x`, `y` or
    /// `z`.
    [[nodiscard]] int written_axis(int axis) const {
        return static_cast<int>(written_.to[static_cast<std::size_t>(axis)]);
    }
    [[nodiscard]] char axis_name(int axis) const { return topology::axis_name(written_axis(axis)); }

    /// Returns the slices that several axes span. Throws sim::InputError if they are not one factor
    /// (`slice%2` and `slice/4` of 8).
    [[nodiscard]] SliceFactor across(const std::vector<std::string>& names) const;

private:
    /// Returns the axis of that name; nullptr if the mesh lacks it.
    [[nodiscard]] const LogicalAxis* find(std::string_view name) const;
    /// Returns the factors of the named axes, merged, without those of length 1, sorted.
    [[nodiscard]] std::vector<AxisFactor> merged(const std::vector<std::string>& names) const;
    [[nodiscard]] DeviceMesh exchanged(const AxisExchange& exchange) const;
    [[nodiscard]] std::array<AxisContent, kAxes> contents() const;

    std::vector<LogicalAxis> axes_;
    AxisExchange written_{};
};

/// Reads one factor (`x`, `x%4`, `x/4`, `x/2%3`). Throws sim::InputError, also if the stride or the
/// length does not divide the axis.
AxisFactor parse_factor(std::string_view text, const Lattice& slice, int slices = 1);

/// Reads the factors of one logical axis, separated by blanks: `x/4 y z/2` (none in an empty text).
/// Throws sim::InputError.
std::vector<AxisFactor> parse_factors(std::string_view text, const Lattice& slice, int slices = 1);

/// The order, by name, in which logical axes receive chips and slices. Axes that are not named
/// follow, as given.
struct PlacingOrder {
    /// Order within a slice: chips of the first axes lie closest together.
    std::vector<std::string> chips{};
    /// Order across slices: the first axes spread over them.
    std::vector<std::string> slices{};
};

/// Chooses factors for logical axes that are given by their sizes alone.
///
/// Axes are placed in the order of `order.chips`. Each takes whole physical axes if a product of
/// them fits (fewest first). Otherwise it takes the blocks of neighbours on the fewest axes with
/// the smallest strides left. Ties go to x before y before z. A placement exists whenever the sizes
/// multiply to the chips: prime by prime, the sizes still need what the axes still have, however
/// the earlier sizes were placed.
///
/// Several slices are assigned in the order of `order.slices`: each axis takes the greatest common
/// divisor of its size and the slices left. Throws sim::InputError if the sizes do not multiply to
/// the chips of all slices, if one is below 1 or if a name occurs twice.
DeviceMesh choose_mesh(const Lattice& slice, const std::vector<std::pair<std::string, int>>& sizes,
                       const PlacingOrder& order, int slices = 1);

/// Maps sizes as create_device_mesh of JAX (jax.experimental.mesh_utils) does on TPU tori whose
/// devices are chips.
///
/// The logical axes are taken from the last to the first; users write the one with the most traffic
/// last. Each takes a set of whole physical axes that multiply to its size: three before two before
/// one (more links), then the first by x, y, z. If an axis finds no such set, the mesh is refused.
///
/// With `split_physical_axes`, all axes are then mapped anew, again from the last. Each takes
/// numbers of chips of x, y and z whose product is its size and which divide the rest of the axes.
/// It prefers, in this order: the largest product within whole axes, more whole axes, the largest
/// product on axes that a later logical axis already uses (as JAX's code does; its comment says the
/// reverse), more of x, then of y. Along a physical axis the later logical axis has the smaller
/// stride.
///
/// Several slices are assigned as in choose_mesh, and the remaining sizes are mapped in each slice
/// (create_hybrid_device_mesh with those numbers). Throws sim::InputError.
///
/// The small slices of some chips (jax_order) accept any sizes. Chips are counted along x, then y,
/// then z, and cut into the sizes with the last axis fastest. The groups of the last axis are
/// JAX's; those of other axes may have other members (unlike_jax).
DeviceMesh map_mesh_as_jax(const Lattice& slice,
                           const std::vector<std::pair<std::string, int>>& sizes,
                           const PlacingOrder& order, bool split_physical_axes, int slices = 1,
                           std::string_view chip = {});

/// Returns the chips of a small slice in JAX's own order (device_kind_handler_dict): 2x2, and eight
/// in a plane, of v5e and v6e, 2x2x2 of v5p; empty for others. create_device_mesh cuts them into
/// the sizes as an array, whatever the sizes are. For 4x4 (v5e, v6e) JAX has an order for a single
/// axis, which has all chips. Source: jax-ml/jax @cec06d1, jax/_src/mesh_utils.py.
std::vector<Point> jax_order(std::string_view chip, const Lattice& slice);
/// Returns the axes of a mesh on these slices whose groups have other members than JAX's; in JAX
/// they jump with the order.
std::vector<std::string> unlike_jax(const DeviceMesh& mesh, const Lattice& slice,
                                    std::string_view chip);

}  // namespace podsim::topology
