#include "scenarios/src/study/sweep_table.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/simulate/memory.h"
#include "scenarios/src/study/slower_marks.h"
#include "scenarios/src/study/sweep.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"

namespace podsim::scenarios {
namespace {

struct Point {
    double latency = 0;
    double rate = 0;

    [[nodiscard]] bool beats(const Point& other) const {
        return latency <= other.latency && rate >= other.rate &&
               (latency < other.latency || rate > other.rate);
    }
};

bool eligible(const SweepRow& row) {
    return !row.refused() && number_of(row.value("fits")) != 0 &&
           !std::holds_alternative<std::monostate>(row.value("time_per_token"));
}

Point point_of(const SweepRow& row) {
    return {number_of(row.value("time_per_token")), number_of(row.value("tokens_per_s_per_chip"))};
}

constexpr std::string_view kLoad[] = {"model", "inference.context", "inference.prompt",
                                      "inference.generate", "inference.runs"};

/// Returns the indices of the values that the keys of the load have in a setting.
std::vector<std::size_t> load_of(const SweepRow& row, const Sweep& sweep) {
    std::vector<std::size_t> choice = sweep.choice(row.index);
    for (std::size_t key = 0; key < choice.size(); ++key) {
        if (std::ranges::find(kLoad, sweep.varied()[key].key) == std::end(kLoad)) {
            choice[key] = 0;
        }
    }
    return choice;
}

// Finds the settings of a sweep of inference that no other beats both in time per token and in
// tokens a second and chip.

/// Returns, by row, whether it is on the front of the rows with the same load: the same model,
/// context, prompt, generated tokens and runs, if these are varied. Rows that are refused, that do
/// not fit, or that have no time per token are never on a front. If rows are alike in both
/// quantities, all of them are.
std::vector<bool> pareto_front(std::span<const SweepRow> rows, const Sweep& sweep) {
    std::vector<std::vector<std::size_t>> loads;
    for (const SweepRow& row : rows) {
        loads.push_back(load_of(row, sweep));
    }
    const auto beaten = [&](std::size_t one) {
        for (std::size_t other = 0; other < rows.size(); ++other) {
            if (loads[other] == loads[one] && eligible(rows[other]) &&
                point_of(rows[other]).beats(point_of(rows[one]))) {
                return true;
            }
        }
        return false;
    };
    std::vector<bool> front;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        front.push_back(eligible(rows[row]) && !beaten(row));
    }
    return front;
}

constexpr std::string_view kErrorColumn = "error";

std::vector<std::string> texts_of(const SweepRow& row, const Sweep& sweep) {
    const std::vector<std::size_t> choice = sweep.choice(row.index);
    std::vector<std::string> texts;
    for (std::size_t key = 0; key < choice.size(); ++key) {
        texts.push_back(sweep.varied()[key].texts[choice[key]]);
    }
    return texts;
}

/// True if a spreadsheet would compute a text. It does not compute a number behind `+` or `-`.
bool is_formula(std::string_view text) {
    if (text.empty() || std::string_view("=+-@\t\r").find(text.front()) == std::string_view::npos) {
        return false;
    }
    const std::string_view behind = text.substr(1);
    double number = 0;
    const auto [end, error] = std::from_chars(behind.data(), behind.data() + behind.size(), number);
    const bool is_number =
        error == std::errc() && end == behind.data() + behind.size() &&
        (behind.front() == '.' || (behind.front() >= '0' && behind.front() <= '9'));
    return !is_number || (text.front() != '+' && text.front() != '-');
}

/// Returns the text of a cell. An apostrophe before a formula makes it text.
std::string csv_cell(std::string text) {
    if (is_formula(text)) {
        text.insert(text.begin(), '\'');
    }
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        return text;
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + '"';
}

std::string cell_of(const Value& value) {
    if (std::holds_alternative<std::monostate>(value)) {
        return {};
    }
    const std::string* const text = std::get_if<std::string>(&value);
    return text != nullptr ? *text : json_line(json_of(value));
}

/// Sort key of a row: a varied key (its index among them), a column, or the error.
struct SortKey {
    std::optional<std::size_t> varied;
    std::optional<std::size_t> column;

    [[nodiscard]] Value of(const SweepRow& row, const Sweep& sweep) const {
        if (varied.has_value()) {
            return row.refused()
                       ? Value()
                       : Value(static_cast<std::int64_t>(sweep.choice(row.index)[*varied]));
        }
        if (!column.has_value()) {
            return row.refused() ? Value(row.error) : Value();
        }
        return *column < row.values.size() ? row.values[*column] : Value();
    }
};

SortKey sort_key(const std::string& name, const Sweep& sweep) {
    SortKey key;
    const auto varied = std::ranges::find(sweep.varied(), name, &Varied::key);
    if (varied != sweep.varied().end()) {
        key.varied = static_cast<std::size_t>(varied - sweep.varied().begin());
        return key;
    }
    const std::vector<QuantityName> columns = sweep_columns();
    const auto column = std::ranges::find(columns, name, &QuantityName::key);
    if (column != columns.end()) {
        key.column = static_cast<std::size_t>(column - columns.begin());
    }
    return key;
}

bool before(const Value& a, const Value& b) {
    const std::string* const text_a = std::get_if<std::string>(&a);
    const std::string* const text_b = std::get_if<std::string>(&b);
    return text_a != nullptr && text_b != nullptr ? *text_a < *text_b : number_of(a) < number_of(b);
}

/// Returns the most important results of a simulated setting.
std::vector<std::string> result_cells(const SweepRow& row) {
    const auto number = [&](std::string_view quantity) { return number_of(row.value(quantity)); };
    const auto text = [&](std::string_view quantity) {
        return quantity_text(quantity, number(quantity));
    };
    struct Account {
        bool fits;
        bool tight;
    };
    const MemoryFit fit = fit_of(Account{number("fits") != 0, number("tight") != 0});
    return {text("step_time"),
            text("mfu"),
            format_percent(number("exposed_communication") / number("step_time")),
            fmt::format("{:.3f}", number("step_time") / number("roofline_lower")),
            format_count(number("tokens_per_s")),
            text("peak_memory"),
            fmt::format("{}-bound{}", std::get<std::string>(row.value("bound")),
                        fit == MemoryFit::fits ? "" : fmt::format(", {}", to_string(fit)))};
}

}  // namespace

