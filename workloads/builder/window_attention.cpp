#include "workloads/builder/window_attention.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "workloads/program/axis_names.h"

namespace podsim::workloads {

using collectives::Operation;

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

OpIndex WindowAttention::shift(std::string_view what, const Shift& shift, bool back,
                               Chain::Waits waits) {
    const int direction = shift.way == WindowRing::Way::up ? 1 : -1;
    collectives::RingStep step{.factor = 0,
                               .direction = back ? -direction : direction,
                               .bytes = sim::Bytes(shift.bytes),
                               .senders = std::pair{shift.senders.first, shift.senders.last}};
    if (back) {  // those that received send
        step.senders->first += direction;
        step.senders->second += direction;
    }
    return chain_.beside(
        names_.label(fmt::format("{} {} {} step {}", back ? "scatter" : "gather", what,
                                 to_string(shift.way), shift.step)),
        Collective{back ? Operation::reduce_scatter : Operation::all_gather,
                   Purpose::context,
                   {axis::context},
                   sim::Bytes(shift.bytes * shift.senders.count() / (shard_.context - 1)),
                   step},
        std::move(waits));
}

WindowAttention::Rounds WindowAttention::shifts_of(const WindowRing& ring, double piece) const {
    Rounds rounds(static_cast<std::size_t>(ring.rounds()) + 1);
    for (int step = 1; step <= ring.rounds(); ++step) {
        for (const WindowRing::Way way : WindowRing::kWays) {
            if (const auto senders = ring.senders(way, step); senders.count() > 0) {
                rounds[static_cast<std::size_t>(step)].push_back({way, step, senders, piece});
            }
        }
    }
    return rounds;
}

Tensor WindowAttention::over_window(std::string_view what, const WindowRing& ring,
                                    const Arriving& keys, const Sources& others, const PartOf& part,
                                    bool gradient) {
    const PendingGather& gather = *keys.pending;
    const double piece = gather.bytes / (shard_.context * shard_.pieces_of_rank());
    const Rounds shifts = shifts_of(ring, piece);
    const std::size_t rounds = shifts.size() - 1;
    Chain::Waits start{keys.made_by, {}, chain_.end()};
    chain_.wait_for_turn(start);
    const OpIndex first = chain_.next();

    std::vector<Sources> came(rounds + 1);
    Sources parts;  // each adds to what the one before has written
    const auto add_part = [&](std::size_t round) {
        const std::optional<Compute> work = part(round);
        if (work) {
            Sources needs = others + (round == 0 ? keys.made_by : came[round]);
            if (!parts.empty()) {
                needs.push_back(parts.back());
            }
            parts.push_back(chain_.compute(fmt::format("{} {}/{}", what, round + 1, rounds + 1),
                                           *work, std::move(needs)));
        }
        return work.has_value();
    };
    add_part(0);
    for (std::size_t round = 1; round <= rounds; ++round) {
        for (std::size_t way = 0; way < shifts[round].size(); ++way) {
            const Sources before = round == 1 ? Sources{} : Sources{came[round - 1][way]};
            came[round].push_back(shift(gather.what, shifts[round][way], false,
                                        round == 1 ? start : Chain::Waits{before, {}, before}));
        }
        if (!gradient) {
            add_part(round);
        }
    }
    Sources passed_on;  // the sums of the round before, by way
    for (std::size_t round = rounds; gradient && round > 0; --round) {
        const bool works = add_part(round);
        Sources sums;
        for (std::size_t way = 0; way < shifts[round].size(); ++way) {
            Sources after = works ? Sources{parts.back()} : came[round];
            if (way < passed_on.size()) {
                after.push_back(passed_on[way]);
            }
            std::ranges::sort(after);
            sums.push_back(shift(what, shifts[round][way], true, {after, {}, after}));
        }
        passed_on = std::move(sums);
    }
    if (rounds > 0) {
        // Its steps are one collective, which ends with the last of them.
        chain_.count_collective(came[rounds].back());
        hold_rounds(shifts, piece, first, came[rounds], gradient ? &passed_on : nullptr);
    }
    chain_.join(passed_on);
    return {chain_.last(), chain_.last(), Sources{chain_.last()} + passed_on};
}

void WindowAttention::hold_rounds(const Rounds& shifts, double piece, OpIndex first,
                                  const Sources& came, const Sources* passed_on) {
    std::size_t most = 0;
    for (const auto& of_round : shifts) {
        most = std::max(most, of_round.size());
    }
    const double blocks = passed_on != nullptr ? static_cast<double>(shifts.size()) + 1 : 2;
    const BufferId held =
        buffers_.hold(MemoryClass::buffers, piece * static_cast<double>(most) * blocks, first);
    buffers_.release(held, chain_.last());
    for (const OpIndex end : came) {
        buffers_.release(held, end);
    }
    for (const OpIndex end : passed_on != nullptr ? *passed_on : Sources{}) {
        buffers_.release(held, end);
        chain_.count_collective(end);
    }
}

}  // namespace podsim::workloads
