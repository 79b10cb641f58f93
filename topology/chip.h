// The chip catalogue: one record a TPU generation, each field with its source.
//
// Rates are per chip; ICI rates are per link and direction. Where public sources disagree on the ICI
// rate, both are kept under a name (`book`, the default, and `vendor`).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/quantity.h"
#include "topology/lattice.h"

namespace podsim::topology {

/// A value and the public document it was taken from.
template <class T>
struct Sourced {
    T value{};
    std::string source;
};

enum class Wraparound {
    full_pod,      ///< an axis wraps only in the full pod (v3)
    cubes_of_4,    ///< all axes wrap when every length is a multiple of 4, else none (v4p, v5p)
    length_of_16,  ///< an axis wraps when its length is 16 (v5e, v6e)
    every_axis,    ///< every axis wraps (user-defined chips)
    never,         ///< no axis wraps (user-defined chips)
};

enum class IciRates { book, vendor };

struct ChipSpec {
    std::string name;
    Sourced<sim::FlopsPerSecond> bf16_flops;
    Sourced<sim::FlopsPerSecond> int8_ops;
    Sourced<sim::Bytes> hbm_capacity;
    Sourced<sim::BytesPerSecond> hbm_bandwidth;
    Sourced<int> mxu_dimension;  ///< rows and columns of one systolic array; matrix dimensions pad to it
    Sourced<int> torus_dimensions;
    Sourced<sim::BytesPerSecond> ici_one_way_book;    ///< per link and direction
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
    Sourced<sim::Seconds> collective_launch;  ///< cost of starting one collective; 0 in profile `ideal`

    [[nodiscard]] sim::BytesPerSecond ici_one_way(IciRates rates) const {
        return rates == IciRates::book ? ici_one_way_book.value : ici_one_way_vendor.value;
    }
};

/// All generations, oldest first.
std::span<const ChipSpec> chip_catalogue();

/// The chip of that name. Throws sim::InputError with the nearest valid name.
const ChipSpec& find_chip(std::string_view name);

/// Reads `16x20x28` or `8x4` (missing axes have length 1). Throws sim::InputError.
Point parse_shape(std::string_view text);
std::string to_string(const Point& shape, int dimensions = kAxes);

/// The slice of that shape on that chip, wrapped as the generation's rule says.
/// Throws sim::InputError when the generation does not offer the shape, or not twisted.
Lattice make_slice(const ChipSpec& chip, const Point& shape, bool twisted);

}  // namespace podsim::topology
