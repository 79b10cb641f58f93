#include "workloads/step/matmul_overlap.h"

#include <fmt/format.h>
#include <utility>

#include "workloads/plan/axis_names.h"

namespace podsim::workloads {

using collectives::Operation;
using collectives::SteppedGather;

OpIndex MatmulOverlap::step(std::string_view what, const PendingGather& array, std::uint32_t step,
                            Operation operation, int direction, bool counts, Chain::Waits waits) {
    const SteppedGather::Step& spec = order(array).steps[step];
    const bool gathers = operation == Operation::all_gather;
    return chain_.beside(
        names_.label(fmt::format("{} {} step {}", gathers ? "gather" : "scatter", what, step + 1)),
        Collective{
            operation,
            array.purpose,
            {array.keys() ? axis::context : axis::tensor},
            sim::Bytes(counts ? array.bytes : 0),
            collectives::RingStep{spec.factor, direction, sim::Bytes(array.bytes * spec.share)}},
        std::move(waits));
}

MatmulOverlap::Parts MatmulOverlap::between_steps(std::string_view what,
                                                  const PendingGather& gather,
                                                  const Sources& source, const Sources& others,
                                                  const PartOf& part, bool sums) {
    const SteppedGather& steps = order(gather);
    Chain::Waits start{source, {}, chain_.end()};
    chain_.wait_for_turn(start);
    Parts parts;
    parts.gathers.resize(steps.steps.size());
    for (std::size_t i = 0; i < steps.pieces.size(); ++i) {
        Sources needs = others;
        for (const std::uint32_t step : steps.pieces[i].steps) {
            Chain::Waits waits;
            for (const std::uint32_t before : steps.steps[step].after) {
                waits.needs.push_back(parts.gathers[before]);
            }
            waits.after = waits.needs;
            const bool counts = i == 1 && step == steps.pieces[i].steps.front();
            parts.gathers[step] = this->step(gather.what, gather, step, Operation::all_gather,
                                             steps.steps[step].direction, counts,
                                             waits.after.empty() ? start : waits);
            needs.push_back(parts.gathers[step]);
        }
        const OpIndex came = needs.empty() ? kWholeStep : needs.back();
        const std::optional<Compute> work = part(i);
        if (work) {
            if (i == 0) {
                needs = std::move(needs) + source;
            }
            if (gather.keys() && !parts.computed.empty()) {
                needs.push_back(parts.computed.back());  // it adds to the output of that one
            }
            parts.computed.push_back(
                chain_.compute(fmt::format("{} {}/{}", what, i + 1, steps.pieces.size()), *work,
                               std::move(needs)));
        }
        if (sums && i > 0) {
            const std::uint32_t step = steps.pieces[i].steps.front();
            parts.passed_on.push_back(work ? parts.computed.back() : came);
            parts.passed_on = {this->step(what, gather, step, Operation::reduce_scatter,
                                          steps.steps[step].direction, i == 1,
                                          {parts.passed_on, {}, parts.passed_on})};
        }
    }
    // The steps are one collective, which ends with the last of them.
    chain_.count_collective(parts.gathers[steps.pieces.back().steps.back()]);
    for (const OpIndex end : parts.passed_on) {
        chain_.count_collective(end);
    }
    chain_.join(parts.passed_on);
    return parts;
}

Tensor MatmulOverlap::matmul(std::string_view what, const RowsWork& work, Arriving& rows,
                             Sources others) {
    if (!rows.pending) {
        const OpIndex op = chain_.compute(what, work.whole(), std::move(others) + rows.made_by);
        return {op, op, {op}};
    }
    const PendingGather gather = *std::exchange(rows.pending, std::nullopt);
    const Parts parts = between_steps(
        what, gather, rows.made_by, others,
        [&](std::size_t piece) { return work.part(order(gather).pieces[piece].share); }, false);
    rows.made_by = std::move(rows.made_by) + parts.gathers;
    return {parts.computed.front(), chain_.last(), parts.computed};
}

Tensor MatmulOverlap::over_keys(std::string_view what, const Compute& work, const Arriving& keys,
                                Sources others, const PartOf& part, bool gradient) {
    if (!keys.pending) {
        const OpIndex op = chain_.compute(what, work, std::move(others) + keys.made_by);
        return {op, op, {op}};
    }
    const PendingGather& gather = *keys.pending;
    const OpIndex first = chain_.next();
    const Parts parts = between_steps(what, gather, keys.made_by, others, part, gradient);
    const OpIndex end = chain_.last();
    // The buffer has the block at work and the one under way, and the sums that go with them.
    const SteppedGather& steps = order(gather);
    const BufferId blocks = buffers_.hold(
        MemoryClass::buffers,
        (gradient ? 4 : 2) * gather.bytes / static_cast<double>(steps.pieces.size()), first);
    buffers_.release(blocks, end);
    // After the last segment, blocks without one may still pass by.
    buffers_.release(blocks, parts.gathers[steps.pieces.back().steps.back()]);
    return {end, end, Sources{end} + parts.passed_on};
}

PartialSums MatmulOverlap::matmul_scattered(std::string_view what, const RowsWork& work,
                                            double bytes, const Sources& needs) {
    if (!steps()) {
        const OpIndex op = chain_.compute(what, work.whole(), needs);
        return {{op, op, {op}}};
    }
    const SteppedGather& order = *overlap_.tensor_steps;
    const PendingGather array{std::string(what), bytes, Purpose::tensor};
    std::vector<OpIndex> steps(order.steps.size());
    std::vector<Sources> sums(order.steps.size());  // sums that a step adds to
    Sources own;
    bool counts = true;
    OpIndex first = kWholeStep;
    for (std::size_t i = order.pieces.size(); i-- > 0;) {
        const SteppedGather::Piece& piece = order.pieces[i];
        const OpIndex part = chain_.compute(
            fmt::format("{} {}/{}", what, order.pieces.size() - i, order.pieces.size()),
            work.part(piece.share), needs);
        first = first == kWholeStep ? part : first;
        const BufferId partial = buffers_.hold(MemoryClass::buffers, bytes * piece.share, part);
        for (const std::uint32_t step : piece.steps) {
            Chain::Waits waits;
            waits.needs = std::move(sums[step]);
            waits.needs.push_back(part);
            waits.after = waits.needs;
            if (counts) {
                chain_.wait_for_turn(waits);
            }
            steps[step] = this->step(what, array, step, Operation::reduce_scatter,
                                     -order.steps[step].direction, std::exchange(counts, false),
                                     std::move(waits));
            for (const std::uint32_t before : order.steps[step].after) {
                sums[before].push_back(steps[step]);
            }
            if (order.steps[step].own) {
                own.push_back(steps[step]);
            }
            buffers_.release(partial, steps[step]);
        }
        if (piece.steps.empty()) {
            buffers_.release(partial, part);
        }
    }
    chain_.count_collective(own.front());
    chain_.join(own);
    own.push_back(chain_.last());  // this chip's own contribution to its rows
    return {{first, chain_.last(), std::move(own)}, true};
}

}  // namespace podsim::workloads
