#include "scenarios/src/serve/step_cost.h"

#include <algorithm>
#include <limits>

#include "scenarios/src/scenario/check_cache.h"

namespace podsim::scenarios {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

/// Collects the work of one step.
class Planner {
public:
    Planner(Batch& batch, std::int64_t budget) : batch_(batch), budget_(budget) {}

    /// Adds the next tokens of a running sequence, within the budget. If pages are short, others
    /// are preempted first, and the sequence itself last (vLLM: preempts the last admitted one
    /// until the pages suffice).
    void add_running(Sequence& sequence) {
        const bool decode = sequence.decoding();
        const std::int64_t wanted = decode ? batch_.step_tokens() : sequence.todo();
        const std::int64_t tokens = std::min(wanted, budget_);
        if (make_room(sequence, sequence.cached + tokens)) {
            add(sequence, tokens, decode);
        }
    }

    /// Admits prompts from the line, first come first served, until budget, slots or pages end.
    /// With `whole_pages` a prompt needs pages for all of its known tokens, otherwise only for
    /// those of this step.
    void admit(std::int64_t most, bool whole_pages) {
        while (most > 0 && budget_ > 0 && !batch_.line().empty()) {
            const Sequence& next = batch_.line().front();
            const std::int64_t tokens = std::min(next.todo(), budget_);
            Sequence* const taken =
                batch_.admit_front(next.cached + (whole_pages ? next.todo() : tokens));
            if (taken == nullptr) {
                return;
            }
            add(*taken, tokens, false);
            --most;
        }
    }

    /// Adds decodes of all running sequences that have their first token.
    void add_decodes() {
        for (Sequence* const sequence : std::vector<Sequence*>(batch_.running())) {
            if (sequence->running && sequence->decoding()) {
                add_running(*sequence);
            }
        }
    }

    void add(Sequence& sequence, std::int64_t tokens, bool decode) {
        plan_.parts.push_back({&sequence, tokens, decode});
        budget_ -= tokens;
    }

    [[nodiscard]] bool has_budget() const { return budget_ > 0; }
    [[nodiscard]] bool preempted() const { return preempted_; }
    [[nodiscard]] StepPlan result() { return std::move(plan_); }

private:
    bool make_room(Sequence& sequence, std::int64_t cached_then) {
        while (!batch_.grow(sequence, cached_then)) {
            Sequence& victim = batch_.victim();
            preempted_ = true;
            batch_.preempt(victim);
            std::erase_if(plan_.parts, [&](const StepPart& part) {
                budget_ += part.sequence == &victim ? part.tokens : 0;
                return part.sequence == &victim;
            });
            if (&victim == &sequence) {
                return false;
            }
        }
        return true;
    }

    Batch& batch_;
    std::int64_t budget_;
    bool preempted_ = false;
    StepPlan plan_;
};

/// Batches all waiting sequences and runs until the longest is finished.
class StaticBatching final : public Batching {
public:
    StepPlan plan(Batch& batch) override {
        Planner planner(batch, kUnlimited);
        if (batch.running().empty()) {
            batch.release_held();
            planner.admit(kUnlimited, true);
        } else {
            planner.add_decodes();
        }
        return planner.result();
    }
    [[nodiscard]] bool holds_finished() const override { return true; }
};

/// vLLM: running sequences in order of admission, decodes and chunks alike; then, if none was
/// preempted, sequences from the line.
class MixedBatching final : public Batching {
public:
    explicit MixedBatching(std::int64_t budget) : budget_(budget) {}

    StepPlan plan(Batch& batch) override {
        Planner planner(batch, budget_);
        for (Sequence* const sequence : std::vector<Sequence*>(batch.running())) {
            if (sequence->running && planner.has_budget()) {
                planner.add_running(*sequence);
            }
        }
        if (!planner.preempted()) {
            planner.admit(kUnlimited, false);
        }
        return planner.result();
    }

private:
    std::int64_t budget_;
};

/// Separate prefill steps before decode steps: one prompt a step (JetStream), or as many tokens as
/// the budget has, with the last prompt cut (sglang).
class PrefillFirst final : public Batching {
public:
    PrefillFirst(std::int64_t budget, std::int64_t prompts, std::int64_t interleave)
        : budget_(budget), prompts_(prompts), interleave_(interleave) {}

