#include "tests/collectives/slices/slices_carrier.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>

#include "tests/collectives/carriers/brute_force_routes.h"

namespace podsim::collectives {

SlicesCarrier::SlicesCarrier(const SlicesCase& c, const CollectiveSchedule& built)
    : case_(c),
      built_(built),
      places_(c.whole()),
      to_all_(c.within.operation == Operation::all_to_all),
      members_(static_cast<std::size_t>(c.members().size())),
      received_(static_cast<std::size_t>(places_.size())) {
    find_members();
    if (to_all_) {
        return;
    }
    find_cosets();
    for (const Payload& payload : built.payloads) {
        if (payload.direction != 0) {
            const std::size_t held = cosets_[payload.part][stage(payload)][0].size();
            units_ = std::lcm(units_, payload.unit / std::gcd(payload.unit, held));
        }
    }
    const std::size_t rows = built.parts.size() * static_cast<std::size_t>(built.chunks);
    gathered_.resize(rows);
    sums_.assign(rows, std::vector<Values>(2 * stages_.front().size()));
}

/// Walks along the factor, one member a step; returns nothing past the end of a line.
std::optional<int> SlicesCarrier::moved(int place, int stage_factor, int steps) const {
    const int slice = places_.slice_of(place);
    const topology::Point chip = places_.point(place);
    if (stage_factor == kSlices) {
        const topology::SliceFactor& across = case_.across;
        const int rank = slice / across.stride % across.length;
        const int next = (rank + steps % across.length + across.length) % across.length;
        return places_.index(chip, slice + (next - rank) * across.stride);
    }
    const Group& group = case_.within.group;
    const topology::AxisFactor& f = group[static_cast<std::size_t>(stage_factor)];
    const bool whole_twisted =
        case_.within.slice.twisted() && group_size(group) == case_.within.slice.size();
    if (!whole_twisted && !is_plain_ring(case_.within.slice, f)) {
        const int next = chip[static_cast<std::size_t>(f.axis)] / f.stride % f.length + steps;
        if (next < 0 || next >= f.length) {
            return std::nullopt;
        }
    }
    return places_.index(*walked(case_.within.slice, chip, f.axis, steps * f.stride, true), slice);
}

void SlicesCarrier::find_members() {
    group_of_.resize(received_.size());
    rank_.resize(received_.size());
    for (int place = 0; place < places_.size(); ++place) {
        std::set<int> reached{place};
        std::vector<int> open{place};
        while (!open.empty()) {
            const int from = open.back();
            open.pop_back();
            for (int f = kSlices; f < static_cast<int>(case_.within.group.size()); ++f) {
                for (const int step : {1, -1}) {
                    const std::optional<int> to = moved(from, f, step);
                    if (to && reached.insert(*to).second) {
                        open.push_back(*to);
                    }
                }
            }
        }
        const auto p = static_cast<std::size_t>(place);
        group_of_[p].assign(reached.begin(), reached.end());
        rank_[p] =
            static_cast<std::size_t>(std::ranges::find(group_of_[p], place) - group_of_[p].begin());
        if (group_of_[p].size() != members_) {
            fail("the group has another size");
        }
    }
}

void SlicesCarrier::find_cosets() {
    for (const Part& part : built_.parts) {
        std::vector<int>& stages = stages_.emplace_back(part.order);
        const bool flat = case_.within.algorithm == Algorithm::flat;
        stages.insert(flat ? stages.end() : stages.begin(), kSlices);
        auto& cosets = cosets_.emplace_back();
        for (std::size_t s = 0; s <= stages.size(); ++s) {
            std::vector<std::vector<int>> reach;
            for (int place = 0; place < places_.size(); ++place) {
                std::set<int> homes{place};
                if (s > 0) {
                    homes.clear();
                    const auto most = static_cast<int>(members_);
                    for (int steps = -most; steps <= most; ++steps) {
                        if (const auto to = moved(place, stages[s - 1], steps)) {
                            const auto& more = cosets[s - 1][static_cast<std::size_t>(*to)];
                            homes.insert(more.begin(), more.end());
                        }
                    }
                }
                reach.emplace_back(homes.begin(), homes.end());
            }
            cosets.push_back(std::move(reach));
        }
    }
}

/// Returns the gather stage that a message belongs to, or mirrors.
std::size_t SlicesCarrier::stage(const Payload& payload) const {
    const std::size_t stages = stages_[payload.part].size();
    if (payload.motion == Motion::reduce) {
        return stages - 1 - payload.phase;
    }
    return case_.within.operation == Operation::all_reduce ? payload.phase - stages : payload.phase;
}

/// Returns the cells that a message of this sender carries.
std::vector<std::size_t> SlicesCarrier::cells(const Payload& payload, int sender) {
    const std::size_t s = stage(payload);
    const int expected = stages_[payload.part][s];
    if ((payload.factor == Payload::kBetweenSlices ? kSlices : payload.factor) != expected) {
        fail("a message takes a factor out of turn");
    }
    const int sign = payload.motion == Motion::gather ? -payload.direction : payload.direction;
    const std::optional<int> home = moved(sender, expected, sign * payload.block);
    if (!home) {
        fail("a message goes past the end of a line");
        return {};
    }
    const std::vector<int>& homes = cosets_[payload.part][s][static_cast<std::size_t>(*home)];
    const std::size_t block = homes.size() * units_;
    std::vector<std::size_t> list;
    for (std::size_t i = block * payload.low / payload.unit;
         i < block * payload.high / payload.unit; ++i) {
        list.push_back(rank_[static_cast<std::size_t>(homes[i / units_])] * units_ + i % units_);
    }
    return list;
}

SlicesCarrier::Set& SlicesCarrier::at(Values& values, int place, std::size_t cell) {
    values.resize(received_.size() * members_ * units_);
    return values[static_cast<std::size_t>(place) * members_ * units_ + cell];
}

/// Returns the sum that a member has for a cell after the given number of reduce phases.
SlicesCarrier::Set SlicesCarrier::reduced(std::size_t row, std::size_t phases, int place,
                                          std::size_t cell) {
    if (phases == 0) {
        return Set{1} << rank_[static_cast<std::size_t>(place)];
    }
    const Set own = reduced(row, phases - 1, place, cell);
    const Set both = add(at(sums_[row][2 * (phases - 1)], place, cell),
                         at(sums_[row][2 * (phases - 1) + 1], place, cell), "two directions");
    return add(own, both, "what comes and what is there");
}

/// Returns the value of a cell that a member can pass on when gathering.
SlicesCarrier::Set SlicesCarrier::holds(std::size_t row, int place, std::size_t cell) {
    if (cell / units_ != rank_[static_cast<std::size_t>(place)]) {
        return at(gathered_[row], place, cell);
    }
    return case_.within.operation == Operation::all_gather
               ? Set{1} << rank_[static_cast<std::size_t>(place)]
               : reduced(row, stages_.front().size(), place, cell);
}

SlicesCarrier::Set SlicesCarrier::promised(std::size_t cell) const {
    if (case_.within.operation == Operation::all_gather) {
        return Set{1} << cell / units_;
    }
    return members_ == 64 ? ~Set{0} : (Set{1} << members_) - 1;
}

SlicesCarrier::Set SlicesCarrier::add(Set a, Set b, const char* where) {
    if ((a & b) != 0) {
        fail(std::string("a contribution is counted twice: ") + where);
    }
    return a | b;
}

void SlicesCarrier::fail(const std::string& what) {
    if (error_.empty()) {
        error_ = what;
    }
}

void SlicesCarrier::transfer_fired(sim::OperationId /*op*/, sim::PlaceId source,
                                   std::uint32_t transfer, sim::Time /*now*/) {
    std::vector<Set> data;
    const auto sender = static_cast<int>(source.index());
    const Payload& payload = built_.payloads[transfer];
    if (!to_all_) {
        const std::size_t r = row(payload);
        for (const std::size_t cell : cells(payload, sender)) {
            if (payload.motion == Motion::gather) {
                data.push_back(holds(r, sender, cell));
                if (data.back() != promised(cell)) {
                    fail("a member passes on a block that it does not hold");
                }
                continue;
            }
            const Set own = reduced(r, payload.phase, sender, cell);
            const std::size_t reduced_over =
                members_ / cosets_[payload.part][stage(payload) + 1][source.index()].size();
            if (static_cast<std::size_t>(std::popcount(own)) != reduced_over) {
                fail("a member sends before its own contribution is complete");
            }
            Values& partial = sums_[r][2 * payload.phase + (payload.direction < 0 ? 1 : 0)];
            data.push_back(add(own, at(partial, sender, cell), "own contribution and partial sum"));
        }
    }
    if (!on_the_way_.emplace(std::pair(source.value, transfer), std::move(data)).second) {
        fail("a message leaves twice");
    }
}

void SlicesCarrier::transfer_arrived(sim::OperationId /*op*/, sim::PlaceId source,
                                     sim::PlaceId destination, std::uint32_t transfer,
                                     sim::Time /*now*/) {
    const auto message = on_the_way_.find({source.value, transfer});
    if (message == on_the_way_.end()) {
        fail("a message arrives that never left");
        return;
    }
    const auto sender = static_cast<int>(source.index());
    const auto receiver = static_cast<int>(destination.index());
    const double bytes = built_.schedule.transfers[transfer].bytes.value();
    received_[destination.index()] += bytes;
    const std::vector<Set> data = message->second;
    on_the_way_.erase(message);
    if (group_of_[source.index()] != group_of_[destination.index()] || sender == receiver) {
        fail("a message arrives outside its group");
    }
    if (to_all_) {
        pair_bytes_[{sender, receiver}] += bytes;
        return;
    }
    const Payload& payload = built_.payloads[transfer];
    const bool between = payload.factor == Payload::kBetweenSlices;
    if (between ? case_.whole().point(sender) != case_.whole().point(receiver) ||
                      (payload.motion == Motion::reduce &&
                       moved(sender, kSlices, payload.block) != receiver)
                : moved(sender, payload.factor, payload.direction) != receiver) {
        fail("a message arrives at the wrong member");
    }
    const std::size_t r = row(payload);
    const std::vector<std::size_t> list = cells(payload, sender);
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (payload.motion == Motion::reduce) {
            Values& partial = sums_[r][2 * payload.phase + (payload.direction < 0 ? 1 : 0)];
            Set& sum = at(partial, receiver, list[i]);
            sum = add(sum, data[i], "partial sums of one direction");
            continue;
        }
        Set& value = at(gathered_[r], receiver, list[i]);
        if (value != 0 || list[i] / units_ == rank_[destination.index()]) {
            fail("a member is sent what it already holds");
        }
        value = data[i];
    }
}

void SlicesCarrier::check_result() {
    if (!on_the_way_.empty()) {
        fail("a message never arrived");
    }
    const double n = static_cast<double>(members_);
    for (int place = 0; place < places_.size(); ++place) {
        const auto p = static_cast<std::size_t>(place);
        for (const int from : group_of_[p]) {
            if (to_all_ && from != place) {
                const double share = case_.within.v.value() / n / n;
                if (std::abs(pair_bytes_[{from, place}] - share) > 1e-9 * share) {
                    fail("a member has not got its share from another");
                }
            }
        }
        for (std::size_t r = 0; r < gathered_.size(); ++r) {
            for (std::size_t cell = 0; cell < members_ * units_; ++cell) {
                const bool own = cell / units_ == rank_[p];
                if (case_.within.operation == Operation::reduce_scatter && !own) {
                    continue;
                }
                if (holds(r, place, cell) != promised(cell)) {
                    fail("a member ends without what the operation promises");
                }
            }
        }
    }
}

}  // namespace podsim::collectives
