// Ring attention to a window: keys and values go only as far as queries see them (window_ring.h), under the attention to
// what came before.
//
// Forward: round 0, on the chip's own keys; then round s behind the steps s. A step depends on the one that brought what
// it passes on alone.
// Backward the same steps, and round 0; then the rounds from the farthest back. A piece's gradients begin at the farthest
// rank that sees it, each round's part adds to what has come of the round before, and the step back takes the sum one rank
// nearer to its own, which adds its share, computed first. So the steps back run under attention, too, but for the last.
// Held: forward what a step brings twice, at work and under way; backward all of it until its round, and of
// gradients twice a step's.
// V of a step, as an AllGather counts it (n - 1 times V moves over all links of a group): bytes x senders / (n - 1).
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "workloads/builder/step_builder.h"

namespace podsim::workloads {
using collectives::Operation;

/// A step of one way of a window's ring.
struct StepBuilder::Shift {
    WindowRing::Way way{};
    int step = 0;
    WindowRing::Senders senders;
    double bytes = 0;  ///< of one piece
};

namespace {

std::string_view to_string(WindowRing::Way way) {
    switch (way) {
        case WindowRing::Way::up:
            return "up";
        case WindowRing::Way::down:
            return "down";
        case WindowRing::Way::turned:
            break;
    }
    return "turned";
}

}  // namespace

OpIndex StepBuilder::add_shift(std::string_view what, const Shift& shift, bool back,
                               std::vector<OpIndex> after) {
    const int direction = shift.way == WindowRing::Way::up ? 1 : -1;
    collectives::RingStep step{.factor = 0,
                               .direction = back ? -direction : direction,
                               .bytes = sim::Bytes(shift.bytes),
                               .senders = std::pair{shift.senders.first, shift.senders.last}};
    if (back) {  // those that received send
        step.senders->first += direction;
        step.senders->second += direction;
    }
    return add(
        name(fmt::format("{} {} {} step {}", back ? "scatter" : "gather", what,
                         to_string(shift.way), shift.step)),
        Collective{back ? Operation::reduce_scatter : Operation::all_gather,
                   Purpose::context,
                   {"context"},
                   sim::Bytes(shift.bytes * shift.senders.count() / (plan_.ways.context - 1)),
                   step},
        std::move(after));
}

OpIndex StepBuilder::compute_over_window(std::string_view what, const WindowRing& ring,
                                         const PartOf& part, bool gradient) {
    const Pending gather = *std::exchange(pending_, std::nullopt);
    const auto rounds = static_cast<std::size_t>(ring.rounds());
    const std::vector<OpIndex> chained = chain();
    std::vector<OpIndex> start = chained;
    wait_for_turn(start);
    const double piece = gather.bytes / (shard_.context * shard_.pieces_of_rank());
    const OpIndex first = next();

    std::vector<std::vector<Shift>> shifts(rounds + 1);  // [round]
    std::vector<std::vector<OpIndex>> came(rounds + 1);
    double of_step = 0;
    for (std::size_t round = 1; round <= rounds; ++round) {
        for (const WindowRing::Way way : WindowRing::kWays) {
            const auto step = static_cast<int>(round);
            if (const auto senders = ring.senders(way, step); senders.count() > 0) {
                shifts[round].push_back({way, step, senders, piece});
            }
        }
        of_step = std::max(of_step, piece * static_cast<double>(shifts[round].size()));
    }
    const auto add_part = [&](std::size_t round, std::vector<OpIndex> after) {
        const std::optional<Compute> work = part(round);
        after.insert(after.end(), came[round].begin(), came[round].end());
        if (work) {
            add_compute(name(fmt::format("{} {}/{}", what, round + 1, rounds + 1)), *work,
                        std::move(after));
        }
        return work.has_value();
    };
    const auto bring = [&](std::size_t round) {
        for (std::size_t way = 0; way < shifts[round].size(); ++way) {
            came[round].push_back(
                add_shift(gather.what, shifts[round][way], false,
                          round == 1 ? start : std::vector{came[round - 1][way]}));
        }
    };
    add_part(0, chained);
    for (std::size_t round = 1; round <= rounds; ++round) {
        bring(round);
        if (!gradient) {
            add_part(round, {last_});
        }
    }
    std::vector<OpIndex> passed_on;  // the sums of the round before, by way
    for (std::size_t round = rounds; gradient && round > 0; --round) {
        const bool works = add_part(round, {last_});
        std::vector<OpIndex> sums;
        for (std::size_t way = 0; way < shifts[round].size(); ++way) {
            std::vector<OpIndex> after = works ? std::vector{last_} : came[round];
            if (way < passed_on.size()) {
                after.push_back(passed_on[way]);
            }
            std::ranges::sort(after);
            sums.push_back(add_shift(what, shifts[round][way], true, std::move(after)));
        }
        passed_on = std::move(sums);
    }
    if (rounds > 0) {
        // Its steps are one collective, which ends with the last of them.
        collectives_.push_back(came[rounds].back());
        const BufferId blocks =
            hold(MemoryClass::buffers, of_step * (gradient ? static_cast<double>(rounds) + 2 : 2),
                 first);
        release(blocks, last_);
        for (const std::vector<OpIndex>& ends : {came[rounds], passed_on}) {
            for (const OpIndex end : ends) {
                release(blocks, end);
            }
        }
        collectives_.insert(collectives_.end(), passed_on.begin(), passed_on.end());
    }
    sums_ = std::move(passed_on);
    return last_;
}

}  // namespace podsim::workloads
