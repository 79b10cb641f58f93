// Mirror images: places that do the same with their ports exchanged, of which one is simulated.
//
// A mirror m permutes places and ports. It is a symmetry of a workload when, of every place p, port k and
// operation, the image does what the original does:
//   the link (m p, m k) has the rate and the latency of (p, k), m p the slowdown and the task graph of p;
//   the role of m p is one image of the role of p, and each transfer t of that role has an image m t: of the same
//   bytes, needs, phase and memory passes, over the images of its links to the image of its destination, with the
//   images of its successors;
//   at every link, the images of two messages go in the same order as these do: of those that cross it in one
//   phase, rank(m t) grows with rank(t).
// The state of a run is then its own image at every instant: at time 0 nothing has happened; whatever happens next
// at a server (a link, a place's memory or serial resource) is decided by what waits there, with the order above,
// and happens at the server's image likewise. That takes that no link is its own image, or at least that it never has
// a message and its image to serve at once. Shared memory deals by demands and ends alone, which are equal, and has no
// order of its own; a place's work is its own image.
//
// A mirror that moves places moves all of them (m p != p), and so every link. One place of each orbit is simulated: a
// hop or arrival at another place is one at its representative, over the image of the port, for the image of the
// successor.
//
// A mirror that moves no place exchanges ports: those of an axis that has folded to one place, or of two such axes. On a
// link that it does not exchange a transfer must be its own image: of one that is not, both would have the lower of
// their ranks there, and the order would not be theirs. The state is then its own image under each such
// mirror, and so under all that follow from them one after the other, in whatever order: what they make of one
// transfer does the same on as many links of its place. One of them is simulated and stands for all
// (Transfer::copies): it counts so often as an event and where it asks for memory, arrives once, and what needs several
// of them needs it once.
//
// Times of places and links are those of their representatives, and events are exactly in proportion.
//
// Mirrors must be involutions, and those that move places must commute with all; no product of them may leave a place
// where it is.
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

/// Which simulated place stands for each, and how it is turned: which of its ports stand for those of the place.
struct Representatives {
    std::vector<std::uint32_t> place;  ///< [place]: number among those that are simulated
    std::vector<std::vector<std::uint32_t>> port;  ///< [place][port]: of its representative
    std::size_t simulated = 0;
};

struct MirrorFold {
    Workload workload;
    Representatives representatives;
};

/// The workload on a representative of each orbit of those of the mirrors that are symmetries of it; nothing where
/// none is. Links that places share (hosts') are not looked into: with them nothing folds. `known`: of these mirrors, what was
/// found out of schedules before. Tasks are not looked into: places that stand for each other have one graph.
std::optional<MirrorFold> fold_by_mirrors(const Workload& workload, std::span<const Mirror> mirrors,
                                          KnownImages* known = nullptr);

}  // namespace podsim::sim
