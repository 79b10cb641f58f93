#include "workloads/step/forward_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "workloads/models/model.h"
#include "workloads/plan/axis_names.h"
#include "workloads/plan/plan.h"
#include "workloads/step/row_exchange.h"

namespace podsim::workloads {
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

using collectives::Operation;

OpIndex WindowAttention::shift(std::string_view what, const Shift& shift, bool back,
                               Chain::Waits waits) {
    const int direction = shift.way == WindowRing::Way::up ? 1 : -1;
    collectives::RingStep step{.factor = 0,
                               .direction = back ? -direction : direction,
                               .bytes = sim::Bytes(shift.bytes),
                               .senders = std::pair{shift.senders.first, shift.senders.last}};
    if (back) {  // the receivers send
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
    Sources parts;  // each adds to the output of the one before
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
    Sources passed_on;  // the sums of the round before, by direction
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
        // The steps are one collective, which ends with the last of them.
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

BufferId HostOffload::offload(std::string_view name, double bytes, OpIndex from,
                              const Sources& made_by, OpIndex last_use) {
    const std::size_t use = weights_.use();
    if (away_.empty() || away_.back().use != use) {
        const std::vector<WeightUse>& uses = weights_.uses();
        const auto needs_them = [&](const WeightUse& later) {
            return later.pass == Pass::backward && later.layer == uses[use].layer &&
                   later.microbatch == uses[use].microbatch;
        };
        const auto back = std::ranges::find_if(uses, needs_them);
        away_.push_back({.use = use, .back = static_cast<std::size_t>(back - uses.begin())});
    }
    const BufferId leaves = buffers_.hold(MemoryClass::activations, bytes, from);
    buffers_.release(leaves, last_use);
    const BufferId returns = buffers_.hold(MemoryClass::activations, bytes, from);
    comes_back_.resize(returns + 1);
    comes_back_[returns] = true;
    away_.back().tensors.push_back({.name = std::string(name),
                                    .from = from,
                                    .made_by = made_by,
                                    .leaves = leaves,
                                    .returns = returns});
    return returns;
}

void HostOffload::bring_back(Tensor& tensor) const {
    if (tensor.buffer < comes_back_.size() && comes_back_[tensor.buffer]) {
        tensor.made_by = {buffers_.filled_by(tensor.buffer)};
    }
}

OpIndex HostOffload::transfer(std::size_t use, std::string_view what,
                              collectives::HostDirection direction, BufferId buffer,
                              Chain::Waits waits) {
    const WeightUse& of = weights_.uses()[use];
    return chain_.beside(names_.label(of.part, of.pass, of.layer, of.microbatch, what),
                         HostTransfer{direction, buffers_.bytes(buffer)}, std::move(waits));
}

void HostOffload::store(Layer& layer) {
    for (Layer::Stored& tensor : layer.tensors) {
        if (tensor.stored != kWholeStep) {
            continue;
        }
        Sources after;
        if (tensor.from != kWholeStep) {
            after.push_back(tensor.from);
        }
        tensor.stored = transfer(layer.use, fmt::format("offload {}", tensor.name),
                                 collectives::HostDirection::to_host, tensor.leaves,
                                 {tensor.made_by, {}, std::move(after)});
        buffers_.release(tensor.leaves, tensor.stored);
    }
}

void HostOffload::fetch(Layer& layer) {
    const std::size_t start = may_fetch(layer);
    // A stretch that is over by then has waited for the stores. Omitting these waits keeps
    // repeated layers alike.
    const bool stored = start > awaits(layer);
    for (const Layer::Stored& tensor : layer.tensors) {
        Chain::Waits waits;
        waits.needs = {tensor.stored};
        if (!stored) {
            waits.after.push_back(tensor.stored);
        }
        if (start > 0) {
            waits.limits.push_back(weights_.end_of(start - 1));
            waits.after.push_back(weights_.end_of(start - 1));
        }
        std::ranges::sort(waits.after);
        layer.fetched.push_back(transfer(layer.back, fmt::format("fetch {}", tensor.name),
                                         collectives::HostDirection::to_chip, tensor.returns,
                                         std::move(waits)));
        buffers_.fill(tensor.returns, layer.fetched.back());
    }
}

std::size_t HostOffload::awaits(const Layer& layer) const {
    return weights_.first_at(static_cast<double>(layer.use) + 1 + std::ceil(fetch_));
}

std::size_t HostOffload::may_fetch(const Layer& layer) const {
    return weights_.first_at(static_cast<double>(layer.back) - fetch_);
}

void HostOffload::begin_stretch() {
    const std::size_t stretch = weights_.stretch();
    const std::size_t use = weights_.use();
    for (Layer& layer : away_) {
        if (layer.use == use) {
            continue;  // it still grows
        }
        if (stretch >= awaits(layer) && !layer.awaited) {
            store(layer);
            for (const Layer::Stored& tensor : layer.tensors) {
                chain_.bound({tensor.stored});
            }
            layer.awaited = true;
        }
        if (stretch >= may_fetch(layer) && layer.fetched.empty()) {
            store(layer);
            fetch(layer);
        }
        if (use == layer.back) {
            chain_.await(layer.fetched);
        }
    }
    std::erase_if(away_, [&](const Layer& layer) { return layer.back == use; });
}

void StageMessages::begin_unit() {
    unit_before_began_ = std::exchange(unit_began_, chain_.last());
}

Tensor StageMessages::receive(std::string_view what, const Handover& handover) {
    Sources after;
    if (unit_before_began_ != kWholeStep) {
        after.push_back(unit_before_began_);
    }
    const OpIndex received = chain_.beside(names_.label(what), handover, {{}, after, after});
    chain_.continue_behind(received);
    return {received, received, {received}};
}

void StageMessages::send(std::string_view what, const Handover& handover, const Tensor& sent) {
    buffers_.hold_between(
        MemoryClass::buffers, handover.bytes.value(), chain_.last(),
        chain_.beside(names_.label(what), handover, {sent.made_by, {}, chain_.end()}));
}

Tensor StageMessages::receive_rows(std::string_view what, Handover handover) {
    handover.bytes = sim::Bytes(own_row_bytes(shard_));
    return receive(what, handover);
}

void StageMessages::send_rows(std::string_view what, Handover handover, const Tensor& rows) {
    handover.bytes = sim::Bytes(own_row_bytes(shard_));
    send(what, handover, rows);
}

ForwardParts::ForwardParts(const ModelSpec& model, const TrainingPlan& of_step, const Ranks& ranks,
                           std::vector<WeightUse> uses)
    : plan(std::make_shared<const TrainingPlan>(of_step)),
      ways(plan->ways),
      remat(plan->remat),
      bounds(plan->overlap),
      shard(make_shard(model, *plan, ranks)),
      sharding(model, ways, bounds.weights, plan->inference.has_value()),
      names(plan->batch.microbatches),
      chain(bounds, names),
      weights(bounds, plan->precision, sharding, names, chain, buffers, std::move(uses)),
      host(bounds, weights, names, chain, buffers),
      overlap(bounds, ways.tensor, shard, names, chain, buffers),
      exchange(ways, plan->experts, shard, overlap, names, chain, buffers),
      window(shard, names, chain, buffers),
      messages(shard, names, chain, buffers) {
    if (model.global != GlobalAttention{}) {
        of_kinds_ = {make_shard(model, *plan, ranks, false), shard};
    }
}

void ForwardParts::enter(LayerKind kind) {
    if (!of_kinds_.empty()) {
        shard = of_kinds_[kind.local ? 1 : 0];
    }
}

const Seen& ForwardParts::seen(LayerKind kind) {
    std::optional<Seen>& known = seen_[kind.local ? 1 : 0];
    if (!known) {
        known = seen_by_chip(shard, kind.local);
    }
    return *known;
}

void ForwardParts::begin_unit(int microbatch) {
    names.set_microbatch(microbatch);
    chain.begin_unit();
    chain.begin_turn();
    messages.begin_unit();
}

void ForwardParts::begin_use() {
    chain.begin_turn();
    weights.begin_use();
    host.begin_stretch();
}

void ForwardParts::reads(Matrix matrix) {
    if (weights.reads(matrix)) {
        host.begin_stretch();
    }
}

Tensor ForwardParts::compute(std::string_view what, Compute work, Sources needs) {
    const OpIndex op = chain.compute(what, std::move(work), std::move(needs));
    return {op, op, {op}};
}

Tensor ForwardParts::with_weights(std::string_view what, Compute work, Sources needs) {
    Tensor made = compute(what, std::move(work), std::move(needs) + weights.gathered());
    weights.were_read();
    return made;
}

Tensor ForwardParts::matmul(std::string_view what, const RowsWork& work, Arriving& rows,
                            Sources others) {
    Tensor made = overlap.matmul(what, work, rows, std::move(others) + weights.gathered());
    weights.were_read();
    return made;
}

PartialSums ForwardParts::matmul_scattered(std::string_view what, const RowsWork& work,
                                           double bytes, Sources needs) {
    if (shard.precision.finds_scales() && work.whole().dtype != MatmulDtype::bf16) {
        // The contracted dimension is split, so that scales of rows and columns are
        // those of all shards.
        constexpr double kMagnitude = 4;  // bytes
        needs = exchange
                    .all_reduce(words("scales of", what), work.scales() * kMagnitude,
                                {chain.next(), chain.next(), std::move(needs)})
                    .made_by;
    }
    PartialSums made =
        overlap.matmul_scattered(what, work, bytes, std::move(needs) + weights.gathered());
    weights.were_read();
    return made;
}

StepProgram ForwardParts::finish() {
    StepProgram program = chain.finish();
    program.buffers = buffers.finish();
    return program;
}

}  // namespace podsim::workloads
