#include "workloads/program/reorder.h"

#include <algorithm>
#include <utility>

#include "workloads/program/tensor.h"

namespace podsim::workloads {
namespace {

using Ops = std::vector<OpIndex>;

/// Writes the operations in their new order.
class Reordering {
public:
    explicit Reordering(const StepProgram& program)
        : program_(program),
          turns_(turns_of(program)),
          place_(program.ops.size(), kWholeStep),
          stays_(program.ops.size()),
          met_at_(program.ops.size(), kNever),
          stores_after_(program.ops.size()),
          open_(program.ops.size()),
          readers_(program.ops.size()) {
        for (OpIndex op = 0; op < program.ops.size(); ++op) {
            if (goes_to_host(program.ops[op])) {
                open_[op] = program.ops[op].needs.size();
                for (const OpIndex need : program.ops[op].needs) {
                    stores_after_[need].push_back(op);
                }
            }
            for (const OpIndex need : program.ops[op].needs) {
                readers_[need].push_back(op);
            }
        }
        // The order decides priority for all purposes. Otherwise a collective begun by chips that
        // are ahead would overtake the earlier one for which a chip behind still waits, and would
        // itself wait for that chip.
        new_.priority = program.priority == kByNeed ? LinkPlaces{} : program.priority;
        new_.ops.reserve(program.ops.size());
    }

    StepProgram write(const std::vector<Placed>& order) {
        for (OpIndex op = 0; op < program_.ops.size(); ++op) {
            if (goes_to_host(program_.ops[op]) && program_.ops[op].needs.empty()) {
                add(op, Placed::End::early);
            }
        }
        for (const Placed& placed : order) {
            if (placed.end == Placed::End::end) {
                waits_.push_back(placed.op);
                continue;
            }
            if (!placed.floats) {
                stays_[placed.op] = true;
                if (turns_[placed.op] != turn_) {
                    begin_turn(turns_[placed.op]);
                }
            }
            add(placed.op, placed.end);
        }
        map_limits();
        new_.units = first_of(program_.units);
        new_.turns = first_of(program_.turns);
        for (const Buffer& buffer : program_.buffers) {
            new_.buffers.push_back(map(buffer));
        }
        return std::move(new_);
    }

private:
    static constexpr std::size_t kNever = static_cast<std::size_t>(-1);

    /// Returns the operations that have ended when the stream arrives here.
    [[nodiscard]] Ops stream() const {
        Ops ended = waits_;
        if (last_ != kWholeStep) {
            ended.push_back(last_);
        }
        return ended;
    }

    /// Begins another turn of the stream: no operation of that turn begins before.
    void begin_turn(std::uint32_t turn) {
        turn_ = turn;
        turn_began_ = stream();
        turn_began_at_ = stream_;
    }

    void add(OpIndex op, Placed::End end) {
        const Op& was = program_.ops[op];
        const bool early = end == Placed::End::early;
        const bool in_turn = early && std::holds_alternative<Collective>(was.work);
        Ops after = !early ? stream() : in_turn ? turn_began_ : Ops{};
        const std::size_t known = !early ? stream_ : in_turn ? turn_began_at_ : 0;
        for (const Ops* before : {&was.needs, &was.limits}) {
            std::ranges::copy_if(*before, std::back_inserter(after),
                                 [&](OpIndex need) { return met_at_[need] >= known; });
        }
        sort_once(after);
        if (end == Placed::End::whole) {
            for (const OpIndex ended : after) {
                met_at_[ended] = std::min(met_at_[ended], stream_);
            }
            met_at_[op] = stream_;
            ++stream_;
            waits_.clear();
            last_ = op;
        }
        place_[op] = static_cast<OpIndex>(new_.ops.size());
        new_.ops.push_back({was.name, was.pass, was.layer, was.work, mapped(after),
                            mapped(was.needs), was.limits});
        for (const OpIndex store : stores_after_[op]) {
            if (--open_[store] == 0) {
                add(store, Placed::End::early);
            }
        }
    }

