#include "sim/base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace podsim::sim {

// Optimal string alignment.
std::size_t edits_between(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            const std::size_t replace = a[i - 1] == b[j - 1] ? 0 : 1;
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + replace});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[a.size()][b.size()];
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
        const std::size_t distance = edits_between(low, candidate);
        const std::size_t limit =
            std::max<std::size_t>(1, std::max(low.size(), candidate.size()) / 3);
        if (distance > limit && !contains(candidate, low) && !contains(low, candidate)) {
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
