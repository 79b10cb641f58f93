// What the operations of a program must move at the least, as one of its chips sees it.
#pragma once

#include "collectives/vocabulary/collective_call.h"
#include "sim/base/quantity.h"
#include "topology/mesh/mesh.h"
#include "workloads/analytic/machine_rates.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// An AllToAll of unequal members as the chip of one rank sees it: it takes its load of every other, and gives theirs.
collectives::LeastTraffic exchanged(const Collective& exchange, std::size_t rank);
/// A step in which only some members send: the least that every chip must receive or send is nothing.
collectives::LeastTraffic shifted(const Collective& step, double members);
/// A permute: every member sends its share and receives one, if the shift moves anything.
collectives::LeastTraffic permuted(const Collective& permute, int members);
/// A handover as its chip sees it.
collectives::LeastTraffic handed(const Handover& handover);
/// From its sender to its receiver.
topology::DeviceMesh::Displacement way_of(const Handover& handover, std::size_t program,
                                          const StepPrograms& programs,
                                          const topology::DeviceMesh& mesh);

/// What messages read and write of the HBM of a program's chips.
///
/// `each`: every chip reads what it must send and writes what it must receive (collectives::least_traffic).
/// `mean`: over all chips that the program's collectives are between, what any algorithm must move
/// (collectives::least_memory; between slices among the members in all of them). Where members of a stage do unequal
/// work, some of these chips have another program: the mean over the members' programs is one over chips.
///   handover          b read or written           both alike
///   host transfer     b read or written           both alike
///   unequal AllToAll  sent + received             both alike
///   a ring step in    each: nothing; mean: s b / n read and as much written by its s senders of n members, and with sums
///   which some send   as much again, since what has landed is read again to be added. Such a step is an operation alone.
///   other ring steps  the first counts V, as their operation in one piece
/// Over links of infinite rate nothing is read or written: the simulation holds them for no time.
struct MemoryTraffic {
    sim::Bytes each;
    sim::Bytes mean;
};
MemoryTraffic memory_traffic(const StepPrograms& programs, std::size_t program,
                             const topology::DeviceMesh& mesh, const MachineRates& rates);

}  // namespace podsim::workloads
