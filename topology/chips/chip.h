// The chip catalogue: one record a TPU generation, each field with its source.
//
// Rates are per chip; ICI rates are per link and direction. Where public sources disagree on the
// ICI rate, both are kept under a name (`book`, the default, and `vendor`).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.h"
#include "topology/lattice/lattice.h"
#include "topology/lattice/shape.h"

namespace podsim::topology {

/// A value and the public document it was taken from.
template <class T>
struct Sourced {
    T value{};
    std::string source;
};

/// Which shapes a generation offers, and which of their axes wrap. (An axis of length 1 has no
/// links and counts as not wrapped; axes beyond the torus dimensions have length 1.)
enum class Wraparound {
    /// Lengths: powers of two up to the pod's. All axes wrap in the full pod, none otherwise (v2, v3).
    full_pod,
    /// Whole 4x4x4 cubes, every length a multiple of 4 and no more chips than the pod: all axes
    /// wrap.
    /// Or a box inside one cube, lengths 1, 2, 4 but not all 4: none wraps (v4p, v5p, tpu7x). The vendor
    /// rents 2x2x1, 2x2x2, 2x2x4 and 2x4x4 of these; the others are parts of a cube just as well.
    cubes_of_4,
    /// Lengths: powers of two up to 16. An axis wraps when its length is 16 (v5e, v6e). The vendor
    /// rents 1x1, 2x2, 2x4, 4x4, 4x8, 8x8, 8x16 and 16x16.
    length_of_16,
    every_axis,  ///< any lengths; every axis longer than 1 wraps (user-defined chips)
    never,       ///< any lengths; no axis wraps (user-defined chips)
};

enum class IciRates { book, vendor };

struct ChipSpec {
    std::string name;
    Sourced<sim::FlopsPerSecond> bf16_flops;
    Sourced<sim::FlopsPerSecond> int8_ops;   ///< 0: the chip has no int8 matmuls
    Sourced<sim::FlopsPerSecond> fp8_flops;  ///< 0: the chip has no fp8 matmuls
    Sourced<int> cores;    ///< TensorCores; each has a share of the MXUs, a VPU and its VMEM
    Sourced<int> devices;  ///< that JAX sees in a chip: its cores, or one where they work as one
    Sourced<sim::FlopsPerSecond> vpu_flops;  ///< elementwise operations of all cores: ALUs x clock
    Sourced<sim::Bytes> vmem;                ///< of all cores
    Sourced<sim::Bytes> hbm_capacity;
    Sourced<sim::Bytes> hbm_reserved;  ///< of it: what the runtime keeps, and programs never get
    Sourced<sim::BytesPerSecond> hbm_bandwidth;
    Sourced<int>
        mxu_dimension;  ///< rows and columns of one systolic array; matrix dimensions pad to it
    Sourced<int> torus_dimensions;
    Sourced<int> ici_links;                           ///< per chip: one each way along each axis
    Sourced<sim::BytesPerSecond> ici_one_way_book;    ///< per link and direction
    Sourced<sim::BytesPerSecond> ici_both_ways_book;  ///< per link, both directions together
    Sourced<sim::BytesPerSecond> ici_one_way_vendor;  ///< per link and direction
    Sourced<sim::Seconds> ici_latency;                ///< per hop
    Sourced<sim::BytesPerSecond> pcie_one_way;        ///< chip to host, each way
    Sourced<sim::Seconds> pcie_latency;
    Sourced<sim::BytesPerSecond> dcn_per_host;  ///< host to fabric, each way
    Sourced<sim::Seconds> dcn_latency;
    Sourced<Point> host_shape;  ///< chips of one host, as a box
    Sourced<Point> pod_shape;   ///< the largest slice
    Sourced<Wraparound> wraparound;
    Sourced<bool> twistable;
    Sourced<sim::Seconds>
        collective_launch;  ///< cost of starting one collective; 0 in profile `ideal`

    /// What of the HBM programs may fill.
    [[nodiscard]] sim::Bytes usable_hbm() const { return hbm_capacity.value - hbm_reserved.value; }
    [[nodiscard]] sim::BytesPerSecond ici_one_way(IciRates rates) const {
        return rates == IciRates::book ? ici_one_way_book.value : ici_one_way_vendor.value;
    }
};

/// All generations, oldest first.
std::span<const ChipSpec> chip_catalogue();

/// The chip of that name, or of another that people use (slice_names.h). Throws sim::InputError with the nearest valid name.
const ChipSpec& find_chip(std::string_view name);

/// The slice of that shape on that chip, wrapped as the generation's rule says. Twisted slices are
/// k x k x 2k (once round x or y adds k to z) and k x 2k x 2k (once round x adds k to y and to z),
/// k a multiple of 4, with the short axes first (TPU v4 paper, 2023). Throws sim::InputError when
/// the generation does not offer the shape, or not twisted; the message names the offered shapes
/// that are nearest by lengths and by number of chips.
Lattice make_slice(const ChipSpec& chip, const Point& shape, bool twisted);

}  // namespace podsim::topology
