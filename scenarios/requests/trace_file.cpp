#include "scenarios/requests/trace_file.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>

#include "scenarios/text/quote.h"
#include "sim/base/nearest.h"

namespace podsim::scenarios {
namespace {

constexpr std::size_t kMostRows = 1000000;
constexpr std::int64_t kMostTokens = 1 << 24;

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
            if (requests.size() == kMostRows) {
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
    static constexpr std::size_t kRequired = 3;

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
        for (std::size_t name = 0; name < kRequired; ++name) {
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
        request.prompt = whole(1, 1, kMostTokens, 1);
        request.output = whole(2, 1, kMostTokens, 1);
        request.prefix = whole(3, 0, request.prompt - 1, 0);
        request.priority = whole(4, 0, 1000, 0);
        return request;
    }

    [[nodiscard]] const Cell& cell(std::size_t name) const { return cells_[*places_[name]]; }

    /// Decimals to the picosecond as they are written, so that rows are apart by the same whenever a trace begins: the double of 100.001
    /// lies above it, and would be rounded up to a picosecond more.
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

}  // namespace

std::vector<Request> parse_trace(std::string_view text, const std::string& file) {
    return TraceReader(text, file).read();
}

}  // namespace podsim::scenarios
