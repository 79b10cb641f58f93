#include "tests/collectives/carriers/twisted_carrier.h"

#include <numeric>
#include <set>

namespace podsim::collectives {

TwistedCarrier::TwistedCarrier(const Case& c, const CollectiveSchedule& built)
    : case_(c),
      built_(built),
      chips_(static_cast<std::size_t>(c.slice.size())),
      stages_(c.group.size()),
      received_(chips_) {
    for (const Part& part : built.parts) {
        auto& stages = cosets_.emplace_back();
        stages.emplace_back();
        for (std::size_t chip = 0; chip < chips_; ++chip) {
            stages[0].push_back({chip});
        }
        // The coset of the next stage has all chips that a walk along the axis reaches.
        for (const int factor : part.order) {
            std::vector<std::vector<std::size_t>> next;
            for (std::size_t chip = 0; chip < chips_; ++chip) {
                std::set<std::size_t> reached;
                for (int steps = 0; steps < 2 * case_.slice.size(); ++steps) {
                    const auto& here = stages.back()[neighbour(chip, factor, steps)];
                    reached.insert(here.begin(), here.end());
                }
                next.emplace_back(reached.begin(), reached.end());
            }
            stages.push_back(std::move(next));
        }
    }
    for (const Payload& payload : built.payloads) {
        if (payload.direction != 0) {
            const std::size_t held = coset(payload.part, stage(payload), 0).size();
            units_ = std::lcm(units_, payload.unit / std::gcd(payload.unit, held));
        }
    }
    const std::size_t rows = built.parts.size() * static_cast<std::size_t>(built.chunks);
    gathered_.resize(rows);
    sums_.assign(rows, std::vector<Values>(2 * stages_));
    if (chips_ > kMostMembers) {
        fail("too many chips for a set");
    }
}

std::size_t TwistedCarrier::neighbour(std::size_t chip, int factor, int steps) const {
    const int axis = case_.group[static_cast<std::size_t>(factor)].axis;
    const topology::Point from = case_.slice.point(static_cast<int>(chip));
    return static_cast<std::size_t>(
        case_.slice.index(*case_.slice.canonical(from + topology::along(axis, steps))));
}

std::size_t TwistedCarrier::stage(const Payload& payload) const {
    if (payload.motion == Motion::reduce) {
        return stages_ - 1 - payload.phase;
    }
    return case_.operation == Operation::all_reduce ? payload.phase - stages_ : payload.phase;
}

std::vector<std::size_t> TwistedCarrier::cells(const Payload& payload, std::size_t sender) {
    const std::size_t s = stage(payload);
    if (built_.parts[payload.part].order[s] != payload.factor) {
        fail("a message takes an axis out of turn");
    }
    const int sign = payload.motion == Motion::gather ? -payload.direction : payload.direction;
    const std::size_t home = neighbour(sender, payload.factor, sign * payload.block);
    const std::vector<std::size_t>& homes = coset(payload.part, s, home);
    const std::size_t block = homes.size() * units_;
    std::vector<std::size_t> list;
    for (std::size_t i = block * payload.low / payload.unit;
         i < block * payload.high / payload.unit; ++i) {
        list.push_back(homes[i / units_] * units_ + i % units_);
    }
    return list;
}

TwistedCarrier::Set& TwistedCarrier::at(Values& values, std::size_t chip, std::size_t cell) {
    if (values.empty()) {
        values.resize(chips_ * chips_ * units_);
    }
    return values[chip * chips_ * units_ + cell];
}

/// Returns the sum that a chip has for a cell after the given number of reduce phases.
TwistedCarrier::Set TwistedCarrier::reduced(std::size_t row, std::size_t phases, std::size_t chip,
                                            std::size_t cell) {
    Set sum;
    sum.set(chip);
    for (std::size_t i = 0; i < 2 * phases; ++i) {
        sum = add(sum, at(sums_[row][i], chip, cell), "what comes and what is there");
    }
    return sum;
}

/// Returns the value of a cell that a chip can pass on when gathering.
TwistedCarrier::Set TwistedCarrier::holds(std::size_t row, std::size_t chip, std::size_t cell) {
    if (cell / units_ != chip) {
        return at(gathered_[row], chip, cell);
    }
    return case_.operation == Operation::all_gather ? promised(cell)
                                                    : reduced(row, stages_, chip, cell);
}

TwistedCarrier::Set TwistedCarrier::promised(std::size_t cell) const {
    Set set;
    if (case_.operation == Operation::all_gather) {
        return set.set(cell / units_);
    }
    for (std::size_t chip = 0; chip < chips_; ++chip) {
        set.set(chip);
    }
    return set;
}

TwistedCarrier::Set TwistedCarrier::add(const Set& a, const Set& b, const char* where) {
    if ((a & b).any()) {
        fail(std::string("a contribution is counted twice: ") + where);
    }
    return a | b;
}

void TwistedCarrier::fail(const std::string& what) {
    if (error_.empty()) {
        error_ = what;
    }
}

void TwistedCarrier::transfer_fired(sim::OperationId /*op*/, sim::PlaceId source,
                                    std::uint32_t transfer, sim::Time /*now*/) {
    const Payload& payload = built_.payloads[transfer];
    const std::size_t sender = source.index();
    std::vector<Set> data;
    for (const std::size_t cell : cells(payload, sender)) {
        if (payload.motion == Motion::gather) {
            data.push_back(holds(row(payload), sender, cell));
            if (data.back() != promised(cell)) {
                fail("a member passes on a block that it does not hold");
            }
            continue;
        }
        const Set own = reduced(row(payload), payload.phase, sender, cell);
        const std::size_t spanned = coset(payload.part, stage(payload) + 1, sender).size();
        if (own.count() != chips_ / spanned) {
            fail("a member sends before its own contribution is complete");
        }
        const std::size_t from = 2UL * payload.phase + (payload.direction < 0 ? 1 : 0);
        data.push_back(add(own, at(sums_[row(payload)][from], sender, cell),
                           "own contribution and partial sum"));
    }
    if (!on_the_way_.emplace(std::pair(source.value, transfer), std::move(data)).second) {
        fail("a message leaves twice");
    }
}

void TwistedCarrier::transfer_arrived(sim::OperationId /*op*/, sim::PlaceId source,
                                      sim::PlaceId destination, std::uint32_t transfer,
                                      sim::Time /*now*/) {
    const Payload& payload = built_.payloads[transfer];
    const std::size_t receiver = destination.index();
    const auto message = on_the_way_.find({source.value, transfer});
    if (message == on_the_way_.end()) {
        fail("a message arrives that never left");
        return;
    }
    if (receiver != neighbour(source.index(), payload.factor, payload.direction)) {
        fail("a message arrives at a chip that is not the neighbour");
    }
    const std::vector<std::size_t> range = cells(payload, source.index());
    for (std::size_t i = 0; i < range.size(); ++i) {
        if (payload.motion == Motion::reduce) {
            const std::size_t into = 2UL * payload.phase + (payload.direction < 0 ? 1 : 0);
            Set& sum = at(sums_[row(payload)][into], receiver, range[i]);
            sum = add(sum, message->second[i], "partial sums of one direction");
            continue;
        }
        Set& held = at(gathered_[row(payload)], receiver, range[i]);
        if (held.any() || range[i] / units_ == receiver) {
            fail("a member is sent what it already holds");
        }
        held = message->second[i];
    }
    received_[receiver] += built_.schedule.transfers[transfer].bytes.value();
    on_the_way_.erase(message);
}

void TwistedCarrier::check_result() {
    if (!on_the_way_.empty()) {
        fail("a message never arrived");
    }
    for (std::size_t row = 0; row < gathered_.size(); ++row) {
        for (std::size_t chip = 0; chip < chips_; ++chip) {
            for (std::size_t cell = 0; cell < chips_ * units_; ++cell) {
                const bool own = cell / units_ == chip;
                if (case_.operation == Operation::reduce_scatter && !own) {
                    continue;
                }
                if (holds(row, chip, cell) != promised(cell)) {
                    fail("a member ends without what the operation promises");
                }
            }
        }
    }
}

}  // namespace podsim::collectives