    [[nodiscard]] Ops mapped(const Ops& ops) const {
        Ops places;
        places.reserve(ops.size());
        for (const OpIndex op : ops) {
            places.push_back(place_[op]);
        }
        sort_once(places);
        return places;
    }

    void map_limits() {
        for (Op& op : new_.ops) {
            op.limits = mapped(op.limits);
        }
    }

    /// Returns the new beginnings of runs of operations, given by the first of each: the first that
    /// stays in its turn.
    [[nodiscard]] Ops first_of(const Ops& runs) const {
        Ops firsts;
        for (std::size_t run = 0; run < runs.size(); ++run) {
            const std::size_t end = run + 1 < runs.size() ? runs[run + 1] : place_.size();
            OpIndex first = kWholeStep;
            for (std::size_t op = runs[run]; op < end; ++op) {
                first = stays_[op] ? std::min(first, place_[op]) : first;
            }
            firsts.push_back(first);
        }
        // An empty run begins with the next.
        auto next = static_cast<OpIndex>(place_.size());
        for (std::size_t run = firsts.size(); run-- > 0;) {
            next = firsts[run] = std::min(firsts[run], next);
        }
        return firsts;
    }

    /// Returns the buffer, held from the first to the last of the operations that make, read or
    /// write it.
    [[nodiscard]] Buffer map(const Buffer& buffer) const {
        Buffer held{buffer.memory_class, buffer.bytes, buffer.allocated_at, {}};
        const bool from_start = buffer.allocated_at == kWholeStep;
        if (buffer.freed_after.empty()) {
            held.allocated_at = from_start ? kWholeStep : place_[buffer.allocated_at];
            return held;
        }
        Ops users = buffer.freed_after;
        if (!from_start) {
            const OpIndex last = *std::ranges::max_element(buffer.freed_after);
            std::ranges::copy_if(readers_[buffer.allocated_at], std::back_inserter(users),
                                 [&](OpIndex reader) { return reader <= last; });
            OpIndex first = place_[buffer.allocated_at];
            for (const OpIndex end : buffer.freed_after) {
                for (const OpIndex writer : program_.ops[end].needs) {
                    if (writer > buffer.allocated_at) {
                        first = std::min(first, place_[writer]);
                    }
                }
            }
            for (const OpIndex user : users) {
                first = std::min(first, place_[user]);
            }
            held.allocated_at = first;
        }
        held.freed_after = mapped(users);
        return held;
    }

    const StepProgram& program_;
    const std::vector<std::uint32_t> turns_;
    StepProgram new_;
    Ops place_;                ///< by operation
    std::vector<bool> stays_;  ///< in its turn
    /// Progress of the stream when it had waited for the operation.
    std::vector<std::size_t> met_at_;
    std::vector<Ops> stores_after_;  ///< by operation
    std::vector<std::size_t> open_;  ///< needs of a store that are not placed
    std::vector<Ops> readers_;
    Ops waits_;                  ///< of the next operation of the stream
    OpIndex last_ = kWholeStep;  ///< of the stream
    std::size_t stream_ = 0;     ///< operations of the stream so far
    std::uint32_t turn_ = 0;     ///< the stream's
    Ops turn_began_;             ///< operations that had ended then
    std::size_t turn_began_at_ = 0;
};

}  // namespace

bool goes_to_host(const Op& op) {
    const auto* transfer = std::get_if<HostTransfer>(&op.work);
    return transfer != nullptr && transfer->direction == collectives::HostDirection::to_host;
}

std::vector<std::uint32_t> turns_of(const StepProgram& program) {
    std::vector<std::uint32_t> turns(program.ops.size());
    std::uint32_t turn = 0;
    for (std::size_t op = 0; op < turns.size(); ++op) {
        while (turn < program.turns.size() && program.turns[turn] <= op) {
            ++turn;
        }
        turns[op] = turn;
    }
    return turns;
}

StepProgram reorder(const StepProgram& program, const std::vector<Placed>& order) {
    return Reordering(program).write(order);
}

}  // namespace podsim::workloads
