#include "collectives/algorithms/rings.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "collectives/algorithms/messages.h"
#include "collectives/algorithms/ring_builder.h"
#include "collectives/vocabulary/memory_passes.h"

namespace podsim::collectives {

ScheduleBuilder::ScheduleBuilder(const CollectiveCall& call, Motions motions,
                                 const ScheduleOptions& options, ShiftTable& shifts)
    : group_(call.group()),
      across_(call.members.across),
      motions_(motions),
      flat_(call.algorithm == Algorithm::flat),
      one_way_(call.algorithm == Algorithm::one_way),
      one_shot_(call.algorithm == Algorithm::one_shot),
      payloads_(options.payloads),
      shifts_(shifts),
      dead_links_(options.dead_links),
      roles_(call.slice, call.group(), options.dead_links) {
    const bool between_slices = across_.length > 1;
    result_.parts = divide(call.slice, group_, flat_ ? Algorithm::automatic : call.algorithm);
    if (group_.empty() && between_slices) {
        result_.parts = {Part{}};
    }
    plan_chunks(call, options);
    plan_phases(call.bytes, options);
}

void ScheduleBuilder::plan_chunks(const CollectiveCall& call, const ScheduleOptions& options) {
    if (across_.length > 1 && !group_.empty()) {
        chunk_sizes_.assign(static_cast<std::size_t>(options.chunks_between_slices), 1);
        chunks_in_flight_ = options.chunks_in_flight;
    } else if (!one_shot_) {
        bool rings = true;
        for (std::size_t i = 0; i < group_.size(); ++i) {
            rings = rings && roles_.ring(static_cast<int>(i));
        }
        // In a reduction along lines in many orders the first chunks go before the others.
        const bool in_waves = motions_.reduces && !rings && result_.parts.size() > kFewOrders;
        chunks_in_flight_ = in_waves ? options.chunks_in_flight : 0;
        chunk_sizes_ = in_waves
                           ? std::vector<int>(static_cast<std::size_t>(options.chunks_in_waves), 1)
                           : chunk_sizes(call, result_.parts, rings, options);
    }
    result_.chunks = static_cast<int>(chunk_sizes_.size());
    chunk_units_ = std::accumulate(chunk_sizes_.begin(), chunk_sizes_.end(), 0);
}

std::vector<Phase::Block> ScheduleBuilder::blocks(sim::Bytes held, sim::Bytes message_cap) {
    std::vector<Phase::Block> list;
    for (const int size : chunk_sizes_) {
        const sim::Bytes bytes = held * size;
        const std::uint32_t pieces = message_count(bytes, message_cap);
        most_pieces_ = std::max<std::uint64_t>(most_pieces_, pieces);
        list.push_back({bytes, pieces});
    }
    return list;
}

void ScheduleBuilder::plan_phases(sim::Bytes v, const ScheduleOptions& options) {
    for (const Part& part : result_.parts) {
        std::vector<Phase> gather;
        int hops = 0;
        sim::Bytes held = v * (part.weight / (one_shot_ ? 1 : group_size(group_)) / across_.length /
                               chunk_units_);
        const auto between_slices = [&] {
            if (across_.length == 1) {
                return;
            }
            longest_ = std::max(longest_, static_cast<std::size_t>(across_.length));
            gather.push_back({kBetweenSlices, across_.length, Motion::gather,
                              blocks(held, options.message_cap)});
            held = held * across_.length;
            hops += shifts_.links_between_slices();
        };
        if (!flat_) {
            between_slices();
        }
        for (std::size_t i = 0; i < part.order.size(); ++i) {
            const int index = part.order[i];
            const int length = part.lengths[i];
            longest_ = std::max(longest_, static_cast<std::size_t>(length) + 1);
            gather.push_back({index, length, Motion::gather, blocks(held, options.message_cap)});
            held = held * (one_shot_ ? 1 : length);
            const int steps = roles_.ring(index) && !one_way_ ? length / 2 : length - 1;
            hops += steps * factor(index).stride;
        }
        if (flat_) {
            between_slices();
        }
        std::vector<Phase> phases;
        if (motions_.reduces && !one_shot_) {
            phases.assign(gather.rbegin(), gather.rend());
            for (Phase& phase : phases) {
                phase.motion = Motion::reduce;
            }
        }
        if (motions_.gathers) {
            phases.insert(phases.end(), gather.begin(), gather.end());
        }
        const bool twice = motions_.reduces && motions_.gathers && !one_shot_;
        result_.hops = std::max(result_.hops, twice ? 2 * hops : hops);
        phases_.push_back(std::move(phases));
    }
}

void ScheduleBuilder::check_size() {
    double transfers = 0;
    double hops = 0;
    for (const auto& phases : phases_) {
        for (const Phase& phase : phases) {
            for (const Phase::Block& block : phase.blocks) {
                transfers += 1.0 * phase.length * block.pieces;
            }
            const double slots = 1.0 * phase.length * result_.chunks;
            hops += slots * (phase.factor == kBetweenSlices ? shifts_.links_between_slices()
                                                            : factor(phase.factor).stride);
        }
    }
    if (transfers * roles_.count() > kMostMessages) {
        throw TooManyMessages();
    }
    const auto of_all_roles = [&](double count) {
        return static_cast<std::size_t>(count * roles_.count());
    };
    result_.schedule.transfers.reserve(of_all_roles(transfers));
    if (payloads_) {
        result_.payloads.reserve(of_all_roles(transfers));
    }
    result_.schedule.hops.reserve(of_all_roles(hops));
    edges_.reserve(of_all_roles(transfers));
}

/// Returns the largest distance for which a member of this role sends in this direction; 0: it
/// sends nothing. It sends for all distances from 1 on.
int ScheduleBuilder::most_distance(std::uint32_t role, const Phase& phase, int direction) const {
    const int length = phase.length;
    if (phase.factor == kBetweenSlices) {
        return length - 1;
    }
    if (roles_.ring(role, phase.factor)) {
        return one_way_ ? length - 1 : length / 2;
    }
    const int before = direction > 0 ? roles_.position(role, phase.factor)
                                     : length - 1 - roles_.position(role, phase.factor);
    const int ahead = length - 1 - before;
    if (ahead == 0) {
        return 0;
    }
    return phase.motion == Motion::gather ? before + 1 : ahead;
}

CollectiveSchedule ScheduleBuilder::build() {
    if (group_.empty() && across_.length == 1) {
        result_.schedule.roles.push_back({});
        result_.schedule.role_of_place.assign(static_cast<std::size_t>(shifts_.places().size()), 0);
        return std::move(result_);
    }
    check_size();
    arrivals_.assign(roles_.count(), 0);
    slots_.assign(roles_.count(), std::vector<Slot>(slot_index(phases_.size(), 0, 0, 1, 0)));
    gates_.assign(roles_.count(), std::vector<std::uint32_t>(gate_index(phases_.size(), 0, 0)));
    for (std::uint32_t role = 0; role < roles_.count(); ++role) {
        emit_role(role);
    }
    for (std::uint32_t role = 0; role < roles_.count(); ++role) {
        connect_role(role);
    }
    link_edges();
    assign_roles_to_places();
    return std::move(result_);
}

void ScheduleBuilder::emit_role(std::uint32_t role) {
    sim::Role entry;
    entry.first_transfer = static_cast<std::uint32_t>(result_.schedule.transfers.size());
    result_.schedule.roles.push_back(entry);
    for (std::size_t part = 0; part < phases_.size(); ++part) {
        for (std::size_t phase = 0; phase < phases_[part].size(); ++phase) {
            for (int chunk = 0; chunk < result_.chunks; ++chunk) {
                emit_phase(role, part, chunk, phase);
            }
        }
    }
    sim::Role& done = result_.schedule.roles.back();
    done.transfer_count =
        static_cast<std::uint32_t>(result_.schedule.transfers.size()) - done.first_transfer;
}

void ScheduleBuilder::emit_phase(std::uint32_t role, std::size_t part, int chunk,
                                 std::size_t phase) {
    const Phase& spec = phases_[part][phase];
    const std::uint32_t turn = this->turn(part, chunk, phase);
    for (const int direction : directions(role, spec)) {
        const int most = most_distance(role, spec, direction);
        const Row row{
            .role = role,
            .part = part,
            .chunk = chunk,
            .phase = phase,
            .direction = direction,
            .spec = &spec,
            .turn = turn,
            .halves = spec.factor != kBetweenSlices && roles_.ring(role, spec.factor) && !one_way_,
            .slots = &slots_[role][slot_index(part, chunk, phase, direction, 0)]};
        Way way;
        for (int step = 0; step < most; ++step) {
            const int distance = spec.motion == Motion::gather ? step + 1 : most - step;
            // Along a factor every message goes to the next member.
            way = step == 0 || spec.factor == kBetweenSlices
                      ? find_way(role, spec, direction, distance)
                      : way_again(way);
            emit_slot(row, distance, way);
        }
    }
    if (phase + 1 < phases_[part].size()) {
        gates_[role][gate_index(part, chunk, phase)] =
            static_cast<std::uint32_t>(result_.schedule.transfers.size());
        sim::Transfer join;
        join.phase = turn;
        result_.schedule.transfers.push_back(join);
        emit_payload({});
    }
}

std::uint32_t ScheduleBuilder::turn(std::size_t part, int chunk, std::size_t phase) const {
    const auto phases = static_cast<std::uint32_t>(phases_[part].size());
    const auto at = static_cast<std::uint32_t>(phase);
    if (chunks_in_flight_ > 0) {
        return static_cast<std::uint32_t>(chunk / chunks_in_flight_) * phases + at;
    }
    const auto chunks = static_cast<std::uint32_t>(result_.chunks);
    const auto from_smallest = static_cast<std::uint32_t>(chunk);
    const std::uint32_t from_largest = chunks - 1 - from_smallest;
    const bool gathers = phases_[part][phase].motion == Motion::gather;
    if (!motions_.reduces || !motions_.gathers || one_shot_) {
        return at * chunks + (gathers ? from_smallest : from_largest);
    }
    const std::uint32_t half = phases / 2;
    if (!gathers) {
        return (half - 1) * chunks + from_largest * half + at;
    }
    const std::uint32_t turn = at + 1 == phases ? phases - 1 : at - half;
    return turn * chunks + from_smallest;
}

std::uint64_t ScheduleBuilder::rank_of_slot(const Row& row, int distance) const {
    const std::uint64_t step = static_cast<std::uint64_t>(
        row.spec->motion == Motion::gather ? distance - 1 : static_cast<int>(longest_) - distance);
    std::uint64_t rank = row.part;
    rank = rank * phases_[row.part].size() + row.phase;
    rank = rank * longest_ + step;
    rank =
        rank * static_cast<std::uint64_t>(result_.chunks) + static_cast<std::uint64_t>(row.chunk);
    rank = rank * 2 + (row.direction < 0 ? 1 : 0);
    return rank * most_pieces_;
}

void ScheduleBuilder::emit_slot(const Row& row, int distance, const Way& way) {
    const Phase& spec = *row.spec;
    const int direction = row.direction;
    sim::Schedule& schedule = result_.schedule;

    // The unit is half a message: the whole block is 2 x pieces, half of it `pieces` units.
    const Phase::Block& block = spec.blocks[static_cast<std::size_t>(row.chunk)];
    const std::uint32_t unit = 2 * block.pieces;
    const bool half = row.halves && 2 * distance == spec.length;
    const std::uint32_t begin = half && direction < 0 ? block.pieces : 0;
    const std::uint32_t end = half && direction > 0 ? block.pieces : unit;

    arrivals_[way.destination_role] += (end + 1) / 2 - begin / 2;
    Slot& slot = row.slots[distance];
    slot.first_transfer = static_cast<std::uint32_t>(schedule.transfers.size());
    slot.first_piece = begin / 2;
    slot.count = (end + 1) / 2 - begin / 2;

    const std::uint64_t rank = rank_of_slot(row, distance);
    // Detours round dead links meet messages of other sources with the same rank.
    const std::uint64_t sources = roles_.by_place() ? roles_.count() : 1;
    const std::uint64_t source = roles_.by_place() ? row.role : 0;

    // In one shot the arrivals are added up, too.
    const bool sums = spec.motion == Motion::reduce || one_shot_;
    for (std::uint32_t i = 0; i < slot.count; ++i) {
        const std::uint32_t piece = slot.first_piece + i;
        const std::uint32_t low = std::max(begin, 2 * piece);
        const std::uint32_t high = std::min(end, 2 * piece + 2);
        // The two directions take the messages in opposite orders, so that each begins with those
        // of its own half of the opposite member's block.
        const std::uint32_t place_in_step = direction > 0 ? piece : block.pieces - 1 - piece;
        const std::uint32_t units_before = direction > 0 ? low - begin : end - high;
        sim::Transfer& transfer = schedule.transfers.emplace_back();
        transfer.first_hop = way.first_hop;
        transfer.hop_count = way.hop_count;
        transfer.destination_shift = way.destination_shift;
        transfer.phase = row.turn;
        transfer.rank = (rank + place_in_step) * sources + source;
        transfer.writes = sums ? kPassesOfSum : kWritesOfCopy;
        transfer.bytes = block.bytes * (static_cast<double>(high - low) / unit);
        transfer.bytes_before = block.bytes * (static_cast<double>(units_before) / unit);
        emit_payload({.part = static_cast<std::uint16_t>(row.part),
                      .chunk = static_cast<std::uint16_t>(row.chunk),
                      .phase = static_cast<std::uint16_t>(row.phase),
                      .factor = spec.factor == kBetweenSlices
                                    ? Payload::kBetweenSlices
                                    : static_cast<std::uint16_t>(spec.factor),
                      .motion = spec.motion,
                      .direction = static_cast<std::int8_t>(direction),
                      .block = spec.motion == Motion::reduce   ? distance
                               : spec.factor == kBetweenSlices ? 0
                                                               : distance - 1,
                      .low = low,
                      .high = high,
                      .unit = unit});
    }
}

CollectiveSchedule build_all_gather(const CollectiveCall& call, const ScheduleOptions& options,
                                    ShiftTable& shifts) {
    return ScheduleBuilder(call, {.reduces = false, .gathers = true}, options, shifts).build();
}

CollectiveSchedule build_reduce_scatter(const CollectiveCall& call, const ScheduleOptions& options,
                                        ShiftTable& shifts) {
    return ScheduleBuilder(call, {.reduces = true, .gathers = false}, options, shifts).build();
}

CollectiveSchedule build_all_reduce(const CollectiveCall& call, const ScheduleOptions& options,
                                    ShiftTable& shifts) {
    return ScheduleBuilder(call, {.reduces = true, .gathers = true}, options, shifts).build();
}

}  // namespace podsim::collectives
