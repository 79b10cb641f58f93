#include "scenarios/study/sweep_table.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>

#include "scenarios/text/format.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"

namespace podsim::scenarios {
namespace {

constexpr std::array<std::string_view, 21> kColumns{"step_time_s",
                                                    "compute_s",
                                                    "exposed_communication_s",
                                                    "mfu",
                                                    "hfu",
                                                    "tokens_per_s",
                                                    "bound",
                                                    "analytic.book_s",
                                                    "analytic.roofline_lower_s",
                                                    "analytic.roofline_serial_s",
                                                    "memory.peak_bytes",
                                                    "memory.capacity_bytes",
                                                    "memory.fits",
                                                    "prefetch_layers",
                                                    "training_run.days",
                                                    "training_run.chip_hours",
                                                    "training_run.cost_usd",
                                                    "chips",
                                                    "simulated_chips",
                                                    "events",
                                                    "error"};

/// The value under `a` or `a.b`; null without one.
Json value_at(const Json& line, std::string_view column) {
    const Json* node = &line;
    while (true) {
        const std::string key(column.substr(0, column.find('.')));
        if (!node->is_object() || !node->contains(key)) {
            return nullptr;
        }
        node = &(*node)[key];
        if (key.size() == column.size()) {
            return *node;
        }
        column.remove_prefix(key.size() + 1);
    }
}

std::vector<std::string> texts_of(const Json& line, const Sweep& sweep) {
    const std::vector<std::size_t> choice = sweep.choice(line["sweep"]["index"]);
    std::vector<std::string> texts;
    for (std::size_t key = 0; key < choice.size(); ++key) {
        texts.push_back(sweep.varied()[key].texts[choice[key]]);
    }
    return texts;
}

std::string csv_cell(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        return text;
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + '"';
}

std::string cell_of(const Json& value) {
    return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : json_line(value);
}

}  // namespace

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
    names.insert(names.end(), kColumns.begin(), kColumns.end());
    if (std::ranges::find(names, by.column) == names.end()) {
        throw sim::unknown_name("column", printable(by.column), names)
            .at({"--sort " + printable(text), 0, 0});
    }
    return by;
}

void sort_lines(std::vector<Json>& lines, const SortBy& by, const Sweep& sweep) {
    const auto varied = std::ranges::find(sweep.varied(), by.column, &Varied::key);
    const auto key = static_cast<std::size_t>(varied - sweep.varied().begin());
    std::vector<std::pair<Json, Json>> rows;  // what decides, and the line
    for (Json& line : lines) {
        Json value = value_at(line, by.column);
        if (varied != sweep.varied().end()) {
            value = line.contains("error") ? Json(nullptr)
                                           : Json(sweep.choice(line["sweep"]["index"])[key]);
        }
        rows.emplace_back(std::move(value), std::move(line));
    }
    std::ranges::stable_sort(rows, [&](const auto& a, const auto& b) {
        if (a.first.is_null() || b.first.is_null()) {
            return !a.first.is_null() && b.first.is_null();
        }
        return by.descending ? b.first < a.first : a.first < b.first;
    });
    std::ranges::transform(rows, lines.begin(), [](auto& row) { return std::move(row.second); });
}

std::string sweep_table(std::span<const Json> lines, const Sweep& sweep) {
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
    for (const Json& line : lines) {
        std::vector<std::string> cells;
        for (const std::string& text : texts_of(line, sweep)) {
            cells.push_back(printable(text));
        }
        if (line.contains("error")) {
            cells.insert(cells.end(), kNumbers, "-");
            cells.push_back(line["error"].get<std::string>());
        } else {
            const double step = line["step_time_s"];
            const double lower = line["analytic"]["roofline_lower_s"];
            cells.push_back(format_time(step));
            cells.push_back(format_percent(line["mfu"]));
            cells.push_back(format_percent(line["exposed_communication_s"].get<double>() / step));
            cells.push_back(fmt::format("{:.3f}", step / lower));
            cells.push_back(format_count(line["tokens_per_s"]));
            cells.push_back(format_bytes(sim::Bytes(line["memory"]["peak_bytes"])));
            cells.push_back(
                fmt::format("{}-bound{}", line["bound"].get<std::string>(),
                            line["memory"]["fits"].get<bool>() ? "" : ", does not fit"));
        }
        table.row(std::move(cells));
    }
    return table.text(0);
}

std::string sweep_results_csv(std::span<const Json> lines, const Sweep& sweep) {
    std::vector<std::string> header;
    for (const Varied& varied : sweep.varied()) {
        header.push_back(csv_cell(varied.key));
    }
    header.insert(header.end(), kColumns.begin(), kColumns.end());
    std::string csv = fmt::format("{}\n", fmt::join(header, ","));
    for (const Json& line : lines) {
        std::vector<std::string> cells = texts_of(line, sweep);
        for (const std::string_view column : kColumns) {
            cells.push_back(cell_of(value_at(line, column)));
        }
        std::ranges::transform(cells, cells.begin(), csv_cell);
        csv += fmt::format("{}\n", fmt::join(cells, ","));
    }
    return csv;
}

}  // namespace podsim::scenarios
