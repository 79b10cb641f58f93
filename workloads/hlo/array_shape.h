// Shapes of HLO: element types, dimensions, layouts with tiles and memory spaces, and their sizes
// in bytes.
//
// A layout `{minor_to_major:T(a,b)(c,d)E(bits)S(space)}` states the order of the dimensions in
// memory and the tiles to which the most minor ones are padded: bf16[100,200]{1,0:T(8,128)(2,1)} is
// stored as 104 x 256. HBM moves the padded bytes.
// Memory spaces: 0 HBM, 1 VMEM, 5 pinned host memory; others are flags and scalars.
// Source: openxla/xla, docs/shapes.md and docs/tiled_layout.md; xla/hlo/parser/hlo_parser.cc
// (ParseLayout).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/quantity.h"
#include "workloads/hlo/text.h"

namespace podsim::workloads::hlo {

inline constexpr int kHbmSpace = 0;
inline constexpr int kVmemSpace = 1;
inline constexpr int kHostSpace = 5;

struct Layout {
    /// Order of the dimensions; descending if empty.
    std::vector<int> minor_to_major;
    /// Tiles of the most minor dimensions, outermost first.
    std::vector<std::vector<std::int64_t>> tiles;
    /// Bits of an element in memory; 0 for those of the type.
    int element_bits = 0;
    int memory_space = kHbmSpace;
};

/// Sums over the arrays of a shape. They are computed once, when the shape is read, because many
/// instructions may read one tuple of many arrays.
struct ShapeSums {
    double elements = 0;
    sim::Bytes bytes{};
    sim::Bytes stored{};
    sim::Bytes in_hbm{};  ///< bytes of `stored` in HBM
    /// Memory space of the first array; -1 if there is none.
    int first_space = -1;
    /// True if an array lies in the host's memory.
    bool at_host = false;
};

struct Shape {
    enum class Kind { array, tuple, token };
    Kind kind = Kind::array;
    /// Element type of an array: `bf16`.
    std::string element;
    /// Dimensions of an array; a bounded dynamic one counts with its bound.
    std::vector<std::int64_t> dims;
    Layout layout;
    std::vector<Shape> parts;  ///< of a tuple
    ShapeSums sums{};          ///< computed by read_shape

    /// Returns the number of elements of an array; 1 for a scalar.
    [[nodiscard]] double elements() const { return kind == Kind::array ? sums.elements : 1; }
    /// Returns the bytes of all arrays in the shape without padding; an element counts its bits in
    /// memory (stored_bytes).
    [[nodiscard]] sim::Bytes bytes() const { return sums.bytes; }
    /// Returns the bytes in memory, with dimensions padded to the first tile. Elements of 4 bits
    /// take half a byte if the layout states it (`E(4)`, as XLA's compilers write), else a byte.
    [[nodiscard]] sim::Bytes stored_bytes() const { return sums.stored; }
};

/// Returns the bits of an element; 0 for an unknown type.
int element_bits(const std::string& element);
/// True for `f32` and `bf16`, false for `s32`.
bool is_floating(const std::string& element);

/// Returns every array in a shape; those of tuples in order.
std::vector<const Shape*> arrays_of(const Shape& shape);

/// Limit of the parts of one shape, those of nested tuples included.
inline constexpr std::size_t kMostParts = std::size_t{1} << 18;

/// Reads `bf16[8,128]{1,0:T(8,128)(2,1)}`, `(f32[], s32[2])`, `token[]` or `b(f32[4])`. Throws
/// sim::InputError, also for an array of 2^63 bytes or more.
Shape read_shape(Text& text);

}  // namespace podsim::workloads::hlo
