#include "scenarios/src/serve/serving_loop.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "scenarios/src/scenario/check_cache.h"
#include "scenarios/src/serve/audit.h"
#include "scenarios/src/serve/prefill_pool.h"
#include "scenarios/src/serve/run_log.h"
#include "scenarios/src/serve/step_cost.h"
#include "sim/queue/event_queue.h"

namespace podsim::scenarios {
namespace {

using sim::Time;

enum class Happens : std::uint64_t { arrival, step_end, prefill_end, transfer_end };

constexpr unsigned kKindBits = 2;

sim::Event event_at(Time time, Happens what, std::size_t number) {
    return {time,
            static_cast<std::uint64_t>(number) << kKindBits | static_cast<std::uint64_t>(what)};
}

/// A server that decodes, and computes prompts unless others do.
struct Engine {
    Engine(const ServingSpec& spec, WaitingLine& from, WaitingLine& back,
           std::unique_ptr<Batching> rule)
        : batch(spec, from, back), batching(std::move(rule)) {}

    Batch batch;
    std::unique_ptr<Batching> batching;
    StepPlan step;  ///< current step; without parts it is idle
    Level running;
    Level pages;
    sim::Time busy;
    sim::Time ended{-1};  ///< end of its last step
    std::int64_t steps = 0;
    std::int64_t prefill_tokens = 0;
};

/// The line of one generate server.
struct GenerateLine {
    WaitingLine line;
    std::uint64_t tickets = 0;
};

class Loop {
public:
    Loop(const ServingSpec& spec, const ServingTimes& times, Watch* watch)
        : spec_(spec),
          watch_(watch),
          requests_(draw_requests(spec.load)),
          steps_(spec, *times.steps, times.draft),
          prefills_(spec, times.prefill != nullptr ? *times.prefill : *times.steps, times.draft),
          audit_(requests_),
          log_(requests_, spec.cache.page) {
        make_sequences();
        if (spec.disaggregation.has_value()) {
            const DisaggregationSpec& apart = *spec.disaggregation;
            default_transfer_ = std::make_unique<RateTransferTimes>(apart);
            transfer_ = times.transfer != nullptr ? times.transfer : default_transfer_.get();
            pool_.emplace(apart);
            lines_ = std::vector<GenerateLine>(static_cast<std::size_t>(apart.generate_servers));
            for (GenerateLine& own : lines_) {
                engines_.push_back(
                    std::make_unique<Engine>(spec, own.line, entrance_, make_generate_batching()));
            }
        } else {
            engines_.push_back(
                std::make_unique<Engine>(spec, entrance_, entrance_, make_batching(spec)));
        }
    }

    ServingResult run() {
        const bool closed = spec_.load.arrivals == ArrivalKind::concurrency;
        first_wave_ =
            closed ? std::min(requests_.size(), static_cast<std::size_t>(spec_.load.concurrency))
                   : requests_.size();
        for (; issued_ < first_wave_; ++issued_) {
            queue_.push(event_at(requests_[issued_].arrival, Happens::arrival, issued_));
        }
        std::vector<sim::Event> instant;
        while (!queue_.empty()) {
            instant.clear();
            queue_.pop_instant(instant);
            now_ = instant.front().time;
            for (const sim::Event& event : instant) {
                happen(event);
            }
            log_.events(instant.size());
            start_idle_servers();
            observe();
        }
        audit_.all_served();
        ServingResult result = std::move(log_).result(now_);
        add_servers(result);
        return result;
    }

private:
    void make_sequences() {
        check_cache(spec_, requests_);
        const std::int64_t page = spec_.cache.page;
        sequences_.reserve(requests_.size());
        for (std::size_t i = 0; i < requests_.size(); ++i) {
            const Request& request = requests_[i];
            Sequence sequence{.request = i,
                              .prompt = request.prompt,
                              .output = request.output,
                              .prefix = request.prefix / page * page,
                              .priority = request.priority,
                              .ticket = i,
                              .draws = Draws(spec_.load.seed, kDraftStreams + i)};
            sequence.shared = spec_.load.common_prefix > 0 ? sequence.prefix : 0;
            sequence.cached = sequence.prefix;
            sequences_.push_back(sequence);
        }
    }

