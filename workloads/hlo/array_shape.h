// Shapes of HLO: element types, dimensions, layouts with tiles and memory spaces, and the bytes that they take.
//
// A layout `{minor_to_major:T(a,b)(c,d)E(bits)S(space)}` says the order of the dimensions in memory and the tiles into which the
// most minor ones are padded: bf16[100,200]{1,0:T(8,128)(2,1)} is stored as 104 x 256. What HBM moves are the padded bytes.
// Memory spaces: 0 HBM, 1 VMEM, 5 pinned host memory; others are flags and scalars.
// Source: openxla/xla, docs/shapes.md and docs/tiled_layout.md; xla/hlo/parser/hlo_parser.cc (ParseLayout).
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
    std::vector<int> minor_to_major;  ///< empty: descending
    std::vector<std::vector<std::int64_t>>
        tiles;             ///< of the most minor dimensions, outermost first
    int element_bits = 0;  ///< 0: those of the type
    int memory_space = kHbmSpace;
};

/// Sums over the arrays of a shape. They are made where it is read, since what reads a tuple of many arrays may be many.
struct ShapeSums {
    double elements = 0;
    sim::Bytes bytes{};
    sim::Bytes stored{};
    sim::Bytes in_hbm{};   ///< of `stored`
    int first_space = -1;  ///< memory space of the first array; -1: there is none
    bool at_host = false;  ///< some array lies in the host's memory
};

struct Shape {
    enum class Kind { array, tuple, token };
    Kind kind = Kind::array;
    std::string element;             ///< of an array: `bf16`
    std::vector<std::int64_t> dims;  ///< of an array; a bounded dynamic one counts its bound
    Layout layout;
    std::vector<Shape> parts;  ///< of a tuple
    ShapeSums sums{};          ///< as read_shape makes them

    /// Of an array; 1 of a scalar.
    [[nodiscard]] double elements() const { return kind == Kind::array ? sums.elements : 1; }
    /// Of all arrays in it, without padding; an element takes what it takes in memory (stored_bytes).
    [[nodiscard]] sim::Bytes bytes() const { return sums.bytes; }
    /// Of the array as it lies in memory: dimensions padded to the first tile; elements of 4 bits take half a byte where the layout says
    /// so, `E(4)`, as XLA's compilers do, else a byte.
    [[nodiscard]] sim::Bytes stored_bytes() const { return sums.stored; }
};

/// Bits of an element; 0 of a type that is not known.
int element_bits(const std::string& element);
/// `f32`, `bf16`, not `s32`.
bool is_floating(const std::string& element);

/// Every array in a shape, of tuples in order.
std::vector<const Shape*> arrays_of(const Shape& shape);

/// Parts of one shape, those of tuples within it too.
inline constexpr std::size_t kMostParts = std::size_t{1} << 18;

/// `bf16[8,128]{1,0:T(8,128)(2,1)}`, `(f32[], s32[2])`, `token[]`, `b(f32[4])`. Throws sim::InputError, also for an array of 2^63 bytes or
/// more.
Shape read_shape(Text& text);

}  // namespace podsim::workloads::hlo