std::vector<std::string> sweep_column_names() {
    std::vector<std::string> names;
    for (const QuantityName& column : sweep_columns()) {
        names.emplace_back(column.key);
    }
    names.emplace_back(kErrorColumn);
    return names;
}

SortBy parse_sort(const std::string& text, const Sweep& sweep) {
    constexpr std::string_view kDescending = ":desc";
    SortBy by{text, text.ends_with(kDescending)};
    if (by.descending) {
        by.column.resize(by.column.size() - kDescending.size());
    }
    std::vector<std::string> names;
    for (const Varied& varied : sweep.varied()) {
        names.push_back(varied.key);
    }
    for (std::string& name : sweep_column_names()) {
        names.push_back(std::move(name));
    }
    if (std::ranges::find(names, by.column) == names.end()) {
        throw sim::unknown_name("column", printable(by.column), names)
            .at({"--sort " + printable(text), 0, 0});
    }
    return by;
}

void sort_rows(std::vector<SweepRow>& rows, const SortBy& by, const Sweep& sweep) {
    const SortKey key = sort_key(by.column, sweep);
    std::vector<std::pair<Value, SweepRow>> keyed;
    for (SweepRow& row : rows) {
        Value value = key.of(row, sweep);
        keyed.emplace_back(std::move(value), std::move(row));
    }
    std::ranges::stable_sort(keyed, [&](const auto& a, const auto& b) {
        const bool a_lacks = std::holds_alternative<std::monostate>(a.first);
        const bool b_lacks = std::holds_alternative<std::monostate>(b.first);
        if (a_lacks || b_lacks) {
            return !a_lacks && b_lacks;
        }
        return by.descending ? before(b.first, a.first) : before(a.first, b.first);
    });
    std::ranges::transform(keyed, rows.begin(), [](auto& one) { return std::move(one.second); });
}

std::string sweep_table(std::span<const SweepRow> rows, const Sweep& sweep) {
    std::vector<std::size_t> text_columns;
    std::vector<std::string> header;
    for (const Varied& varied : sweep.varied()) {
        text_columns.push_back(header.size());
        header.push_back(varied.key);
    }
    constexpr std::size_t kNumbers = 6;
    text_columns.push_back(header.size() + kNumbers);
    header.insert(header.end(),
                  {"step", "MFU", "exposed", "sim/lower", "tokens/s", "peak memory", "remark"});
    Table table(text_columns);
    table.row(header);
    const std::vector<bool> front = pareto_front(rows, sweep);
    const std::vector<std::string> marks = slower_marks(rows, sweep);
    for (const SweepRow& row : rows) {
        std::vector<std::string> cells;
        for (const std::string& text : texts_of(row, sweep)) {
            cells.push_back(printable(text));
        }
        if (row.refused()) {
            cells.insert(cells.end(), kNumbers, "-");
            cells.push_back(row.error);
        } else {
            std::ranges::move(result_cells(row), std::back_inserter(cells));
            const auto i = static_cast<std::size_t>(&row - rows.data());
            cells.back() += front[i] ? ", front" : "";
            cells.back() += marks[i].empty() ? "" : ", " + marks[i];
        }
        table.row(std::move(cells));
    }
    const bool marked = std::ranges::any_of(marks, [](const auto& mark) { return !mark.empty(); });
    return table.text(0) +
           (marked ? "A row that takes longer with a faster resource does so by the order in which "
                     "operations meet at shared links and memory: noise, which the resource does "
                     "not cause.\n"
                   : "");
}

std::string sweep_results_csv(std::span<const SweepRow> rows, const Sweep& sweep) {
    std::vector<std::string> header;
    for (const Varied& varied : sweep.varied()) {
        header.push_back(csv_cell(varied.key));
    }
    const std::vector<std::string> names = sweep_column_names();
    header.insert(header.end(), names.begin(), names.end());
    std::string csv = fmt::format("{}\n", fmt::join(header, ","));
    for (const SweepRow& row : rows) {
        std::vector<std::string> cells = texts_of(row, sweep);
        for (std::size_t column = 0; column + 1 < names.size(); ++column) {
            cells.push_back(column < row.values.size() ? cell_of(row.values[column]) : "");
        }
        cells.push_back(row.error);
        std::ranges::transform(cells, cells.begin(), csv_cell);
        csv += fmt::format("{}\n", fmt::join(cells, ","));
    }
    return csv;
}

}  // namespace podsim::scenarios
