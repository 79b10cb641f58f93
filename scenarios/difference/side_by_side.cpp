#include "scenarios/difference/side_by_side.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <map>

#include "scenarios/text/format.h"

namespace podsim::scenarios {

std::vector<TermPair> side_by_side(std::span<const Share> a, std::span<const Share> b) {
    std::map<std::string, TermPair> terms;
    for (const Share& share : a) {
        terms[share.name].a += share.time;
    }
    for (const Share& share : b) {
        terms[share.name].b += share.time;
    }
    std::vector<TermPair> rows;
    rows.reserve(terms.size());
    for (const auto& [name, term] : terms) {
        rows.push_back({name, term.a, term.b});
    }
    std::ranges::stable_sort(rows, std::greater{},
                             [](const TermPair& row) { return std::abs(row.more().ps); });
    return rows;
}

std::string signed_time(sim::Time time) {
    return (time.ps < 0 ? "-" : "") + format_time(std::abs(time.seconds()));
}

std::vector<std::vector<std::string>> term_rows(std::span<const TermPair> terms, std::size_t most) {
    std::vector<std::vector<std::string>> rows;
    for (const TermPair& term : terms.first(std::min(terms.size(), most))) {
        rows.push_back(
            {"  " + term.name, signed_time(term.a), signed_time(term.b), signed_time(term.more())});
    }
    return rows;
}

}  // namespace podsim::scenarios
