// The two bandwidths by which collectives are compared, in the convention of nccl-tests.
//
// nccl-tests counts S bytes: the buffer of one rank, and for AllGather and ReduceScatter all n
// shards of it. In terms of V, the whole array (bounds.h):
//                   S      algorithm bandwidth   bus bandwidth
//   AllGather       V      V/t                   V/t x (n-1)/n
//   ReduceScatter   V      V/t                   V/t x (n-1)/n
//   AllReduce       V      V/t                   V/t x 2(n-1)/n
//   AllToAll        V/n    V/(n t)               V/(n t) x (n-1)/n
//   permute         V/n    V/(n t)               V/(n t)
//   send            V      V/t                   V/t
//   broadcast       V      V/t                   V/t
//   gather, scatter V      V/t                   V/t x (n-1)/n
// AllToAll and permute (its sendrecv) differ because their V lies spread over the members: each
// sends and receives V/n, as a rank of nccl-tests' alltoall does its whole buffer. Bus bandwidth is
// the rate at which every member receives bytes on a ring. On links of rate r a member with k links
// has at most k r, AllToAll less.
#pragma once

#include "collectives/vocabulary/operation.h"
#include "sim/base/quantity.h"

namespace podsim::collectives {

struct Bandwidth {
    sim::BytesPerSecond algorithm;
    sim::BytesPerSecond bus;
};

/// Returns the bandwidths of an array of `v` bytes over `members` in `time`, which is above zero.
Bandwidth bandwidth(Operation operation, int members, sim::Bytes v, sim::Seconds time);

}  // namespace podsim::collectives
