#include "scenarios/serve/batching.h"

#include <algorithm>
#include <limits>

namespace podsim::scenarios {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

/// A step under way to be decided.
class Planner {
public:
    Planner(Batch& batch, std::int64_t budget) : batch_(batch), budget_(budget) {}

    /// The next tokens of a sequence that runs, as far as the budget goes. Where pages are short, others go first, and last
    /// itself (vLLM: the one admitted last is preempted until the pages suffice).
    void add_running(Sequence& sequence) {
        const bool decode = sequence.decoding();
        const std::int64_t wanted = decode ? batch_.step_tokens() : sequence.todo();
        const std::int64_t tokens = std::min(wanted, budget_);
        if (make_room(sequence, sequence.cached + tokens)) {
            add(sequence, tokens, decode);
        }
    }

    /// Prompts from the line, first come first served, until budget, slots or pages end. With `whole_pages` one is taken
    /// when there are pages for all of its known tokens, otherwise when there are for those of this step.
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

    /// Decodes of all that run and have their first token.
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

/// A batch of what waits runs to the end of its longest.
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

/// vLLM: the sequences that run in the order in which they were taken, decodes and chunks alike; then, if none was
/// preempted, from the line.
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

/// Prefill steps apart from decode steps and before them: one prompt a step (JetStream), or as many tokens as the budget
/// has, the last prompt cut (sglang).
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
                if (!sequence->decoding()) {  // what the step before cut: its pages are taken
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

/// Caches that have come are taken when there are a slot and the pages of the next step.
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

}  // namespace podsim::scenarios
