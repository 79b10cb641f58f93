// Support of the tests of slices: messages of errors, slices by shape, seeded random lattices.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "sim/base/error.h"
#include "topology/chips/chip.h"
#include "topology/lattice/shape.h"

namespace podsim::topology {

/// Returns the full message of the InputError that `action` throws.
template <class Action>
std::string error_of(Action&& action) {
    try {
        action();
    } catch (const sim::InputError& error) {
        return error.what();
    }
    return "(no error)";
}

/// Returns a plain lattice; bit a of `wrapped` wraps axis a.
inline Lattice box(const Point& lengths, unsigned wrapped = 0) {
    Lattice slice;
    slice.lengths = lengths;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        slice.wrapped[axis] = (wrapped >> axis & 1U) != 0;
    }
    return slice;
}
inline Lattice box(std::string_view shape, unsigned wrapped = 0) {
    return box(parse_shape(std::string(shape)), wrapped);
}

inline Lattice offered_twisted(const Point& shape) {
    return make_slice(find_chip("v5p"), shape, true);
}

/// Numbers are equal on every machine: no library distributions are used.
class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    std::uint64_t bits() { return engine_(); }
    int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
    int between(int low, int high) { return low + below(high - low + 1); }
    bool coin() { return below(2) == 1; }
    template <class Container>
    auto& pick(Container&& items) {
        return items[static_cast<std::size_t>(below(static_cast<int>(items.size())))];
    }

private:
    std::mt19937_64 engine_;
};

/// Returns a plain lattice with lengths up to `longest`, each axis wrapped or not.
inline Lattice random_lattice(Random& random, int longest) {
    Lattice lattice;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        lattice.lengths[axis] = random.between(1, longest);
        lattice.wrapped[axis] = random.coin();
    }
    return lattice;
}

}  // namespace podsim::topology
