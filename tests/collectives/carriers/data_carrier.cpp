#include "tests/collectives/carriers/data_carrier.h"

#include <bit>
#include <numeric>

namespace podsim::collectives {

DataCarrier::DataCarrier(const Case& c, const CollectiveSchedule& built)
    : case_(c),
      built_(built),
      members_(static_cast<std::size_t>(group_size(c.group))),
      places_(static_cast<std::size_t>(c.slice.size())),
      stages_(c.group.size()),
      received_(places_) {
    for (std::size_t place = 0; place < places_; ++place) {
        topology::Point base = c.slice.point(static_cast<int>(place));
        std::size_t rank = 0;
        for (std::size_t f = 0; f < c.group.size(); ++f) {
            rank = rank * static_cast<std::size_t>(factor(f).length) +
                   static_cast<std::size_t>(digit(place, f));
            base = base - topology::along(factor(f).axis, digit(place, f) * factor(f).stride);
        }
        rank_.push_back(rank);
        group_.push_back(static_cast<std::size_t>(c.slice.index(base)));
    }
    // Every message must be a whole number of cells.
    for (const Payload& payload : built.payloads) {
        if (payload.direction != 0) {
            const std::size_t held = held_before(payload.part, stage(payload));
            units_ = std::lcm(units_, payload.unit / std::gcd(payload.unit, held));
        }
    }
    row_cells_ = members_ * units_;
    const std::size_t rows = built.parts.size() * static_cast<std::size_t>(built.chunks);
    gathered_.assign(rows, std::vector<Set>(places_ * row_cells_));
    if (c.operation != Operation::all_gather) {
        sums_.assign(rows, {2 * stages_, std::vector<Set>(places_ * row_cells_)});
    }
}

const topology::AxisFactor& DataCarrier::factor(std::size_t index) const {
    return case_.group[index];
}

/// Returns the coordinate of a place along a factor of the group.
int DataCarrier::digit(std::size_t place, std::size_t factor_index) const {
    const topology::AxisFactor& f = factor(factor_index);
    const topology::Point point = case_.slice.point(static_cast<int>(place));
    return point[static_cast<std::size_t>(f.axis)] / f.stride % f.length;
}

/// Returns the gather stage that a message belongs to, or
/// mirrors: the number of factors that its block spans.
std::size_t DataCarrier::stage(const Payload& payload) const {
    const std::size_t phase = payload.phase;
    if (payload.motion == Motion::reduce) {
        return stages_ - 1 - phase;
    }
    return case_.operation == Operation::all_reduce ? phase - stages_ : phase;
}

/// Returns the number of members whose slots a member holds before the gather stage.
std::size_t DataCarrier::held_before(std::size_t part, std::size_t stage) const {
    std::size_t held = 1;
    for (std::size_t s = 0; s < stage; ++s) {
        held *= static_cast<std::size_t>(
            factor(static_cast<std::size_t>(built_.parts[part].order[s])).length);
    }
    return held;
}

/// Returns the index of a place's slot in the row of a part.
std::size_t DataCarrier::slot(std::size_t part, std::size_t place) const {
    std::size_t turn = 0;
    for (std::size_t s = 0; s < stages_; ++s) {
        const auto f = static_cast<std::size_t>(built_.parts[part].order[s]);
        turn += held_before(part, s) * static_cast<std::size_t>(digit(place, f));
    }
    return turn;
}

/// Returns the cells that a message of this sender carries.
DataCarrier::Cells DataCarrier::cells(const Payload& payload, std::size_t sender) {
    const std::size_t s = stage(payload);
    if (built_.parts[payload.part].order[s] != payload.factor) {
        fail("a message takes a factor out of turn");
    }
    const int length = factor(payload.factor).length;
    const int sign = payload.motion == Motion::gather ? -payload.direction : payload.direction;
    int home = digit(sender, payload.factor) + sign * payload.block;
    if (home < 0 || home >= length) {
        if (!factor_kind(case_.slice, factor(payload.factor)).ring) {
            fail("a message goes past the end of a line");
        }
        home = (home % length + length) % length;
    }
    const std::size_t held = held_before(payload.part, s);
    const std::size_t span = held * static_cast<std::size_t>(length);
    const std::size_t begin =
        slot(payload.part, sender) / span * span + static_cast<std::size_t>(home) * held;
    const std::size_t row = payload.part * static_cast<std::size_t>(built_.chunks) + payload.chunk;
    const std::size_t block = held * units_;
    return {row, begin * units_ + block * payload.low / payload.unit,
            begin * units_ + block * payload.high / payload.unit};
}

DataCarrier::Set& DataCarrier::gathered(std::size_t row, std::size_t place, std::size_t cell) {
    return gathered_[row][place * row_cells_ + cell];
}

DataCarrier::Set& DataCarrier::sum(std::size_t row, std::size_t phase, bool backward,
                                   std::size_t place, std::size_t cell) {
    return sums_[row][2 * phase + (backward ? 1 : 0)][place * row_cells_ + cell];
}

/// Returns the sum that a member has for a cell of its
/// own block after the given number of reduce phases.
DataCarrier::Set DataCarrier::reduced(std::size_t row, std::size_t phases, std::size_t place,
                                      std::size_t cell) {
    if (phases == 0) {
        return Set{1} << rank_[place];
    }
    const Set own = reduced(row, phases - 1, place, cell);
    const Set both = add(sum(row, phases - 1, false, place, cell),
                         sum(row, phases - 1, true, place, cell), "the two directions");
    return add(own, both, "what comes and what is there");
}

/// Returns the value of a cell that a member can pass on when gathering.
DataCarrier::Set DataCarrier::holds(std::size_t row, std::size_t place, std::size_t cell) {
    const std::size_t part = row / static_cast<std::size_t>(built_.chunks);
    if (cell / units_ != slot(part, place)) {
        return gathered(row, place, cell);
    }
    return case_.operation == Operation::all_gather ? Set{1} << rank_[place]
                                                    : reduced(row, stages_, place, cell);
}

/// Returns the final value of a cell: AllGather and AllReduce promise it to every member,
/// ReduceScatter to the cell's home.
DataCarrier::Set DataCarrier::promised(std::size_t row, std::size_t cell) const {
    if (case_.operation != Operation::all_gather) {
        return members_ == 64 ? ~Set{0} : (Set{1} << members_) - 1;
    }
    const std::size_t part = row / static_cast<std::size_t>(built_.chunks);
    std::size_t turn = cell / units_;
    std::vector<std::size_t> digits(stages_);
    for (const int f : built_.parts[part].order) {
        const auto length = static_cast<std::size_t>(factor(static_cast<std::size_t>(f)).length);
        digits[static_cast<std::size_t>(f)] = turn % length;
        turn /= length;
    }
    std::size_t rank = 0;
    for (std::size_t f = 0; f < stages_; ++f) {
        rank = rank * static_cast<std::size_t>(factor(f).length) + digits[f];
    }
    return Set{1} << rank;
}

DataCarrier::Set DataCarrier::add(Set a, Set b, const char* where) {
    if ((a & b) != 0) {
        fail(std::string("a contribution is counted twice: ") + where);
    }
    return a | b;
}

void DataCarrier::fail(const std::string& what) {
    if (error_.empty()) {
        error_ = what;
    }
}

void DataCarrier::transfer_fired(sim::OperationId /*op*/, sim::PlaceId source,
                                 std::uint32_t transfer, sim::Time /*now*/) {
    const Payload& payload = built_.payloads[transfer];
    const std::size_t sender = source.index();
    const Cells range = cells(payload, sender);
    std::vector<Set> data;
    for (std::size_t cell = range.first; cell < range.last; ++cell) {
        if (payload.motion == Motion::gather) {
            data.push_back(holds(range.row, sender, cell));
            if (data.back() != promised(range.row, cell)) {
                fail("a member passes on a block that it does not hold");
            }
            continue;
        }
        const Set own = reduced(range.row, payload.phase, sender, cell);
        const std::size_t expected = members_ / held_before(payload.part, stages_ - payload.phase);
        if (static_cast<std::size_t>(std::popcount(own)) != expected) {
            fail("a member sends before its own contribution is complete");
        }
        data.push_back(add(own, sum(range.row, payload.phase, payload.direction < 0, sender, cell),
                           "own contribution and partial sum"));
    }
    if (!on_the_way_.emplace(std::pair(source.value, transfer), std::move(data)).second) {
        fail("a message leaves twice");
    }
}

void DataCarrier::transfer_arrived(sim::OperationId /*op*/, sim::PlaceId source,
                                   sim::PlaceId destination, std::uint32_t transfer,
                                   sim::Time /*now*/) {
    const Payload& payload = built_.payloads[transfer];
    const std::size_t sender = source.index();
    const std::size_t receiver = destination.index();
    const auto message = on_the_way_.find({source.value, transfer});
    if (message == on_the_way_.end()) {
        fail("a message arrives that never left");
        return;
    }
    const int length = factor(payload.factor).length;
    const int moved = digit(receiver, payload.factor) - digit(sender, payload.factor);
    if (group_[sender] != group_[receiver] || (moved - payload.direction + length) % length != 0) {
        fail("a message arrives at a member that is not the neighbour");
    }
    const Cells range = cells(payload, sender);
    for (std::size_t cell = range.first; cell < range.last; ++cell) {
        const Set value = message->second[cell - range.first];
        if (payload.motion == Motion::reduce) {
            Set& at = sum(range.row, payload.phase, payload.direction < 0, receiver, cell);
            at = add(at, value, "partial sums of one direction");
            continue;
        }
        const std::size_t part = range.row / static_cast<std::size_t>(built_.chunks);
        Set& at = gathered(range.row, receiver, cell);
        if (at != 0 || cell / units_ == slot(part, receiver)) {
            fail("a member is sent what it already holds");
        }
        at = value;
    }
    received_[receiver] += built_.schedule.transfers[transfer].bytes.value();
    on_the_way_.erase(message);
}

void DataCarrier::check_result() {
    if (!on_the_way_.empty()) {
        fail("a message never arrived");
    }
    for (std::size_t row = 0; row < gathered_.size(); ++row) {
        const std::size_t part = row / static_cast<std::size_t>(built_.chunks);
        for (std::size_t place = 0; place < places_; ++place) {
            for (std::size_t cell = 0; cell < row_cells_; ++cell) {
                const bool own = cell / units_ == slot(part, place);
                if (case_.operation == Operation::reduce_scatter && !own) {
                    continue;
                }
                if (holds(row, place, cell) != promised(row, cell)) {
                    fail("a member ends without what the operation promises");
                }
            }
        }
    }
}

}  // namespace podsim::collectives
