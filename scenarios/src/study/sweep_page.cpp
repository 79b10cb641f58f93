#include "scenarios/src/study/sweep_page.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <vector>

#include "scenarios/src/report/quantities.h"

namespace podsim::scenarios {
namespace {

std::string_view unit_name(ValueUnit unit) {
    switch (unit) {
        case ValueUnit::time:
            return "time";
        case ValueUnit::share:
            return "share";
        case ValueUnit::count:
            return "count";
        case ValueUnit::bytes:
            return "bytes";
        case ValueUnit::token_rate:
            return "token_rate";
        case ValueUnit::money:
            return "money";
        case ValueUnit::text:
            return "text";
        case ValueUnit::truth:
            break;
    }
    return "truth";
}

Json varied_json(const Sweep& sweep) {
    Json array = Json::array();
    for (const Varied& varied : sweep.varied()) {
        array.push_back({{"key", varied.key}, {"values", varied.texts}});
    }
    return array;
}

Json columns_json() {
    Json array = Json::array();
    for (const QuantityName& column : sweep_columns()) {
        array.push_back({{"key", column.key},
                         {"name", column.name},
                         {"unit", unit_name(column.unit)},
                         {"meaning", column.meaning}});
    }
    return array;
}

/// Returns a row: its index in the sweep, the index of each varied key's value, the columns, and
/// why it is refused.
Json row_json(const SweepRow& row, const Sweep& sweep) {
    Json array = Json::array({row.index});
    for (const std::size_t choice : sweep.choice(row.index)) {
        array.push_back(choice);
    }
    for (std::size_t i = 0; i < sweep_columns().size(); ++i) {
        array.push_back(row.refused() ? Json() : json_of(row.values[i]));
    }
    array.push_back(row.error);
    return array;
}

/// Marks the rows that no other beats both in step time and in `cost`.
void mark_front(std::span<const SweepRow> rows, std::string_view cost, std::vector<bool>& marked) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!rows[i].refused() && number_of(rows[i].value("fits")) != 0) {
            order.push_back(i);
        }
    }
    const auto key = [&](std::size_t i) {
        return std::pair(number_of(rows[i].value(cost)), number_of(rows[i].value("step_time")));
    };
    std::ranges::stable_sort(order, {}, key);
    double shortest = std::numeric_limits<double>::infinity();
    for (const std::size_t i : order) {
        if (key(i).second < shortest) {
            shortest = key(i).second;
            marked[i] = true;
        }
    }
}

std::vector<bool> shown_rows(std::span<const SweepRow> rows, std::size_t most) {
    std::vector<bool> shown(rows.size(), rows.size() <= most);
    if (rows.size() > most) {
        for (const std::string_view cost : {"chips", "peak_memory", "training_run_cost"}) {
            mark_front(rows, cost, shown);
        }
        for (std::size_t i = 0; i < most; ++i) {
            shown[i * rows.size() / most] = true;
        }
    }
    return shown;
}

}  // namespace

Page sweep_page(std::span<const SweepRow> rows, const Sweep& sweep, const std::string& scenario,
                std::size_t most) {
    const std::vector<bool> shown = shown_rows(rows, most);
    Json array = Json::array();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (shown[i]) {
            array.push_back(row_json(rows[i], sweep));
        }
    }
    Page page{.kind = "sweep",
              .title = fmt::format("Sweep of {}", scenario),
              .result = {{"schema", kSchemaName},
                         {"scenario", scenario},
                         {"settings", rows.size()},
                         {"varied", varied_json(sweep)},
                         {"columns", columns_json()},
                         {"warnings", warnings_of(rows)},
                         {"rows", std::move(array)}}};
    const std::size_t kept = page.result["rows"].size();
    if (kept < rows.size()) {
        page.extra["thinned"].push_back(fmt::format(
            "This page has {} of {} settings: those on a front, and the others evenly thinned out "
            "to fit. --csv and --jsonl have them all.",
            kept, rows.size()));
    }
    return page;
}

}  // namespace podsim::scenarios
