#include "scenarios/serving/read_requests.h"

#include <fmt/format.h>
#include <utility>

#include "scenarios/requests/trace_file.h"
#include "scenarios/text/quantity_text.h"
#include "scenarios/text/quote.h"
#include "sim/base/time.h"

namespace podsim::scenarios {
namespace {

constexpr std::int64_t kMostRequests = 1000000;

double request_rate(std::string_view text) {
    const double rate = parse_request_rate(text);
    if (!(rate >= 1e-6 && rate <= 1e9)) {
        throw sim::InputError(fmt::format("{} is out of range", in_quotes(text)),
                              "allowed: 1e-6 to 1e9 requests/s");
    }
    return rate;
}

std::int64_t tokens(const Reader& at) {
    return at.require().whole(1, kMostServedTokens, 1);
}

auto within(double least, double most) {
    return [least, most](const std::string& text) {
        const double value = parse_number(text);
        if (!(value >= least && value <= most)) {
            throw sim::InputError(fmt::format("{} is out of range", in_quotes(text)),
                                  fmt::format("allowed: {} to {}", least, most));
        }
        return value;
    };
}

LengthSpec read_length(const Reader& length) {
    LengthSpec spec;
    if (!length.require().is_map()) {
        spec.least = spec.most = tokens(length);
        return spec;
    }
    spec.most = tokens(length["most"]);
    spec.least = length["least"].whole(1, kMostServedTokens, 1);
    spec.kind = LengthKind::uniform;
    if (length["most"].sound() && spec.least > spec.most) {
        length["least"].refuse("the shortest is longer than the longest",
                               fmt::format("allowed: 1 to {}", spec.most));
    }
    if (length["mean"].present()) {
        spec.kind = LengthKind::lognormal;
        const std::int64_t most = length["most"].sound() ? spec.most : kMostServedTokens;
        spec.mean = length["mean"].read(within(1, static_cast<double>(most)));
        spec.sigma = length["sigma"].read(within(0, 5));
    } else if (length["sigma"].present()) {
        length["sigma"].refuse("a uniform length has no sigma", "write mean for a lognormal one");
    }
    return spec;
}

std::vector<Request> read_trace(const Reader& file, const std::filesystem::path& base) {
    if (file.present()) {
        file.names_file((base / file.node().text).string());
    }
    return file.read([&](const std::string& name) {
        const std::string path = (base / name).string();
        // A million rows of 64 bytes.
        constexpr FileLimit kTrace{64U << 20U, "a trace has at most 1000000 rows", "a CSV file",
                                   "a trace is a CSV text"};
        return parse_trace(read_text_file(path, kTrace), path);
    });
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
        if (chosen == nullptr) {
            chosen = &kind;
            continue;
        }
        serving[kind.first].refuse(
            fmt::format("'serving.{}' says already how requests come", chosen->first),
            "write one of rate, concurrency, trace");
    }
    if (chosen == nullptr) {
        // At the place of one of them, so that the rest of the section is still checked.
        serving.faults().add(
            "serving.rate",
            serving.error("nothing says how requests come",
                          "write rate: 4 requests/s, concurrency: 64 or trace: requests.csv"));
        return ArrivalKind::poisson;
    }
    return chosen->second;
}

void read_prefix(const Reader& prefix, LoadSpec& load) {
    if (prefix["share"].present() && prefix["tokens"].present()) {
        prefix["tokens"].refuse("the prefix has a share already", "write one of share, tokens");
    }
    load.prefix_share = prefix["share"].get(parse_share, 0.0);
    load.common_prefix = prefix["tokens"].whole(1, kMostServedTokens, 0);
}

}  // namespace

double parse_share(const std::string& text) {
    const double share = parse_percent(text);
    if (share < 0 || share > 1) {
        throw sim::InputError(fmt::format("{} is not from 0 % to 100 %", in_quotes(text)),
                              "write a percentage such as 80 %");
    }
    return share;
}

void refuse_present(const Reader& key, const char* problem, const char* remedy) {
    if (key.present()) {
        key.refuse(problem, remedy);
    }
}

LoadSpec read_load(const Reader& serving, const std::filesystem::path& base) {
    LoadSpec load;
    load.arrivals = arrivals_of(serving);
    load.seed = static_cast<std::uint64_t>(serving["seed"].whole(0, std::int64_t{1} << 53, 1));
    const bool traced = load.arrivals == ArrivalKind::trace;
    const Reader file = serving[traced ? "trace" : "lengths"];
    if (traced) {
        refuse_present(serving["lengths"], "the trace has lengths already", "leave it out");
    }
    if (file.present()) {
        const char* const problem = "the lengths are those of a file";
        refuse_present(serving["prompt"], problem, "leave it out");
        refuse_present(serving["output"], problem, "leave it out");
        refuse_present(serving["prefix"], problem, "write a column prefix in the file");
        load.trace = read_trace(file, base);
    } else {
        load.prompt = read_length(serving["prompt"]);
        load.output = read_length(serving["output"]);
        read_prefix(serving["prefix"], load);
    }
    if (traced) {
        const std::int64_t rows = std::ssize(load.trace);
        load.requests = file.sound() ? serving["requests"].whole(1, rows, rows) : 0;
        return load;
    }
    load.requests = serving["requests"].require().whole(1, kMostRequests, 1);
    load.rate = serving["rate"].get(request_rate, 1.0);
    load.concurrency = serving["concurrency"].whole(1, kMostRequests, 1);
    return load;
}

std::optional<std::vector<Request>> draw_sound_requests(const Reader& serving,
                                                        const LoadSpec& load) {
    for (const char* const part : {"rate", "concurrency", "trace", "lengths", "requests", "seed",
                                   "prompt", "output", "prefix", "speculation"}) {
        if (!serving[part].sound()) {
            return std::nullopt;
        }
    }
    try {
        return draw_requests(load);
    } catch (const sim::TimeOverflow&) {
        serving["rate"].refuse(
            "the last request comes after more than the 106 days that a run can have",
            "write a higher rate or fewer requests");
        return std::nullopt;
    }
}

}  // namespace podsim::scenarios
