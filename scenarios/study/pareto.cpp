#include "scenarios/study/pareto.h"

#include <algorithm>
#include <iterator>
#include <string_view>

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

/// Which of their values the keys of the load have in a setting.
std::vector<std::size_t> load_of(const SweepRow& row, const Sweep& sweep) {
    std::vector<std::size_t> choice = sweep.choice(row.index);
    for (std::size_t key = 0; key < choice.size(); ++key) {
        if (std::ranges::find(kLoad, sweep.varied()[key].key) == std::end(kLoad)) {
            choice[key] = 0;
        }
    }
    return choice;
}

}  // namespace

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

}  // namespace podsim::scenarios
