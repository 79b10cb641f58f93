#include "scenarios/load/load_serving.h"

#include <fmt/format.h>
#include <string>

#include "scenarios/requests/trace_file.h"
#include "scenarios/serve/serving_spec.h"
#include "scenarios/spec/training_step.h"
#include "scenarios/text/quantity_text.h"
#include "scenarios/text/quote.h"
#include "workloads/analytic/kv_cache.h"

namespace podsim::scenarios {
namespace {

constexpr std::int64_t kMostTokens = 1 << 24;
constexpr std::int64_t kMostRequests = 1000000;
constexpr std::int64_t kMostSlots = 1 << 16;
constexpr std::int64_t kMostServers = 1024;
constexpr std::int64_t kMostPages = std::int64_t{1} << 40;

/// `4 requests/s`, `0.5`.
double parse_request_rate(std::string text) {
    constexpr std::string_view kUnit = "requests/s";
    if (text.ends_with(kUnit)) {
        text.resize(text.size() - kUnit.size());
        text.erase(text.find_last_not_of(' ') + 1);
    }
    const double rate = parse_number(text);
    if (!(rate >= 1e-6 && rate <= 1e9)) {
        throw sim::InputError(fmt::format("{} is out of range", in_quotes(text)),
                              "allowed: 1e-6 to 1e9 requests/s");
    }
    return rate;
}

sim::Time parse_duration(const std::string& text) {
    return sim::round_up(parse_time(text));
}

sim::Time parse_objective(const std::string& text) {
    const sim::Time most = parse_duration(text);
    if (most.ps <= 0) {
        throw sim::InputError(fmt::format("no request is answered within {}", in_quotes(text)),
                              "write a time above 0 s, as in 1 s");
    }
    return most;
}

double parse_share(const std::string& text) {
    const double share = parse_percent(text);
    if (share < 0 || share > 1) {
        throw sim::InputError(fmt::format("{} is not from 0 % to 100 %", in_quotes(text)),
                              "write a percentage such as 80 %");
    }
    return share;
}

double parse_memory(const std::string& text) {
    const double share = parse_percent(text);
    if (share <= 0 || share > 1) {
        throw sim::InputError(fmt::format("{} is not above 0 % and at most 100 %", text),
                              "write a percentage such as 90 %");
    }
    return share;
}

std::int64_t tokens(const Reader& at) {
    return at.require().whole(1, kMostTokens, 1);
}

LengthSpec read_length(const Reader& length) {
    LengthSpec spec;
    if (!length.require().is_map()) {
        spec.least = spec.most = tokens(length);
        return spec;
    }
    spec.most = tokens(length["most"]);
    spec.least = length["least"].whole(1, kMostTokens, 1);
    if (spec.least > spec.most) {
        throw length["least"].error("the shortest is longer than the longest",
                                    fmt::format("allowed: 1 to {}", spec.most));
    }
    spec.kind = LengthKind::uniform;
    const auto within = [](double least, double most) {
        return [least, most](const std::string& text) {
            const double value = parse_number(text);
            if (!(value >= least && value <= most)) {
                throw sim::InputError(fmt::format("{} is out of range", in_quotes(text)),
                                      fmt::format("allowed: {} to {}", least, most));
            }
            return value;
        };
    };
    if (length["mean"].present()) {
        spec.kind = LengthKind::lognormal;
        spec.mean = length["mean"].read(within(1, static_cast<double>(spec.most)));
        spec.sigma = length["sigma"].read(within(0, 5));
    } else if (length["sigma"].present()) {
        throw length["sigma"].error("a uniform length has no sigma",
                                    "write mean for a lognormal one");
    }
    return spec;
}

std::vector<Request> read_trace(const Reader& file, const std::filesystem::path& base) {
    return file.read([&](const std::string& name) {
        const std::string path = (base / name).string();
        return parse_trace(read_text_file(path), path);
    });
}

void refuse(const Reader& key, const char* problem, const char* remedy) {
    if (key.present()) {
        throw key.error(problem, remedy);
    }
}

/// Exactly one of the three says how requests come.
ArrivalKind arrivals_of(const Reader& serving) {
    constexpr std::pair<const char*, ArrivalKind> kKinds[] = {
        {"rate", ArrivalKind::poisson},
        {"concurrency", ArrivalKind::concurrency},
        {"trace", ArrivalKind::trace}};
    const std::pair<const char*, ArrivalKind>* chosen = nullptr;
    for (const auto& kind : kKinds) {
        if (!serving[kind.first].present()) {
            continue;
        }
        if (chosen != nullptr) {
            throw serving[kind.first].error(
                fmt::format("'serving.{}' says already how requests come", chosen->first),
                "write one of rate, concurrency, trace");
        }
        chosen = &kind;
    }
    if (chosen == nullptr) {
        throw serving.error("nothing says how requests come",
                            "write rate: 4 requests/s, concurrency: 64 or trace: requests.csv");
    }
    return chosen->second;
}

void read_prefix(const Reader& prefix, LoadSpec& load) {
    if (prefix["share"].present() && prefix["tokens"].present()) {
        throw prefix["tokens"].error("the prefix has a share already",
                                     "write one of share, tokens");
    }
    load.prefix_share = prefix["share"].get(parse_share, 0.0);
    load.common_prefix = prefix["tokens"].whole(1, kMostTokens, 0);
}

LoadSpec read_load(const Reader& serving, const std::filesystem::path& base) {
    LoadSpec load;
    load.arrivals = arrivals_of(serving);
    load.seed = static_cast<std::uint64_t>(serving["seed"].whole(0, std::int64_t{1} << 53, 1));
    const bool traced = load.arrivals == ArrivalKind::trace;
    const Reader file = serving[traced ? "trace" : "lengths"];
    if (traced) {
        refuse(serving["lengths"], "the trace has lengths already", "leave it out");
    }
    if (file.present()) {
        const char* const problem = "the lengths are those of a file";
        refuse(serving["prompt"], problem, "leave it out");
        refuse(serving["output"], problem, "leave it out");
        refuse(serving["prefix"], problem, "write a column prefix in the file");
        load.trace = read_trace(file, base);
    } else {
        load.prompt = read_length(serving["prompt"]);
        load.output = read_length(serving["output"]);
        read_prefix(serving["prefix"], load);
    }
    if (traced) {
        const auto rows = static_cast<std::int64_t>(load.trace.size());
        load.requests = serving["requests"].whole(1, rows, rows);
        return load;
    }
    load.requests = serving["requests"].require().whole(1, kMostRequests, 1);
    load.rate = serving["rate"].get(parse_request_rate, 1.0);
    load.concurrency = serving["concurrency"].whole(1, kMostRequests, 1);
    return load;
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
    const bool chunked = batching.kind == BatchingKind::chunked;
    if (!chunked) {
        refuse(serving["budget"], "only chunked batching has a budget", "write batching: chunked");
        refuse(serving["mixed"], "only chunked batching mixes steps", "write batching: chunked");
    }
    batching.budget = serving["budget"].whole(1, kMostTokens, 2048);
    batching.mixed = serving["mixed"].flag(true);
    if (batching.kind == BatchingKind::fixed || (chunked && batching.mixed)) {
        refuse(serving["interleave"], "prefill and decode steps do not alternate here",
               "write batching: continuous, or mixed: false");
    }
    batching.interleave = serving["interleave"].whole(0, 1 << 20, 0);
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

/// A decode of every slot fits into the budget, or sequences starve.
void check_budget(const Reader& serving, const ServingSpec& spec) {
    const BatchingSpec& batching = spec.batching;
    const std::int64_t decodes = batching.slots * (1 + spec.speculation.tokens);
    if (batching.kind == BatchingKind::chunked && batching.mixed && batching.budget < decodes) {
        const char* const key = serving["budget"].present() ? "budget" : "slots";
        throw serving[key].error(fmt::format("a budget of {} tokens is less than the {} that {} "
                                             "slots decode",
                                             batching.budget, decodes, batching.slots),
                                 "write a larger budget or fewer slots");
    }
}

/// A buffer holds the longest request.
void check_length(const Reader& cache, const ServingSpec& spec) {
    if (spec.cache.length == 0) {
        return;
    }
    std::int64_t most = 0;
    for (const Request& request : draw_requests(spec.load)) {
        most = std::max(most, most_cached(request.prompt, request.output, spec.speculation.tokens));
    }
    if (most > spec.cache.length) {
        throw cache["length"].error(
            fmt::format("a buffer of {} tokens is less than the {} that a request comes to",
                        spec.cache.length, most),
            "write a longer one, or shorter requests");
    }
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

}  // namespace

ServingSpec read_serving(const Reader& serving, const std::filesystem::path& base) {
    ServingSpec spec;
    spec.load = read_load(serving.require(), base);
    spec.batching = read_batching(serving);
    const Reader cache = serving["cache"];
    if (cache["pages"].present()) {
        spec.cache.pages = cache["pages"].whole(1, kMostPages, 1);
    }
    spec.cache.page = cache["page"].whole(1, kMostTokens, 16);
    spec.cache.memory = cache["memory"].get<double>(parse_memory, 1);
    spec.cache.length = cache["length"].whole(2, kMostTokens, 0);
    spec.cache.reserve = cache["reserve"].flag(false);
    if (const Reader speculation = serving["speculation"]; speculation.present()) {
        spec.speculation.tokens = speculation["tokens"].require().whole(1, 64, 1);
        spec.speculation.acceptance = speculation["acceptance"].read(parse_share);
    }
    if (const Reader apart = serving["disaggregated"]; apart.present()) {
        if (spec.batching.kind != BatchingKind::continuous) {
            throw serving["batching"].error("disaggregated generate servers batch continuously",
                                            "leave it out");
        }
        refuse(serving["interleave"], "prefill and decode steps do not alternate here",
               "leave it out");
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
    spec.per_octave = serving["grid"].get(parse_grid, std::int64_t{4});
    check_budget(serving, spec);
    check_length(cache, spec);
    return spec;
}

std::shared_ptr<const ServingSpec> load_serving(const Reader& serving,
                                                const std::filesystem::path& base,
                                                const Scenario& server) {
    auto spec = std::make_shared<ServingSpec>();
    serving.check({}, [&] { *spec = read_serving(serving, base); });
    serving.check({"hardware", "model", "inference", "serving"}, [&] {
        if (!serving["host"].present()) {
            spec->host = sim::round_up(sim::Seconds(server.hardware.efficiency.host_s));
        }
        if (spec->disaggregation && spec->disaggregation->a_token.value() == 0) {
            const TrainingStep& step = server.step();
            spec->disaggregation->a_token =
                workloads::cache_bytes(step.model, 1, step.plan.inference->cache_element);
        }
    });
    return spec;
}

}  // namespace podsim::scenarios
