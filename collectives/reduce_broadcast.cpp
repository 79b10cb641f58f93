#include "collectives/reduce_broadcast.h"

#include <algorithm>
#include <cmath>

#include "collectives/roles.h"

namespace podsim::collectives {
namespace {

constexpr double kMessagesPerLink = 64;
constexpr double kLeastMessage = 4096;

/// Builds the transfers of every position: for each message, at most two partial sums' worth of
/// sends inwards and two of results outwards.
class Builder {
public:
    Builder(const topology::AxisFactor& line, sim::Bytes v, std::uint32_t messages,
            ShiftTable& shifts)
        : line_(line), middle_(line.length / 2), v_(v), messages_(messages), shifts_(shifts) {}

    void emit(sim::Schedule& schedule, std::vector<Payload>& payloads) {
        for (int position = 0; position < line_.length; ++position) {
            sim::Role role;
            role.first_transfer = static_cast<std::uint32_t>(schedule.transfers.size());
            for (std::uint32_t message = 0; message < messages_; ++message) {
                if (position != middle_) {
                    add(schedule, payloads, Motion::reduce, position < middle_ ? 1 : -1, message);
                }
                if (position <= middle_ && position > 0) {
                    add(schedule, payloads, Motion::gather, -1, message);
                }
                if (position >= middle_ && position + 1 < line_.length) {
                    add(schedule, payloads, Motion::gather, 1, message);
                }
            }
            role.transfer_count =
                static_cast<std::uint32_t>(schedule.transfers.size()) - role.first_transfer;
            per_message_.push_back((position != middle_ ? 1U : 0U) +
                                   (position <= middle_ && position > 0 ? 1U : 0U) +
                                   (position >= middle_ && position + 1 < line_.length ? 1U : 0U));
            schedule.roles.push_back(role);
        }
        for (int position = 0; position < line_.length; ++position) {
            connect(schedule, position);
        }
    }

private:
    void add(sim::Schedule& schedule, std::vector<Payload>& payloads, Motion motion, int direction,
             std::uint32_t message) {
        sim::Transfer transfer;
        transfer.first_hop = static_cast<std::uint32_t>(schedule.hops.size());
        for (int link = 0; link < line_.stride; ++link) {
            schedule.hops.push_back({shifts_.number(topology::along(line_.axis, direction * link)),
                                     port_of(line_.axis, direction)});
        }
        transfer.hop_count = static_cast<std::uint32_t>(line_.stride);
        transfer.destination_shift =
            shifts_.number(topology::along(line_.axis, direction * line_.stride));
        transfer.phase = motion == Motion::reduce ? 0 : 1;
        transfer.rank =
            (std::uint64_t{transfer.phase} * messages_ + message) * 2 + (direction < 0 ? 1 : 0);
        transfer.bytes = v_ / static_cast<double>(messages_);
        schedule.transfers.push_back(transfer);
        payloads.push_back({.phase = static_cast<std::uint16_t>(transfer.phase),
                            .motion = motion,
                            .direction = static_cast<std::int8_t>(direction),
                            .low = message,
                            .high = message + 1,
                            .unit = messages_});
    }

    /// The transfers of one message at a position: all of them go on from the message's arrivals there.
    [[nodiscard]] std::vector<std::uint32_t> at(const sim::Schedule& schedule, int position,
                                                std::uint32_t message) const {
        const auto p = static_cast<std::size_t>(position);
        std::vector<std::uint32_t> list;
        for (std::uint32_t i = 0; i < per_message_[p]; ++i) {
            list.push_back(schedule.roles[p].first_transfer + message * per_message_[p] + i);
        }
        return list;
    }

    /// Sets the successors of a position's transfers at the neighbour where they arrive.
    void connect(sim::Schedule& schedule, int position) const {
        for (std::uint32_t message = 0; message < messages_; ++message) {
            for (const std::uint32_t index : at(schedule, position, message)) {
                const std::uint32_t port = schedule.hops[schedule.transfers[index].first_hop].port;
                const int direction = port % 2 == 0 ? 1 : -1;
                const int next = position + direction;
                const bool reducing = schedule.transfers[index].phase == 0;
                ++schedule.roles[static_cast<std::size_t>(next)].arrivals;
                schedule.transfers[index].first_successor =
                    static_cast<std::uint32_t>(schedule.successors.size());
                for (const std::uint32_t after : at(schedule, next, message)) {
                    // Partial sums go on inwards, or turn round in the middle; results go on outwards.
                    const bool goes_on =
                        next == middle_ || (schedule.transfers[after].phase == 0) == reducing;
                    if (goes_on) {
                        schedule.successors.push_back(after);
                        ++schedule.transfers[after].needs;
                    }
                }
                schedule.transfers[index].successor_count =
                    static_cast<std::uint32_t>(schedule.successors.size()) -
                    schedule.transfers[index].first_successor;
            }
        }
    }

    const topology::AxisFactor line_;
    const int middle_;
    const sim::Bytes v_;
    const std::uint32_t messages_;
    ShiftTable& shifts_;
    std::vector<std::uint32_t> per_message_;  ///< transfers of one message, by position
};

}  // namespace

std::uint32_t reduce_broadcast_messages(const topology::AxisFactor& line, sim::Bytes v,
                                        sim::Bytes message_cap) {
    const double filling =
        std::min(kMessagesPerLink * (line.length - 1), std::floor(v.value() / kLeastMessage));
    const std::uint32_t capped = message_count(v, message_cap);
    return std::max({capped, static_cast<std::uint32_t>(filling), 1U});
}

CollectiveSchedule build_reduce_broadcast(const topology::Lattice& slice, const Group& group,
                                          sim::Bytes v, const ScheduleOptions& options,
                                          ShiftTable& shifts) {
    const topology::AxisFactor& line = group.front();
    CollectiveSchedule result;
    result.parts.push_back({{0}, {line.length}, 1.0});
    result.hops = 2 * (line.length / 2) * line.stride;
    Builder builder(line, v, reduce_broadcast_messages(line, v, options.message_cap), shifts);
    builder.emit(result.schedule, result.payloads);
    const Roles roles(slice, group);
    for (int place = 0; place < shifts.places().size(); ++place) {
        result.schedule.role_of_place.push_back(roles.of(shifts.places().point(place)));
    }
    return result;
}

}  // namespace podsim::collectives
