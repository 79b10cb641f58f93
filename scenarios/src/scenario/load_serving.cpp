#include "scenarios/src/scenario/load_serving.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/check_cache.h"
#include "scenarios/src/scenario/read_requests.h"
#include "scenarios/src/scenario/serving_spec.h"
#include "scenarios/src/scenario/training_step.h"
#include "workloads/models/kv_cache.h"
#include "workloads/plan/validate_inference.h"

namespace podsim::scenarios {
namespace {

constexpr std::int64_t kMostSlots = 1 << 16;
constexpr std::int64_t kMostServers = 1024;
constexpr std::int64_t kMostPages = std::int64_t{1} << 40;

sim::Time parse_duration(const std::string& text) {
    try {
        return sim::round_up(parse_time(text));
    } catch (const sim::TimeOverflow&) {
        throw sim::InputError(
            fmt::format("{} is more than the 106 days that a run can have", in_quotes(text)),
            "write a shorter time");
    }
}

sim::Time parse_objective(const std::string& text) {
    const sim::Time most = parse_duration(text);
    if (most.ps <= 0) {
        throw sim::InputError(fmt::format("no request is answered within {}", in_quotes(text)),
                              "write a time above 0 s, as in 1 s");
    }
    return most;
}

double parse_memory(const std::string& text) {
    const double share = parse_percent(text);
    if (share <= 0 || share > 1) {
        throw sim::InputError(fmt::format("{} is not above 0 % and at most 100 %", text),
                              "write a percentage such as 90 %");
    }
    return share;
}

/// Refuses keys of another batching than the chosen one.
void refuse_keys_of_others(const Reader& serving, const BatchingSpec& batching) {
    const bool chunked = batching.kind == BatchingKind::chunked;
    if (!chunked) {
        refuse_present(serving["budget"], "only chunked batching has a budget",
                       "write batching: chunked");
        refuse_present(serving["mixed"], "only chunked batching mixes steps",
                       "write batching: chunked");
    }
    if (batching.kind == BatchingKind::fixed ||
        (chunked && batching.mixed && serving["mixed"].sound())) {
        refuse_present(serving["interleave"], "prefill and decode steps do not alternate here",
                       "write batching: continuous, or mixed: false");
    }
}

BatchingSpec read_batching(const Reader& serving) {
    constexpr std::pair<std::string_view, BatchingKind> kKinds[] = {
        {"static", BatchingKind::fixed},
        {"continuous", BatchingKind::continuous},
        {"chunked", BatchingKind::chunked}};
    constexpr std::pair<std::string_view, Padding> kPaddings[] = {
        {"none", Padding::none},
        {"power_of_two", Padding::power_of_two},
        {"slots", Padding::slots}};
    BatchingSpec batching;
    batching.kind = serving["batching"].choose<BatchingKind>(kKinds, BatchingKind::continuous);
    batching.slots = serving["slots"].require().whole(1, kMostSlots, 1);
    batching.padding = serving["padding"].choose<Padding>(kPaddings, Padding::none);
    batching.budget = serving["budget"].whole(1, kMostServedTokens, 2048);
    batching.mixed = serving["mixed"].flag(true);
    batching.interleave = serving["interleave"].whole(0, 1 << 20, 0);
    if (serving["batching"].sound()) {
        refuse_keys_of_others(serving, batching);
    }
    return batching;
}

DisaggregationSpec read_disaggregation(const Reader& apart) {
    DisaggregationSpec spec;
    spec.prefill_servers = apart["prefill"].whole(1, kMostServers, 1);
    spec.generate_servers = apart["generate"].whole(1, kMostServers, 1);
    spec.backlog = apart["backlog"].whole(0, 1 << 20, 4);
    spec.rate = apart["rate"].read(parse_rate);
    spec.latency = apart["latency"].get(parse_duration, sim::Time{});
    spec.a_token = apart["bytes"].get(parse_bytes, sim::Bytes(0));
    return spec;
}

/// The budget must hold a decode of every slot, or sequences starve.
void check_budget(const Reader& serving, const ServingSpec& spec) {
    const BatchingSpec& batching = spec.batching;
    const std::int64_t decodes = batching.slots * (1 + spec.speculation.tokens);
    if (batching.kind != BatchingKind::chunked || !batching.mixed || batching.budget >= decodes) {
        return;
    }
    const Reader key = serving[serving["budget"].present() ? "budget" : "slots"];
    key.check({"serving.batching", "serving.slots", "serving.budget", "serving.mixed",
               "serving.speculation"},
              [&] {
                  key.refuse(fmt::format("a budget of {} tokens is less than the {} that {} slots "
                                         "decode",
                                         batching.budget, decodes, batching.slots),
                             "write a larger budget or fewer slots");
              });
}

/// A buffer, and the pages of a server, must hold the longest request.
void check_lengths(const Reader& serving, const ServingSpec& spec,
                   const std::vector<Request>& requests) {
    const Reader length = serving["cache"]["length"];
    const Reader pages = serving["cache"]["pages"];
    if (length.present()) {
        length.check({}, [&] {
            std::int64_t most = 0;
            for (const Request& request : requests) {
                most = std::max(
                    most, most_cached(request.prompt, request.output, spec.speculation.tokens));
            }
            if (most > spec.cache.length) {
                length.refuse(fmt::format("a buffer of {} tokens is less than the {} that a "
                                          "request comes to",
                                          spec.cache.length, most),
                              "write a longer one, or shorter requests");
            }
        });
    }
    if (pages.present() && serving["cache"]["page"].sound()) {
        pages.check({}, [&] {
            try {
                check_cache(spec, requests);
            } catch (const sim::InputError& error) {
                throw pages.located(error);
            }
        });
    }
}

/// A run keeps the time between any two tokens, for which there must be room.
void check_answers(const Reader& serving, const std::vector<Request>& requests) {
    constexpr std::int64_t kMostInAll = 1 << 27;
    std::int64_t tokens = 0;
    for (const Request& request : requests) {
        tokens += request.output;
    }
    if (tokens > kMostInAll) {
        serving["requests"].refuse(
            fmt::format("the answers have {} tokens in all, a run at most {}", tokens, kMostInAll),
            "write fewer requests, or shorter outputs");
    }
}

/// The model must take the longest request with its answer but for the last token, which no step
/// computes.
void check_sequences(const Reader& serving, const workloads::ModelSpec& model,
                     const std::vector<Request>& requests) {
    const auto tokens = [](const Request& one) { return one.prompt + one.output - 1; };
    const auto longest = std::ranges::max_element(requests, {}, tokens);
    if (longest == requests.end()) {
        return;
    }
    if (const auto refused = workloads::too_long(model, tokens(*longest))) {
        const char* key = "prompt";
        for (const char* const other : {"lengths", "trace"}) {
            key = serving[other].present() ? other : key;
        }
        serving[key].refuse(fmt::format("a request of {} + {} tokens is {}", longest->prompt,
                                        longest->output, refused->problem),
                            refused->remedy);
    }
}

/// Generate servers support one kind of batching.
void check_disaggregation(const Reader& serving, const ServingSpec& spec) {
    if (spec.batching.kind != BatchingKind::continuous) {
        serving["batching"].refuse("disaggregated generate servers batch continuously",
                                   "leave it out");
    }
    refuse_present(serving["interleave"], "prefill and decode steps do not alternate here",
                   "leave it out");
}

std::int64_t parse_grid(const std::string& text) {
    if (text == "exact") {
        return 0;
    }
    constexpr std::int64_t kMost = 64;
    std::int64_t points = 0;
    try {
        points = parse_count(text);
    } catch (const sim::InputError&) {
        points = 0;
    }
    if (points < 1 || points > kMost) {
        throw sim::InputError(fmt::format("{} is no grid", in_quotes(text)),
                              "allowed: 1 to 64 points in a factor of two, or exact");
    }
    return points;
}

/// Returns the tokens of a sequence that all chips together keep.
KeptTokens kept_of(const workloads::ModelSpec& model) {
    if (model.window == 0) {
        return {};
    }
    const auto window = static_cast<double>(model.window);
    const auto bytes = [&](double tokens) { return workloads::cache_bytes(model, tokens, 1); };
    return {.window = model.window,
            .beyond = (bytes(2 * window) - bytes(window)) / (bytes(1) * window)};
}

}  // namespace

ServingSpec read_serving(const Reader& serving, const std::filesystem::path& base,
                         const workloads::ModelSpec* model) {
    ServingSpec spec;
    spec.cache.kept = model != nullptr ? kept_of(*model) : KeptTokens{};
    spec.load = read_load(serving.require(), base);
    spec.batching = read_batching(serving);
    const Reader cache = serving["cache"];
    if (cache["pages"].present()) {
        spec.cache.pages = cache["pages"].whole(1, kMostPages, 1);
        spec.cache.pages_at = cache["pages"].mark();
    }
    if (cache["length"].present()) {
        spec.cache.length_at = cache["length"].mark();
    }
    spec.cache.page = cache["page"].whole(1, kMostServedTokens, 16);
    spec.cache.memory = cache["memory"].get<double>(parse_memory, 1);
    spec.cache.length = cache["length"].whole(2, kMostServedTokens, 0);
    spec.cache.reserve = cache["reserve"].flag(false);
    if (const Reader speculation = serving["speculation"]; speculation.present()) {
        spec.speculation.tokens = speculation["tokens"].require().whole(1, 64, 1);
        spec.speculation.acceptance = speculation["acceptance"].read(parse_share);
    }
    if (const Reader apart = serving["disaggregated"]; apart.present()) {
        check_disaggregation(serving, spec);
        spec.disaggregation = read_disaggregation(apart);
    }
    const Reader objective = serving["objective"];
    if (objective["first_token"].present()) {
        spec.objective.first_token = objective["first_token"].read(parse_objective);
    }
    if (objective["token"].present()) {
        spec.objective.a_token = objective["token"].read(parse_objective);
    }
    spec.host = serving["host"].get(parse_duration, sim::Time{});
    serving["grid"].may_be("exact");
    spec.per_octave = serving["grid"].get(parse_grid, std::int64_t{4});
    check_budget(serving, spec);
    if (const auto requests = draw_sound_requests(serving, spec.load)) {
        check_lengths(serving, spec, *requests);
        check_answers(serving, *requests);
        if (model != nullptr) {
            check_sequences(serving, *model, *requests);
        }
    }
    return spec;
}

std::shared_ptr<const ServingSpec> load_serving(const Reader& serving,
                                                const std::filesystem::path& base,
                                                const Scenario& server) {
    auto spec = std::make_shared<ServingSpec>();
    const workloads::ModelSpec* model = nullptr;
    serving.check({"model"}, [&] { model = &server.step().model; });
    serving.check({}, [&] { *spec = read_serving(serving, base, model); });
    serving.check({"hardware", "model", "inference", "serving"}, [&] {
        if (!serving["host"].present()) {
            spec->host = sim::round_up(sim::Seconds(server.hardware.efficiency.host_s));
        }
        spec->host_beside = server.step().plan.inference->asynchronous;
        if (spec->disaggregation && spec->disaggregation->a_token.value() == 0) {
            const TrainingStep& step = server.step();
            spec->disaggregation->a_token =
                workloads::cache_bytes(step.model, 1, step.plan.inference->cache_element);
            spec->disaggregation->kept = kept_of(step.model);
        }
    });
    return spec;
}

}  // namespace podsim::scenarios
