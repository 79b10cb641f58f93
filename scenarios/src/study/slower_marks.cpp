#include "scenarios/src/study/slower_marks.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "scenarios/src/advise/order_noise.h"
#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

/// A key whose larger values are faster hardware, or whose smaller ones are (`less`).
struct FasterKey {
    std::string_view key;
    double (*read)(std::string_view text);
    bool less = false;
};

double as_rate(std::string_view text) {
    return parse_rate(text).value();
}
double as_flops(std::string_view text) {
    return parse_flops_rate(text).value();
}
double as_time(std::string_view text) {
    return parse_time(text).value();
}

constexpr FasterKey kFasterKeys[] = {{"hardware.chip.bf16_flops", as_flops},
                                     {"hardware.chip.int8_ops", as_flops},
                                     {"hardware.chip.fp8_flops", as_flops},
                                     {"hardware.chip.vpu_flops", as_flops},
                                     {"hardware.chip.hbm_bandwidth", as_rate},
                                     {"hardware.chip.ici_one_way", as_rate},
                                     {"hardware.chip.pcie_one_way", as_rate},
                                     {"hardware.chip.dcn_per_host", as_rate},
                                     {"hardware.chip.ici_latency", as_time, true},
                                     {"hardware.chip.pcie_latency", as_time, true},
                                     {"hardware.chip.dcn_latency", as_time, true},
                                     {"hardware.profile.mxu", parse_number},
                                     {"hardware.profile.mxu_8bit", parse_number},
                                     {"hardware.profile.attention", parse_number},
                                     {"hardware.profile.vpu", parse_number},
                                     {"hardware.profile.hbm", parse_number},
                                     {"hardware.profile.gather", parse_number},
                                     {"hardware.profile.ici", parse_number},
                                     {"hardware.profile.dcn", parse_number},
                                     {"hardware.profile.launch_s", parse_number, true}};

/// Returns the speed of each value of a key; nothing if the key is no resource, or a value is
/// refused.
std::optional<std::vector<double>> speeds_of(const Varied& varied) {
    const auto* const resource = std::ranges::find(kFasterKeys, varied.key, &FasterKey::key);
    if (resource == std::end(kFasterKeys)) {
        return std::nullopt;
    }
    std::vector<double> speeds;
    try {
        for (const std::string& text : varied.texts) {
            const double value = resource->read(text);
            speeds.push_back(resource->less ? -value : value);
        }
    } catch (const sim::InputError&) {
        return std::nullopt;
    }
    return speeds;
}

double quantity_of(const SweepRow& row, std::string_view quantity) {
    return number_of(row.value(quantity));
}

/// Returns by how much a row takes longer than one with a slower value, if memory leaves both the
/// same look-ahead.
double longer_than(const SweepRow& row, const SweepRow& slower) {
    return quantity_of(row, "prefetch_layers") == quantity_of(slower, "prefetch_layers")
               ? quantity_of(row, "step_time") / quantity_of(slower, "step_time") - 1
               : 0;
}

/// Rows that were not refused, as indices of `rows`, grouped by their values of all keys but one.
using RowGroup = std::vector<std::size_t>;
std::map<std::vector<std::size_t>, RowGroup> row_groups(std::span<const SweepRow> rows,
                                                        const Sweep& sweep, std::size_t but) {
    std::map<std::vector<std::size_t>, RowGroup> groups;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!rows[i].refused()) {
            std::vector<std::size_t> choice = sweep.choice(rows[i].index);
            choice[but] = 0;
            groups[std::move(choice)].push_back(i);
        }
    }
    return groups;
}

}  // namespace

std::vector<std::string> slower_marks(std::span<const SweepRow> rows, const Sweep& sweep) {
    std::vector<std::string> marks(rows.size());
    std::vector<double> most(rows.size(), kOrderNoiseToTell);
    for (std::size_t key = 0; key < sweep.varied().size(); ++key) {
        const Varied& varied = sweep.varied()[key];
        const auto speeds = speeds_of(varied);
        if (!speeds) {
            continue;
        }
        const auto value = [&](std::size_t row) { return sweep.choice(rows[row].index)[key]; };
        const auto speed = [&](std::size_t row) { return (*speeds)[value(row)]; };
        for (auto& [choice, group] : row_groups(rows, sweep, key)) {
            std::ranges::stable_sort(group, {}, speed);
            std::size_t quickest = 0;  // of those whose resource is slower
            for (std::size_t i = 1; i < group.size(); ++i) {
                const double longer = longer_than(rows[group[i]], rows[group[quickest]]);
                if (speed(group[i]) > speed(group[quickest]) && longer > most[group[i]]) {
                    most[group[i]] = longer;
                    marks[group[i]] = fmt::format("{:.1f} % slower than with {}", 100 * longer,
                                                  printable(varied.texts[value(group[quickest])]));
                }
                if (longer < 0) {
                    quickest = i;
                }
            }
        }
    }
    return marks;
}

}  // namespace podsim::scenarios
