// The builder of the schedules of rings.h. It is private to this folder: rings.cpp emits the
// transfers, ring_ways.cpp finds their links, ring_edges.cpp connects them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/paths/roles.h"

namespace podsim::collectives {

/// The factor of a phase between slices.
inline constexpr int kBetweenSlices = -1;

struct Phase {
    int factor = 0;  ///< index within the group, or kBetweenSlices
    int length = 1;  ///< members along it; on a twisted torus this depends on the order
    Motion motion{};
    /// The bytes that one member holds of a chunk.
    struct Block {
        sim::Bytes bytes;
        std::uint32_t pieces = 1;  ///< messages that a whole block is cut into
    };
    std::vector<Block> blocks;  ///< [chunk]
};

/// The messages of one step in one direction: pieces [first_piece, first_piece + count) of the
/// block.
struct Slot {
    std::uint32_t first_transfer = 0;
    std::uint32_t first_piece = 0;
    std::uint32_t count = 0;
};

/// The motions of an operation. With both, it reduces first.
struct Motions {
    bool reduces = false;
    bool gathers = false;
};

struct Edge {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
};

class ScheduleBuilder {
public:
    /// `call` outlives the builder; its algorithm is resolved.
    ScheduleBuilder(const CollectiveCall& call, Motions motions, const ScheduleOptions& options,
                    ShiftTable& shifts);
    CollectiveSchedule build();

private:
    void plan_chunks(const CollectiveCall& call, const ScheduleOptions& options);
    void plan_phases(sim::Bytes v, const ScheduleOptions& options);
    /// Returns the blocks of a part that starts with `held` for each unit of a chunk.
    [[nodiscard]] std::vector<Phase::Block> blocks(sim::Bytes held, sim::Bytes message_cap);
    /// Throws if the schedule is too large, and reserves its memory otherwise.
    void check_size();
    void emit_role(std::uint32_t role);
    void emit_phase(std::uint32_t role, std::size_t part, int chunk, std::size_t phase);
    /// The route of the messages of a slot: hops of the schedule, and the destination.
    struct Way {
        std::uint32_t first_hop = 0;
        std::uint32_t hop_count = 0;
        std::uint32_t destination_shift = 0;
        std::uint32_t destination_role = 0;
    };
    Way find_way(std::uint32_t role, const Phase& spec, int direction, int distance);
    /// Copies a way, with hops of its own.
    Way way_again(const Way& way);
    /// Data that the slots of a phase in one direction have in common.
    struct Row {
        std::uint32_t role = 0;
        std::size_t part = 0;
        int chunk = 0;
        std::size_t phase = 0;
        int direction = 1;
        const Phase* spec = nullptr;
        std::uint32_t turn = 0;
        bool halves = false;    ///< a block half-way round goes in halves
        Slot* slots = nullptr;  ///< [distance]
    };
    void emit_slot(const Row& row, int distance, const Way& way);
    /// Returns the rank of the slot's first message, among all messages of a source.
    [[nodiscard]] std::uint64_t rank_of_slot(const Row& row, int distance) const;
    void emit_payload(const Payload& payload) {
        if (payloads_) {
            result_.payloads.push_back(payload);
        }
    }
    /// Adds the hops of a message from this role to the next member, or `distance` slices on;
    /// returns their number.
    std::uint32_t add_hops(std::uint32_t role, const Phase& spec, int direction, int distance);
    /// Adds the hop over one link of a place, or a detour round the link if it is dead.
    void add_hop_round(std::uint32_t role, const topology::Point& at, int axis, int direction);
    /// Returns the displacement to the destination of a message; the next function returns its
    /// role.
    [[nodiscard]] std::uint32_t destination(const Phase& spec, int direction, int distance);
    [[nodiscard]] std::uint32_t destination_role(std::uint32_t role, const Phase& spec,
                                                 int direction, int distance) const;
    void connect_role(std::uint32_t role);
    void connect_phase(std::uint32_t role, std::size_t part, int chunk, std::size_t phase);
    void connect_between_slices(std::uint32_t role, std::size_t part, int chunk, std::size_t phase);
    void join_phases(std::uint32_t role, std::size_t part, int chunk, std::size_t phase);
    void link_edges();
    void assign_roles_to_places();

    [[nodiscard]] const topology::AxisFactor& factor(int index) const {
        return group_[static_cast<std::size_t>(index)];
    }
    [[nodiscard]] int most_distance(std::uint32_t role, const Phase& phase, int direction) const;
    [[nodiscard]] std::span<const int> directions(std::uint32_t role, const Phase& phase) const {
        static constexpr std::array kBoth{1, -1};
        const bool forward_only =
            phase.factor == kBetweenSlices || (one_way_ && roles_.ring(role, phase.factor));
        return std::span(kBoth).first(forward_only ? 1 : 2);
    }
    [[nodiscard]] std::size_t slot_index(std::size_t part, int chunk, std::size_t phase,
                                         int direction, int distance) const {
        const std::size_t block =
            (part * static_cast<std::size_t>(result_.chunks) + static_cast<std::size_t>(chunk)) *
                phases_[0].size() +
            phase;
        return (block * 2 + (direction < 0 ? 1 : 0)) * longest_ +
               static_cast<std::size_t>(distance);
    }
    /// Returns the slots of all distances: [distance].
    [[nodiscard]] const Slot* slots(std::uint32_t role, std::size_t part, int chunk,
                                    std::size_t phase, int direction) const {
        return &slots_[role][slot_index(part, chunk, phase, direction, 0)];
    }
    /// Returns the priority at a link (lower first): the order of collective_schedule.h.
    [[nodiscard]] std::uint32_t turn(std::size_t part, int chunk, std::size_t phase) const;
    [[nodiscard]] std::size_t gate_index(std::size_t part, int chunk, std::size_t phase) const {
        return (part * static_cast<std::size_t>(result_.chunks) + static_cast<std::size_t>(chunk)) *
                   phases_[0].size() +
               phase;
    }

    const Group& group_;
    topology::SliceFactor across_;
    Motions motions_;
    bool flat_ = false;
    bool one_way_ = false;
    bool one_shot_ = false;
    bool payloads_ = true;
    std::vector<int> chunk_sizes_{1};  ///< in units that add up to chunk_units_
    int chunk_units_ = 1;
    int chunks_in_flight_ = 0;  ///< 0: phases go first in their order
    ShiftTable& shifts_;
    topology::DeadLinks dead_links_;
    Roles roles_;
    std::size_t longest_ = 1;                        ///< distances run below this
    std::vector<std::vector<Phase>> phases_;         ///< [part]
    std::vector<std::vector<Slot>> slots_;           ///< [role]
    std::vector<std::vector<std::uint32_t>> gates_;  ///< [role]: the join after each phase
    std::vector<Edge> edges_;
    std::vector<std::uint32_t> arrivals_;  ///< [role]
    std::uint64_t most_pieces_ = 1;
    CollectiveSchedule result_;
};

}  // namespace podsim::collectives
