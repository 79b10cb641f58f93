// Common names of chips beside the catalogue's, and of slices by a number of cores or chips.
//
// `v5p-512` is a slice of 512 TensorCores, 256 chips. Names of v2, v3, v4, v5p and tpu7x count
// cores, two per chip; those of v5e (v5litepod) and v6e count chips, which have one. A name means
// the shape that Google Cloud gives without a topology, with short axes first, but 2x2x1. For 3-D
// generations it is the shape of whole 4x4x4 cubes (below 64 chips: of lengths 1, 2, 4) with the
// smallest sum of lengths. For 2-D generations it is the pair of powers of two that differ least.
// Other shapes of as many chips are written as shapes, `v5p-4x4x16` with the chip.
//
// Source: cloud.google.com/tpu/docs, pages v2 to tpu7x (configurations), and the table of xpk, the
// Cloud's launcher, as in AI-Hypercomputer/maxtext, src/maxtext/utils/accelerator_to_spec_map.py
// @e591f30. The rule gives every row of that table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "topology/lattice/lattice.h"

namespace podsim::topology {

/// Another name of a chip.
struct ChipAlias {
    std::string_view name;
    std::string_view chip;  ///< of the catalogue
};
std::span<const ChipAlias> chip_aliases();

/// The slice that a name stands for.
struct NamedSlice {
    std::string chip;  ///< of the catalogue
    Point shape{};
    int chips = 0;
    bool counts_cores = false;
};

/// True if the text has the form of a slice's name: a word and a number or shape, joined by `-`.
bool is_slice_name(std::string_view text);

/// Returns the slice of a name. Throws sim::InputError for an unknown chip, for `v5` (which is v5e
/// or v5p), and for a number that the generation does not offer, with the nearest one that it does.
NamedSlice named_slice(std::string_view name);

/// Returns a description such as `v5p-512: 512 cores, 256 chips, ...` with the default shape.
std::string describe_named(std::string_view name);

}  // namespace podsim::topology
