// Modules that XLA's partitioner has not seen: one program for all devices, with whole arrays, which is no device's.
//
// These mark one, where there is more than one device:
//   custom calls   Sharding, SPMDFullToShardShape, SPMDShardToFullShape, CustomSPMDPartitioning, ShardBarrierFrom and -To,
//                  _SPMDInternalOp_..., xla.sdy.... (Shardy's, between JAX and its pass)
//   attributes     xla.sdy.... or mhlo.sharding among frontend_attributes, of the module or of an instruction
//   sharding=      over several devices, or a domain of such, where the module has nothing of a device's program: no collective,
//                  partition-id, schedule or tiled layout, and no computation named ..._spmd, as the partitioner names what it writes
// The partitioner leaves shardings on parameters of the entry, on infeed, outfeed, send and recv (and on all with
// xla_keep_shardings_after_spmd), and compilers copy them; they mark nothing beside a collective. Devices are those of the header, of groups,
// of shardings and of meshes, and several where a call changes a shape between whole and part; with one, whole arrays are the device's.
// Sources: openxla/xla @183fa00 (22 August 2026): xla/service/spmd/shardy/constants.h and shardy_xla_pass.cc, spmd_partitioner.cc
// (ClearShardingAttributes; the names in _spmd), custom_call_handler.cc, shard_barrier_partitioner.h, sharding_remover.cc; JAX's
// custom_partitioning.
#pragma once

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

/// Throws sim::InputError, at the first mark, for such a module.
void refuse_unpartitioned(const Module& module);

}  // namespace podsim::workloads::hlo
