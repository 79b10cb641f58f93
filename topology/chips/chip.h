// The chip catalogue: one record per TPU generation, each field with its source. The records are
// the files data/*.yaml, which cmake/chips.awk compiles into a table.
//
// Rates are per chip; ICI rates are per link and direction. If public sources disagree on the ICI
// rate, both are kept by name (`book`, the default, and `vendor`).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/quantity.h"
#include "topology/lattice/lattice.h"
#include "topology/lattice/shape.h"

namespace podsim::topology {

/// A value and the public document that it was taken from.
template <class T>
struct Sourced {
    T value{};
    std::string source;
};

/// The shapes that a generation offers, and the axes that wrap. An axis of length 1 has no links
/// and counts as not wrapped; axes beyond the torus dimensions have length 1.
enum class Wraparound {
    /// Lengths are powers of two up to the pod's. All axes wrap in the full pod, none otherwise
    /// (v2, v3).
    full_pod,
    /// Whole 4x4x4 cubes, every length a multiple of 4 and no more chips than the pod: all axes
    /// wrap. Or a box inside one cube, lengths 1, 2, 4 but not all 4: none wraps (v4p, v5p, tpu7x).
    /// The vendor rents 2x2x1, 2x2x2, 2x2x4 and 2x4x4 of these boxes; the others fit into a cube
    /// as well.
    cubes_of_4,
    /// Lengths are powers of two up to 16. An axis wraps if its length is 16 (v5e, v6e). The vendor
    /// rents 1x1, 2x2, 2x4, 4x4, 4x8, 8x8, 8x16 and 16x16.
    length_of_16,
    /// Any lengths; every axis longer than 1 wraps (user-defined chips).
    every_axis,
    /// Any lengths; no axis wraps (user-defined chips).
    never,
};

enum class IciRates { book, vendor };

/// A factor of the profile `measured` (efficiency.h), of one chip or of all.
struct MeasuredFactor {
    std::string name;
    double value = 0;
    std::string source;
};

/// The order in which JAX takes the chips of a small slice: numbers of chips, counted along x, then
/// y, then z.
struct JaxOrder {
    Point shape{};
    std::vector<int> numbers;
    std::string source;
};

struct ChipSpec {
    std::string name;
    std::vector<std::string> aliases{};
    /// Kinds of published steps on the chip, such as `dense bf16` and `experts quantised`.
    std::vector<std::string> published{};
    Sourced<sim::FlopsPerSecond> bf16_flops;
    Sourced<sim::FlopsPerSecond> int8_ops;   ///< 0: the chip has no int8 matmuls
    Sourced<sim::FlopsPerSecond> fp8_flops;  ///< 0: the chip has no fp8 matmuls
    /// TensorCores; the MXUs are divided among them, and each has a VPU and its VMEM.
    Sourced<int> cores;
    /// Number of JAX devices: one per core, or one for the chip if its cores work as one.
    Sourced<int> devices;
    /// Rate of elementwise operations of all cores: ALUs x clock.
    Sourced<sim::FlopsPerSecond> vpu_flops;
    Sourced<sim::Bytes> vmem;  ///< of all cores
    Sourced<sim::Bytes> hbm_capacity;
    /// Bytes of the capacity that the runtime keeps; programs never get them.
    Sourced<sim::Bytes> hbm_reserved;
    Sourced<sim::BytesPerSecond> hbm_bandwidth;
    /// Rows and columns of one systolic array; matrix dimensions are padded to it.
    Sourced<int> mxu_dimension;
    Sourced<int> torus_dimensions;
    /// Per chip: one in each direction along each axis.
    Sourced<int> ici_links;
    Sourced<sim::BytesPerSecond> ici_one_way_book;    ///< per link and direction
    Sourced<sim::BytesPerSecond> ici_both_ways_book;  ///< per link, both directions together
    Sourced<sim::BytesPerSecond> ici_one_way_vendor;  ///< per link and direction
    Sourced<sim::Seconds> ici_latency;                ///< per hop
    Sourced<sim::BytesPerSecond> pcie_one_way;        ///< chip to host, per direction
    Sourced<sim::Seconds> pcie_latency;
    Sourced<sim::BytesPerSecond> dcn_per_host;  ///< host to fabric, per direction
    Sourced<sim::Seconds> dcn_latency;
    Sourced<Point> host_shape;  ///< chips of one host, as a box
    Sourced<Point> pod_shape;   ///< the largest slice
    Sourced<Wraparound> wraparound;
    Sourced<bool> twistable;
    /// Time to start one collective; 0 in profile `ideal`.
    Sourced<sim::Seconds> collective_launch;
    /// Clock of the cores by P-state (core_clocks.h); one value if the chip has no such states,
    /// none if no clock was published.
    Sourced<std::vector<double>> clock_ghz{};
    Sourced<int> usual_state{};
    /// A state, and its measured speed relative to the usual state.
    Sourced<std::pair<int, double>> measured_pace{{-1, 0}, {}};
    std::vector<JaxOrder> jax_order{};
    /// Factors of its own of the profile `measured`; empty if the chip was not measured.
    std::vector<MeasuredFactor> measured{};

    /// HBM that programs may fill.
    [[nodiscard]] sim::Bytes usable_hbm() const { return hbm_capacity.value - hbm_reserved.value; }
    [[nodiscard]] sim::BytesPerSecond ici_one_way(IciRates rates) const {
        return rates == IciRates::book ? ici_one_way_book.value : ici_one_way_vendor.value;
    }
};

/// Returns all generations, oldest first.
std::span<const ChipSpec> chip_catalogue();

/// Returns the chip of that name or alias (slice_names.h). Throws sim::InputError with the nearest
/// valid name.
const ChipSpec& find_chip(std::string_view name);

/// Returns the slice of that shape on that chip, wrapped by the generation's rule. Twisted slices
/// are k x k x 2k (once round x or y adds k to z) and k x 2k x 2k (once round x adds k to y and to
/// z), k a multiple of 4, with the short axes first (TPU v4 paper, 2023). Throws sim::InputError if
/// the generation does not offer the shape, or not twisted; the message names the offered shapes
/// that are nearest by lengths and by number of chips.
Lattice make_slice(const ChipSpec& chip, const Point& shape, bool twisted);

}  // namespace podsim::topology
