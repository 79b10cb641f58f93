#include "sim/base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace podsim::sim {

// Computes the optimal string alignment distance. Only three rows of the table are kept; a row
// belongs to a letter of `a`.
std::size_t edits_between(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before_last.swap(last);
        last.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + replace});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
    }
    return row[b.size()];
}

namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') {
            c = static_cast<char>(c - 'A' + 'a');
        }
    }
    return result;
}

std::size_t common_start(std::string_view a, std::string_view b) {
    const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    return static_cast<std::size_t>(end - a.begin());
}

bool contains(std::string_view text, std::string_view part) {
    return part.size() >= 2 && text.find(part) != std::string_view::npos;
}

template <class Name>
std::string nearest_of(std::string_view wanted, std::span<const Name> names) {
    const std::string low = lower(wanted);
    std::string best;
    std::size_t best_edits = 0;
    std::size_t best_start = 0;
    for (const Name& name : names) {
        const std::string candidate = lower(name);
        const auto [shorter, longer] = std::minmax({low.size(), candidate.size()});
        const std::size_t limit = std::max<std::size_t>(1, longer / 3);
        const bool holds = contains(candidate, low) || contains(low, candidate);
        if (longer - shorter > limit && !holds) {
            // The difference in length is a lower bound of the edits.
            continue;
        }
        const std::size_t distance = edits_between(low, candidate);
        if ((distance > limit || distance == longer) && !holds) {
            continue;
        }
        const std::size_t start = common_start(low, candidate);
        if (best.empty() || distance < best_edits ||
            (distance == best_edits && start > best_start)) {
            best = name;
            best_edits = distance;
            best_start = start;
        }
    }
    return best;
}

template <class Name>
InputError unknown_name_of(std::string_view what, std::string_view wanted,
                           std::span<const Name> names, std::string_view meant) {
    std::string problem = "unknown ";
    problem.append(what).append(" '").append(wanted).append("'");
    std::string remedy;
    if (!meant.empty()) {
        remedy.append("did you mean '").append(meant).append("'? ");
    }
    remedy += "allowed: ";
    for (std::size_t i = 0; i < names.size(); ++i) {
        remedy.append(i == 0 ? "" : ", ").append(names[i]);
    }
    return InputError(problem, remedy);
}

}  // namespace

std::string nearest(std::string_view wanted, std::span<const std::string> names) {
    return nearest_of(wanted, names);
}

std::string nearest(std::string_view wanted, std::span<const std::string_view> names) {
    return nearest_of(wanted, names);
}

InputError unknown_name(std::string_view what, std::string_view wanted,
                        std::span<const std::string> names) {
    return unknown_name_of(what, wanted, names, nearest_of(wanted, names));
}

InputError unknown_name(std::string_view what, std::string_view wanted,
                        std::span<const std::string_view> names) {
    return unknown_name_of(what, wanted, names, nearest_of(wanted, names));
}

InputError unknown_name(std::string_view what, std::string_view wanted,
                        std::span<const std::string> names, std::string_view meant) {
    return unknown_name_of(what, wanted, names, meant);
}

}  // namespace podsim::sim
