// Shortest routes between chips, with ties split evenly.
//
// Two chips of a slice are joined by the displacements between them that are congruent modulo the
// lattice. Displacements of least length are minimal; half-way round a ring there are two, on a
// twisted torus up to six. A minimal displacement along several axes can be walked in every order
// of the axes. Traffic is split evenly over the minimal displacements, and each over its orders;
// both depend on the displacement alone, never on the chip. On a torus this loads the two
// directions of an axis equally; on the twisted tori k x k x 2k and k x 2k x 2k, all axes equally.
#pragma once

#include <vector>

#include "topology/lattice/lattice.h"

namespace podsim::collectives {

/// A straight run of links.
struct Leg {
    int axis = 0;
    int direction = 1;
    int links = 0;
};

struct Route {
    std::vector<Leg> legs;
    /// Fraction of the bytes between the two chips; the fractions of a pair add up to 1.
    double share = 1;

    [[nodiscard]] int links() const;
};

/// Returns the displacements of least length that are congruent to `displacement`; along unwrapped
/// axes only the displacement itself.
std::vector<topology::Point> minimal_displacements(const topology::Lattice& slice,
                                                   const topology::Point& displacement);

/// Returns every minimal route, with its share; one route without legs if the chips are the same.
std::vector<Route> minimal_routes(const topology::Lattice& slice,
                                  const topology::Point& displacement);

/// Returns walks of exactly this displacement, in every order of its axes, with equal shares.
std::vector<Route> ordered_routes(const topology::Point& displacement);

}  // namespace podsim::collectives