    void happen(const sim::Event& event) {
        const auto number = static_cast<std::size_t>(event.what >> kKindBits);
        switch (static_cast<Happens>(event.what & ((1U << kKindBits) - 1))) {
            case Happens::arrival:
                return arrive(number);
            case Happens::step_end:
                return end_step(*engines_[number]);
            case Happens::prefill_end:
                return end_prefill(number);
            case Happens::transfer_end:
                return end_transfer(number);
        }
    }

    void arrive(std::size_t request) {
        audit_.arrived(request);
        log_.arrived(request, now_);
        sequences_[request].came = now_;
        entrance_.push(sequences_[request]);
    }

    void start_idle_servers() {
        for (std::size_t i = 0; i < engines_.size(); ++i) {
            if (engines_[i]->step.parts.empty()) {
                start_step(i);
            }
        }
        // After the generate servers, which may send sequences back to these.
        for (std::size_t server = 0; pool_.has_value() && server < pool_->size(); ++server) {
            if (pool_->free(server) && !entrance_.empty()) {
                start_prefill(server);
            }
        }
    }

    void start_step(std::size_t number) {
        Engine& engine = *engines_[number];
        engine.step = engine.batching->plan(engine.batch);
        for (const Sequence* const sequence : engine.batch.take_preempted()) {
            audit_.preempted(sequence->request);
            log_.preempted(sequence->request);
        }
        for (Sequence* const sequence : engine.batch.take_admitted()) {
            taken(engine.batch.line(), *sequence);
        }
        if (!engine.step.parts.empty()) {
            const StepShape shape = shape_of(engine.step, engine.batch, spec_);
            // A host beside the device prepares only for sequences that arrived before the last
            // step ended.
            const bool ahead = engine.ended == now_ &&
                               std::ranges::any_of(engine.step.parts, [&](const StepPart& part) {
                                   return part.sequence->came < now_;
                               });
            const Time takes = steps_.of(shape, ahead);
            engine.busy += takes;
            ++engine.steps;
            engine.prefill_tokens += shape.prompt_tokens();
            queue_.push(event_at(now_ + takes, Happens::step_end, number));
        }
    }

    /// Records that a server took a sequence from a line.
    void taken(const WaitingLine& line, Sequence& sequence) {
        audit_.admitted(line, sequence);
        if (sequence.made == 0 && !sequence.preempted) {
            log_.started(sequence.request, now_);
        }
        sequence.preempted = false;
    }

    void end_step(Engine& engine) {
        const StepPlan step = std::exchange(engine.step, {});
        engine.ended = now_;
        for (const StepPart& part : step.parts) {
            Sequence& sequence = *part.sequence;
            std::int64_t made = 0;
            if (part.decode) {
                made = decoded(sequence, part.tokens);
                sequence.cached += made;
            } else {
                sequence.cached += part.tokens;
                made = sequence.todo() == 0 ? 1 : 0;
            }
            make_tokens(sequence, made);
            if (sequence.finished()) {
                engine.batching->holds_finished() ? engine.batch.hold(sequence)
                                                  : engine.batch.leave(sequence);
                finish(sequence);
            }
        }
        if (engine.batching->holds_finished() && engine.batch.running().empty()) {
            engine.batch.release_held();
        }
    }

    /// Returns the tokens of a decode: one, and the drafted ones before the first rejection.
    std::int64_t decoded(Sequence& sequence, std::int64_t tokens) {
        std::int64_t accepted = 0;
        while (accepted < tokens - 1 && sequence.draws.uniform() < spec_.speculation.acceptance) {
            ++accepted;
        }
        const std::int64_t made = std::min(accepted + 1, sequence.output - sequence.made);
        log_.decoded(tokens - 1, accepted, made);
        return made;
    }

    void make_tokens(Sequence& sequence, std::int64_t tokens) {
        if (tokens == 0) {
            return;
        }
        audit_.made(sequence.request, tokens);
        log_.made(sequence.request, now_);
        sequence.made += tokens;
    }

    void finish(Sequence& sequence) {
        audit_.finished(sequence.request);
        log_.finished(sequence.request, now_);
        ++finished_;
        tell(watch_, Phase::serving,
             static_cast<double>(finished_) / static_cast<double>(requests_.size()));
        if (issued_ < requests_.size()) {  // a closed loop: its client asks again at once
            queue_.push(event_at(now_, Happens::arrival, issued_++));
        }
    }

