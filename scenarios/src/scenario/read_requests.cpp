#include "scenarios/src/scenario/read_requests.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "sim/base/nearest.h"
#include "sim/base/time.h"

namespace podsim::scenarios {
namespace {

constexpr std::size_t kMostTraceRows = 1000000;
constexpr std::int64_t kMostTokensEach = 1 << 24;

struct Cell {
    std::string_view text;
    int column = 1;
};

std::vector<Cell> cells_of(std::string_view line) {
    std::vector<Cell> cells;
    std::size_t begin = 0;
    for (;;) {
        const std::size_t comma = line.find(',', begin);
        std::size_t from = begin;
        std::size_t to = std::min(comma, line.size());
        while (from < to && line[from] == ' ') {
            ++from;
        }
        while (to > from && (line[to - 1] == ' ' || line[to - 1] == '\r')) {
            --to;
        }
        cells.push_back({line.substr(from, to - from), static_cast<int>(from) + 1});
        if (comma == std::string_view::npos) {
            return cells;
        }
        begin = comma + 1;
    }
}

class TraceReader {
public:
    TraceReader(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

    std::vector<Request> read() {
        read_header();
        std::vector<Request> requests;
        while (next_line()) {
            if (cells_.size() == 1 && cells_[0].text.empty()) {
                continue;
            }
            if (requests.size() == kMostTraceRows) {
                throw error(cells_[0], "the trace has more than 1000000 rows", "shorten it");
            }
            requests.push_back(read_row());
            if (requests.size() > 1 && requests.back().arrival < requests.end()[-2].arrival) {
                throw error(cell(kArrival), "the request arrives before the one above it",
                            "sort the rows by arrival");
            }
        }
        if (requests.empty()) {
            throw sim::InputError("the trace has no requests",
                                  "write a line for each below the header", {file_, 1, 1});
        }
        return requests;
    }

private:
    static constexpr std::string_view kNames[] = {"arrival_s", "prompt", "output", "prefix",
                                                  "class"};
    static constexpr std::size_t kArrival = 0;
    static constexpr std::size_t kColumns = 3;

    bool next_line() {
        if (rest_.empty()) {
            return false;
        }
        const std::size_t end = rest_.find('\n');
        cells_ = cells_of(rest_.substr(0, end));
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
        ++line_;
        return true;
    }

    void read_header() {
        constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // as spreadsheets write it
        if (rest_.starts_with(kByteOrderMark)) {
            rest_.remove_prefix(kByteOrderMark.size());
        }
        next_line();
        for (std::size_t i = 0; i < cells_.size(); ++i) {
            const auto* const found = std::ranges::find(kNames, cells_[i].text);
            if (found == std::end(kNames)) {
                throw sim::unknown_name("column", printable(cells_[i].text),
                                        std::span<const std::string_view>(kNames))
                    .at({file_, line_, cells_[i].column});
            }
            std::optional<std::size_t>& place =
                places_[static_cast<std::size_t>(found - std::begin(kNames))];
            if (place.has_value()) {
                throw error(cells_[i], fmt::format("the column '{}' stands twice", *found),
                            "leave one out");
            }
            place = i;
        }
        columns_ = cells_.size();
        for (std::size_t name = 0; name < kColumns; ++name) {
            if (!places_[name].has_value()) {
                throw sim::InputError(fmt::format("the trace has no column '{}'", kNames[name]),
                                      "begin it with a line such as arrival_s,prompt,output",
                                      {file_, 1, 1});
            }
        }
    }

    Request read_row() {
        if (cells_.size() != columns_) {
            throw error(cells_[0],
                        fmt::format("{} cell{} where the header has {}", cells_.size(),
                                    cells_.size() == 1 ? "" : "s", columns_),
                        "write one for each column");
        }
        Request request;
        request.arrival = arrival(cell(kArrival));
        request.prompt = whole(1, 1, kMostTokensEach, 1);
        request.output = whole(2, 1, kMostTokensEach, 1);
        request.prefix = whole(3, 0, request.prompt - 1, 0);
        request.priority = whole(4, 0, 1000, 0);
        return request;
    }

    [[nodiscard]] const Cell& cell(std::size_t name) const { return cells_[*places_[name]]; }

    /// Reads decimals to the picosecond as they are written, so that rows have the same distances
    /// whenever a trace begins. The double of 100.001 lies above it, and would be rounded up to a
    /// picosecond more.
    [[nodiscard]] sim::Time arrival(const Cell& cell) const {
        const double value = seconds(cell);
        const std::string_view text = cell.text;
        if (text.find_first_not_of("0123456789.") != std::string_view::npos) {
            return sim::round_up(sim::Seconds(value));
        }
        constexpr std::size_t kDigits = 12;
        const std::size_t point = std::min(text.find('.'), text.size());
        const std::string_view decimals = text.substr(std::min(point + 1, text.size()));
        sim::Time time;
        std::from_chars(text.data(), text.data() + point, time.ps);
        for (std::size_t i = 0; i < kDigits; ++i) {
            time.ps = 10 * time.ps + (i < decimals.size() ? decimals[i] - '0' : 0);
        }
        const bool more = decimals.find_first_not_of('0', kDigits) != std::string_view::npos;
        return {time.ps + (more ? 1 : 0)};
    }

    [[nodiscard]] double seconds(const Cell& cell) const {
        double value = 0;
        const char* const end = cell.text.data() + cell.text.size();
        const auto [stop, failed] = std::from_chars(cell.text.data(), end, value);
        if (failed != std::errc{} || stop != end || !(value >= 0 && value <= 1e6)) {
            throw error(cell, fmt::format("{} is no arrival", in_quotes(cell.text)),
                        "write seconds from 0 to 1000000");
        }
        return value;
    }

    [[nodiscard]] std::int64_t whole(std::size_t name, std::int64_t least, std::int64_t most,
                                     std::int64_t fallback) const {
        if (!places_[name].has_value()) {
            return fallback;
        }
        std::int64_t value = 0;
        const Cell& at = cell(name);
        const char* const end = at.text.data() + at.text.size();
        const auto [stop, failed] = std::from_chars(at.text.data(), end, value);
        if (failed != std::errc{} || stop != end || value < least || value > most) {
            throw error(at, fmt::format("{} is no {}", in_quotes(at.text), kNames[name]),
                        fmt::format("write a whole number from {} to {}", least, most));
        }
        return value;
    }

    [[nodiscard]] sim::InputError error(const Cell& cell, std::string problem,
                                        std::string remedy) const {
        return sim::InputError(std::move(problem), std::move(remedy), {file_, line_, cell.column});
    }

    std::string_view rest_;
    const std::string& file_;
    int line_ = 0;
    std::vector<Cell> cells_;
    std::size_t columns_ = 0;
    std::optional<std::size_t> places_[std::size(kNames)];
};

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

/// Returns the kind of arrivals, which exactly one of the three keys states.
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
        // The fault is at one of these keys, so that the rest of the section is still checked.
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

std::vector<Request> parse_trace(std::string_view text, const std::string& file) {
    return TraceReader(text, file).read();
}

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