    StepPlan plan(Batch& batch) override {
        const bool decoding =
            std::ranges::any_of(batch.running(), [](const Sequence* s) { return s->decoding(); });
        if (!decoding || decodes_ >= interleave_) {
            Planner prefill(batch, budget_);
            for (Sequence* const sequence : batch.running()) {
                if (!sequence->decoding()) {  // cut in an earlier step: it has its pages
                    prefill.add(*sequence, std::min(sequence->todo(), budget_), false);
                }
            }
            prefill.admit(prompts_, true);
            StepPlan plan = prefill.result();
            if (!plan.parts.empty()) {
                decodes_ = 0;
                return plan;
            }
        }
        Planner decode(batch, kUnlimited);
        decode.add_decodes();
        ++decodes_;
        return decode.result();
    }

private:
    std::int64_t budget_;
    std::int64_t prompts_;
    std::int64_t interleave_;
    std::int64_t decodes_ = 0;  ///< since the last prefill step
};

/// Admits received caches if there are a slot and the pages of the next step.
class GenerateBatching final : public Batching {
public:
    StepPlan plan(Batch& batch) override {
        Planner planner(batch, kUnlimited);
        planner.add_decodes();
        while (!planner.preempted() && !batch.line().empty()) {
            Sequence* const taken =
                batch.admit_front(batch.line().front().cached + batch.step_tokens());
            if (taken == nullptr) {
                break;
            }
            planner.add(*taken, batch.step_tokens(), true);
        }
        return planner.result();
    }
};

/// Adds a sequence that decodes behind its cache.
void add_decode(StepShape& shape, std::int64_t cached, std::int64_t window) {
    ++shape.decoding;
    shape.decode_cached += cached;
    if (window > 0 && cached + 1 >= window) {
        ++shape.full;
        shape.full_cached += cached;
    }
}

}  // namespace

std::unique_ptr<Batching> make_batching(const ServingSpec& spec) {
    const BatchingSpec& batching = spec.batching;
    switch (batching.kind) {
        case BatchingKind::fixed:
            return std::make_unique<StaticBatching>();
        case BatchingKind::continuous:
            return std::make_unique<PrefillFirst>(kUnlimited, 1, batching.interleave);
        case BatchingKind::chunked:
            break;
    }
    if (batching.mixed) {
        return std::make_unique<MixedBatching>(batching.budget);
    }
    return std::make_unique<PrefillFirst>(batching.budget, kUnlimited, batching.interleave);
}

std::unique_ptr<Batching> make_generate_batching() {
    return std::make_unique<GenerateBatching>();
}

StepShape shape_of(const StepPlan& plan, const Batch& batch, const ServingSpec& spec) {
    StepShape shape;
    for (const StepPart& part : plan.parts) {
        if (part.decode) {
            add_decode(shape, part.sequence->cached, spec.cache.kept.window);
            shape.decode_tokens = batch.step_tokens();
            continue;
        }
        shape.prompts.push_back(
            {part.tokens, part.sequence->cached, part.tokens == part.sequence->todo()});
    }
    std::ranges::sort(shape.prompts);
    if (shape.decoding > 0) {
        for (const Sequence* const sequence : batch.held()) {
            add_decode(shape, sequence->cached, spec.cache.kept.window);
        }
    }
    return as_compiled(shape, spec);
}

StepShape as_compiled(StepShape shape, const ServingSpec& spec) {
    const std::int64_t compiled = padded(shape.decoding, spec.batching);
    if (spec.cache.length > 0) {  // buffers of unused slots are read as well
        shape.decoding = compiled;
        shape.decode_cached = compiled * (spec.cache.length - shape.decode_tokens);
        shape.full = 0;
    }
    if (shape.full == 0 || shape.full == shape.decoding) {  // all are alike
        shape.full = 0;
        shape.full_cached = 0;
    }
    shape.padding = (compiled - shape.decoding) * shape.decode_tokens;
    return shape;
}

sim::Time StepCost::of(const StepShape& shape, bool ahead) const {
    const sim::Time device = on_device(shape);
    return spec_.host_beside && ahead ? std::max(spec_.host, device) : spec_.host + device;
}

sim::Time StepCost::on_device(const StepShape& shape) const {
    sim::Time time = times_.time_of(shape);
    if (draft_ == nullptr || spec_.speculation.tokens == 0) {
        return time;
    }
    if (!shape.prompts.empty()) {
        time += draft_->time_of({.prompts = shape.prompts});
    }
    StepShape drafting{.decoding = shape.decoding,
                       .decode_cached = shape.decode_cached,
                       .full = shape.full,
                       .full_cached = shape.full_cached};
    for (std::int64_t i = 0; shape.decoding > 0 && i < spec_.speculation.tokens; ++i) {
        time += draft_->time_of(drafting);
        drafting.decode_cached += drafting.decoding;
        drafting.full_cached += drafting.full;
    }
    return time;
}

}  // namespace podsim::scenarios
