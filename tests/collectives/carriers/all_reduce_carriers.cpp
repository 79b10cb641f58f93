#include "tests/collectives/carriers/all_reduce_carriers.h"

namespace podsim::collectives {

AllReduceCarrier::AllReduceCarrier(const Case& c, const CollectiveSchedule& built)
    : case_(c),
      built_(built),
      chips_(static_cast<std::size_t>(c.slice.size())),
      group_(chips_),
      received_(chips_) {
    // Members of a group agree in all coordinates that no
    // factor counts; a whole twisted slice is one group.
    std::map<std::vector<int>, Set> groups;
    const auto key = [&](std::size_t chip) {
        const topology::Point at = c.slice.point(static_cast<int>(chip));
        std::vector<int> rest(at.begin(), at.end());
        for (const topology::AxisFactor& f : c.group) {
            const auto axis = static_cast<std::size_t>(f.axis);
            rest[axis] -= at[axis] / f.stride % f.length * f.stride;
        }
        return rest;
    };
    for (std::size_t chip = 0; chip < chips_; ++chip) {
        groups[key(chip)].set(chip);
    }
    for (std::size_t chip = 0; chip < chips_; ++chip) {
        group_[chip] = groups[key(chip)];
    }
}

std::size_t AllReduceCarrier::member(std::size_t chip, int factor, int members) {
    const topology::AxisFactor& f = case_.group[static_cast<std::size_t>(factor)];
    const auto at = case_.slice.canonical(case_.slice.point(static_cast<int>(chip)) +
                                          topology::along(f.axis, members * f.stride));
    if (!at) {
        fail("a message goes past the end of a line");
        return chip;
    }
    return static_cast<std::size_t>(case_.slice.index(*at));
}

void AllReduceCarrier::arrived(const Payload& payload, std::size_t from, std::size_t to,
                               std::uint32_t transfer) {
    if (member(from, payload.factor, payload.direction) != to || group_[from] != group_[to]) {
        fail("a message arrives at a member that is not the neighbour");
    }
    received_[to] += built_.schedule.transfers[transfer].bytes.value();
}

AllReduceCarrier::Set AllReduceCarrier::add(const Set& a, const Set& b) {
    if ((a & b).any()) {
        fail("a contribution is counted twice");
    }
    return a | b;
}

void AllReduceCarrier::fail(const std::string& what) {
    if (error_.empty()) {
        error_ = what;
    }
}

TreeCarrier::Values& TreeCarrier::values(const Payload& payload, std::size_t sender) {
    const topology::Point at = case_.slice.point(static_cast<int>(sender));
    std::vector<int> root;
    int left = payload.block;
    for (const topology::AxisFactor& f : case_.group) {
        if (factor_kind(case_.slice, f).ring) {
            const int digit = at[static_cast<std::size_t>(f.axis)] / f.stride % f.length;
            root.push_back((digit - left % f.length + f.length) % f.length);
            left /= f.length;
        }
    }
    const auto [entry, added] = values_.try_emplace({payload.part, payload.low, std::move(root)});
    if (added) {
        entry->second.sums.resize(chips_);
        entry->second.results.resize(chips_);
        for (std::size_t chip = 0; chip < chips_; ++chip) {
            entry->second.sums[chip].set(chip);
        }
    }
    return entry->second;
}

void TreeCarrier::transfer_fired(sim::OperationId /*op*/, sim::PlaceId source,
                                 std::uint32_t transfer, sim::Time /*now*/) {
    const Payload& payload = built_.payloads[transfer];
    const Values& share = values(payload, source.index());
    const bool has_result = share.results[source.index()].any();
    const Set& data = has_result ? share.results[source.index()] : share.sums[source.index()];
    if (payload.motion == Motion::reduce && has_result) {
        fail("a member sends a sum after the result");
    }
    if (payload.motion == Motion::gather && data != group_[source.index()]) {
        fail("a member passes on a result that is not complete");
    }
    if (!on_the_way_.emplace(std::pair(source.value, transfer), std::vector{data}).second) {
        fail("a message leaves twice");
    }
}

void TreeCarrier::transfer_arrived(sim::OperationId /*op*/, sim::PlaceId source,
                                   sim::PlaceId destination, std::uint32_t transfer,
                                   sim::Time /*now*/) {
    const Payload& payload = built_.payloads[transfer];
    arrived(payload, source.index(), destination.index(), transfer);
    Values& share = values(payload, source.index());
    Set& into = payload.motion == Motion::reduce ? share.sums[destination.index()]
                                                 : share.results[destination.index()];
    const auto message = on_the_way_.find({source.value, transfer});
    into = add(into, message->second.front());
    on_the_way_.erase(message);
}

void TreeCarrier::check_result() {
    for (const auto& [share, at] : values_) {
        for (std::size_t chip = 0; chip < chips_; ++chip) {
            const Set& held = at.results[chip].any() ? at.results[chip] : at.sums[chip];
            if (held != group_[chip]) {
                fail("a member ends without what the operation promises");
            }
        }
    }
}

AllReduceCarrier::Set OneShotCarrier::sum(int part, int phase, std::size_t chip,
                                          std::uint32_t cell) {
    if (phase == 0) {
        return Set{}.set(chip);
    }
    return add(sum(part, phase - 1, chip, cell), added_[{part, phase - 1, chip, cell}]);
}

void OneShotCarrier::transfer_fired(sim::OperationId /*op*/, sim::PlaceId source,
                                    std::uint32_t transfer, sim::Time /*now*/) {
    const Payload& payload = built_.payloads[transfer];
    units_[payload.part] = payload.unit;
    const Part& part = built_.parts[payload.part];
    std::size_t complete = 1;
    for (int phase = 0; phase < payload.phase; ++phase) {
        complete *= static_cast<std::size_t>(part.lengths[static_cast<std::size_t>(phase)]);
    }
    const std::size_t home =
        member(source.index(), payload.factor, -payload.direction * payload.block);
    std::vector<Set> data;
    for (std::uint32_t cell = payload.low; cell < payload.high; ++cell) {
        data.push_back(payload.block == 0
                           ? sum(payload.part, payload.phase, source.index(), cell)
                           : pieces_[{payload.part, payload.phase, source.index(), home, cell}]);
        if (data.back().count() != complete) {
            fail("a member sends a sum that it does not hold");
        }
    }
    if (!on_the_way_.emplace(std::pair(source.value, transfer), std::move(data)).second) {
        fail("a message leaves twice");
    }
}

void OneShotCarrier::transfer_arrived(sim::OperationId /*op*/, sim::PlaceId source,
                                      sim::PlaceId destination, std::uint32_t transfer,
                                      sim::Time /*now*/) {
    const Payload& payload = built_.payloads[transfer];
    arrived(payload, source.index(), destination.index(), transfer);
    const std::size_t home =
        member(source.index(), payload.factor, -payload.direction * payload.block);
    const auto message = on_the_way_.find({source.value, transfer});
    for (std::uint32_t cell = payload.low; cell < payload.high; ++cell) {
        const Set& data = message->second[cell - payload.low];
        pieces_[{payload.part, payload.phase, destination.index(), home, cell}] = data;
        Set& added = added_[{payload.part, payload.phase, destination.index(), cell}];
        added = add(added, data);
    }
    on_the_way_.erase(message);
}

void OneShotCarrier::check_result() {
    for (std::size_t part = 0; part < built_.parts.size(); ++part) {
        const auto phases = static_cast<int>(built_.parts[part].order.size());
        const std::uint32_t units = units_[static_cast<int>(part)];
        for (std::size_t chip = 0; chip < chips_; ++chip) {
            for (std::uint32_t cell = 0; cell < units; ++cell) {
                if (sum(static_cast<int>(part), phases, chip, cell) != group_[chip]) {
                    fail("a member ends without what the operation promises");
                }
            }
        }
    }
}

}  // namespace podsim::collectives
