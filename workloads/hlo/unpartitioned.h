// Refuses modules that XLA's partitioner has not processed: one program for all devices, on whole
// arrays, which is the program of no single device.
//
// If there is more than one device, these mark an unpartitioned module:
//   custom calls   Sharding, SPMDFullToShardShape, SPMDShardToFullShape,
//                  CustomSPMDPartitioning, ShardBarrierFrom and -To, _SPMDInternalOp_...,
//                  xla.sdy.... (Shardy's, between JAX and its pass)
//   attributes     xla.sdy.... or mhlo.sharding among frontend_attributes, of the module or of an
//                  instruction
//   sharding=      over several devices, or a domain of these, if nothing in the module belongs to
//                  a device's program: no collective, partition-id, schedule or tiled layout, and
//                  no computation named ..._spmd (the partitioner's names)
// The partitioner leaves shardings on parameters of the entry, on infeed, outfeed, send and recv
// (with xla_keep_shardings_after_spmd on all), and compilers copy them. Beside a collective they
// therefore mark nothing. The devices are those of the header, of groups, of shardings and of
// meshes. A call that changes a shape between whole array and shard also shows that there are
// several. With one device, whole arrays are the device's.
// Sources: openxla/xla @183fa00 (22 August 2026): xla/service/spmd/shardy/constants.h and
// shardy_xla_pass.cc, spmd_partitioner.cc (ClearShardingAttributes; the names in _spmd),
// custom_call_handler.cc, shard_barrier_partitioner.h, sharding_remover.cc; JAX's
// custom_partitioning.
#pragma once

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

/// Throws sim::InputError at the first mark of an unpartitioned module.
void refuse_unpartitioned(const Module& module);

}  // namespace podsim::workloads::hlo
