// Mirror images: places that do the same with their ports exchanged, of which one is simulated.
//
// A mirror m permutes places and ports. It is a symmetry of a workload if for every place p, port k
// and operation the image does what the original does:
//   the link (m p, m k) has the rate and the latency of (p, k);
//   m p has the slowdown and the task graph of p;
//   the role of m p is one image of the role of p, and each transfer t of that role has an image
//   m t of the same bytes, needs, phase and memory passes, over the images of its links to the
//   image of its destination, with the images of its successors;
//   at every link, the images of two messages go in the same order as the messages: among those
//   that cross it in one phase, rank(m t) grows with rank(t).
// The state of a run is then its own image at every instant. At time 0 nothing has happened. The
// next event at a server (a link, a place's memory or serial resource) depends on the messages that
// wait there, with the order above, and happens at the server's image likewise. This requires that
// no link is its own image, or at least that it never serves a message and its image at once.
// Shared memory depends on demands and ends alone, which are equal, and has no order of its own; a
// place's work is its own image.
//
// A mirror that moves places moves all of them (m p != p), and so every link. One place of each
// orbit is simulated. A hop or arrival at another place becomes one at its representative, over the
// image of the port, for the image of the successor.
//
// A mirror that moves no place exchanges ports: those of an axis that has folded to one place, or
// of two such axes. On a link that it does not exchange, a transfer must be its own image.
// Otherwise both images would have the lower of their ranks there, and their order would differ
// from the original. The state is then its own image under each such mirror, and under all their
// products in any order. All images of one transfer do the same on as many links of its place. One
// of them is simulated and stands for all (Transfer::copies). Each copy counts as an event and in
// the demand on memory, but the transfer arrives once, and a successor of several copies needs it
// once.
//
// Times of places and links are those of their representatives; the number of events is exactly
// proportional.
//
// Mirrors must be involutions, and those that move places must commute with all; no product of them
// may leave a place where it is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/workload/task_graph.h"

namespace podsim::sim {

class KnownImages;

struct Mirror {
    std::vector<std::uint32_t> place;  ///< [place]: its image
    std::vector<std::uint32_t> port;   ///< [port]: its image
};

/// The simulated place that stands for each place, and the ports of it that stand for the place's.
struct Representatives {
    std::vector<std::uint32_t> place;              ///< [place]: number of the simulated place
    std::vector<std::vector<std::uint32_t>> port;  ///< [place][port]: port of its representative
    std::size_t simulated = 0;
};

struct MirrorFold {
    Workload workload;
    Representatives representatives;
};

/// Returns the workload on one representative of each orbit, under those mirrors that are
/// symmetries of it; nullopt if none is. A workload with links that places share (hosts') is never
/// folded. `known` caches facts about schedules, for these mirrors. Tasks are not compared: places
/// that stand for each other have one graph.
std::optional<MirrorFold> fold_by_mirrors(const Workload& workload, std::span<const Mirror> mirrors,
                                          KnownImages* known = nullptr);

}  // namespace podsim::sim