    void start_prefill(std::size_t server) {
        Sequence& sequence = entrance_.front();
        entrance_.pop();
        taken(entrance_, sequence);
        const StepShape shape{.prompts = {{sequence.todo(), sequence.cached, true}}};
        const Time takes =
            prefills_.of(shape, pool_->use(server).ended == now_ && sequence.came < now_);
        pool_->start(server, sequence, takes);
        queue_.push(event_at(now_ + takes, Happens::prefill_end, server));
    }

    void end_prefill(std::size_t server) {
        Sequence& sequence = pool_->end(server, now_);
        sequence.cached += sequence.todo();
        make_tokens(sequence, 1);
        if (sequence.finished()) {
            finish(sequence);
            return;
        }
        if (pool_->send(server, sequence)) {
            start_transfer(server, sequence);
        }
    }

    void start_transfer(std::size_t server, const Sequence& sequence) {
        // A generate server already has the common prefix.
        const Time takes = transfer_->time_of(sequence.cached - sequence.shared);
        log_.transfer(takes);
        queue_.push(event_at(now_ + takes, Happens::transfer_end, server));
    }

    /// Ends a transfer. The sequence goes to the server with the shortest line; among equals, to
    /// the one with the fewest sequences.
    void end_transfer(std::size_t server) {
        Sequence& sequence = pool_->sent(server);
        const auto load = [&](std::size_t i) {
            return std::pair(lines_[i].line.size(), engines_[i]->batch.running().size());
        };
        std::size_t least = 0;
        for (std::size_t i = 1; i < lines_.size(); ++i) {
            least = load(i) < load(least) ? i : least;
        }
        audit_.moved(sequence.request);
        sequence.ticket = lines_[least].tickets++;
        sequence.came = now_;
        lines_[least].line.push(sequence);
        if (const Sequence* const next = pool_->next(server)) {
            start_transfer(server, *next);
        }
    }

    void observe() {
        std::size_t waiting = entrance_.size();
        for (const GenerateLine& own : lines_) {
            waiting += own.line.size();
        }
        log_.waiting(waiting, now_);
        for (const auto& engine : engines_) {
            Audit::pages(engine->batch);
            engine->running.set(now_, static_cast<std::int64_t>(engine->batch.running().size()));
            engine->pages.set(now_, engine->batch.cache().used());
        }
    }

    void add_servers(ServingResult& result) const {
        for (const auto& engine : engines_) {
            result.generate.push_back({.busy = engine->busy,
                                       .steps = engine->steps,
                                       .prefill_tokens = engine->prefill_tokens,
                                       .mean_running = engine->running.mean(),
                                       .most_running = engine->running.most(),
                                       .mean_pages = engine->pages.mean(),
                                       .most_pages = engine->batch.cache().peak()});
        }
        const double took = result.took().seconds();
        for (std::size_t i = 0; pool_.has_value() && i < pool_->size(); ++i) {
            const PrefillPool::Use& use = pool_->use(i);
            result.prefill.push_back({.busy = use.busy,
                                      .steps = use.steps,
                                      .prefill_tokens = use.tokens,
                                      .mean_running = took > 0 ? use.busy.seconds() / took : 0,
                                      .most_running = use.steps > 0 ? 1 : 0});
        }
    }

    /// Streams below are for the arrivals.
    static constexpr std::uint64_t kDraftStreams = 16;

    const ServingSpec& spec_;
    Watch* watch_;
    std::vector<Request> requests_;
    StepCost steps_;
    StepCost prefills_;
    std::unique_ptr<TransferTimes> default_transfer_;
    const TransferTimes* transfer_ = nullptr;
    std::vector<Sequence> sequences_;
    WaitingLine entrance_;
    std::vector<GenerateLine> lines_;
    std::optional<PrefillPool> pool_;
    std::vector<std::unique_ptr<Engine>> engines_;
    sim::EventQueue queue_;
    Time now_;
    std::size_t first_wave_ = 0;
    std::size_t issued_ = 0;
    std::size_t finished_ = 0;
    Audit audit_;
    RunLog log_;
};

}  // namespace

ServingResult serve(const ServingSpec& spec, const ServingTimes& times, Watch* watch) {
    return Loop(spec, times, watch).run();
}

}  // namespace podsim::scenarios
