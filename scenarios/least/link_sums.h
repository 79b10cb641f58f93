// What the collectives of a program must put on any one link, by what their algorithms do. What no algorithm does with less is in roofline_lower.
#pragma once

#include "scenarios/least/known_bounds.h"
#include "scenarios/least/operation_kinds.h"
#include "scenarios/least/placed_mesh.h"
#include "sim/base/quantity.h"
#include "topology/lattice/lattice.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// The longest that the AllGathers and ReduceScatters of a program and their single steps keep any one link busy, with what their algorithms
/// put there (algorithm_links.h; not of twisted tori): all of it has to pass in the course of the step, whenever that is. `tensor`: of those that may go in
/// steps, where nothing says in which, nothing is said.
sim::Seconds busiest_link_time(const workloads::StepProgram& program,
                               const topology::Lattice& slice, const PlacedMesh& mesh,
                               sim::BytesPerSecond link, TensorCollectives tensor,
                               KnownBounds::OfMachine& known);

}  // namespace podsim::scenarios
