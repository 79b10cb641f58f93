// Lower bounds of the bytes that the operations of a program move, as one of its chips sees them.
#pragma once

#include "collectives/vocabulary/collective_call.h"
#include "sim/base/quantity.h"
#include "topology/mesh/mesh.h"
#include "workloads/bounds/machine_rates.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// Returns an AllToAll of unequal members as the chip of one rank sees it: it takes its load from
/// every other member, and gives theirs.
collectives::LeastTraffic exchanged(const Collective& exchange, std::size_t rank);
/// Returns a step in which only a subset of the members sends. The lower bound of what every chip
/// receives or sends is zero.
collectives::LeastTraffic shifted(const Collective& step, double members);
/// Returns a permute: every member sends its shard and receives one, if the shift moves anything.
collectives::LeastTraffic permuted(const Collective& permute, int members);
/// Returns a handover as its chip sees it.
collectives::LeastTraffic handed(const Handover& handover);
/// Returns the displacement from the handover's sender to its receiver.
topology::DeviceMesh::Displacement way_of(const Handover& handover, std::size_t program,
                                          const StepPrograms& programs,
                                          const topology::DeviceMesh& mesh);

/// HBM bytes that messages read and write on a program's chips.
///
/// `each`: every chip reads the bytes that it must send and writes those that it must receive
/// (collectives::least_traffic).
///
/// `mean`: the bytes that any algorithm must move, averaged over all chips that the program's
/// collectives are between (collectives::least_memory; between slices among the members in all of
/// them). If members of a stage do unequal work, these chips have different programs, and the mean
/// over the members' programs is the mean over chips.
///   handover          b read or written           both alike
///   host transfer     b read or written           both alike
///   unequal AllToAll  sent + received             both alike
///   a ring step in    each: nothing; mean: s b / n read and as much written by its s senders of n
///   which some send   members, and with sums as much again, since landed data is read again to be
///                     added. This step is an operation alone.
///   other ring steps  the first counts V, like their operation as a whole
/// Over links of infinite rate nothing is read or written, because the simulation
/// holds them for no time.
struct MemoryTraffic {
    sim::Bytes each;
    sim::Bytes mean;
};
MemoryTraffic memory_traffic(const StepPrograms& programs, std::size_t program,
                             const topology::DeviceMesh& mesh, const MachineRates& rates);

}  // namespace podsim::workloads
