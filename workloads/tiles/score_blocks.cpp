#include "workloads/tiles/score_blocks.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace podsim::workloads {
namespace {

/// Sum of floor((a i + b) / m) over i = 0 .. n - 1, for whole a, b >= 0: in as many turns as Euclid's algorithm of a and m.
double sum_of_floors(double n, double m, double a, double b) {
    double sum = 0;
    while (n > 0) {
        sum += n * (n - 1) / 2 * std::floor(a / m) + n * std::floor(b / m);
        a = std::fmod(a, m);
        b = std::fmod(b, m);
        const double top = a * n + b;
        if (top < m) {
            break;
        }
        n = std::floor(top / m);
        b = std::fmod(top, m);
        std::swap(a, m);
    }
    return sum;
}

/// Rows of blocks whose first (or last) query is `first`, then q more each; keys are counted from the area's first.
struct Rows {
    double first = 0;
    double step = 0;

    /// How many of `count` are below x.
    [[nodiscard]] double below(double x, double count) const {
        return std::clamp(std::ceil((x - first) / step), 0.0, count);
    }
    /// Sum over rows [from, to) of the block of keys in which min(max(row, 0), last) lies.
    [[nodiscard]] double blocks(double from, double to, double last, double kv) const {
        const double zero = std::clamp(below(0, to), from, to);
        const double inside = std::clamp(below(last, to), zero, to);
        return sum_of_floors(inside - zero, kv, step, std::max(first + zero * step, 0.0)) +
               (to - inside) * std::floor(last / kv);
    }
};

/// Blocks of `count` rows of blocks, the last query of each `q - 1` behind its first.
double visited(const ScoreArea& area, double from, double count, double q, double kv) {
    const double last = area.keys - 1;
    if (!area.causal) {
        return count * (std::floor(last / kv) + 1);
    }
    const Rows lowest{from - area.key - area.window, q};
    const Rows highest{from - area.key + q - 1 + area.ahead, q};
    const double begin = highest.below(0, count);
    const double end = area.window > 0 ? lowest.below(area.keys, count) : count;
    if (end <= begin) {
        return 0;
    }
    const double skipped = area.window > 0 ? lowest.blocks(begin, end, last, kv) : 0;
    return highest.blocks(begin, end, last, kv) - skipped + (end - begin);
}

}  // namespace

double computed_scores(const ScoreArea& area, const ScoreBlock& block) {
    const double q = std::min(block.q, area.queries);
    const double kv = std::min(block.kv, area.keys);
    const double whole = std::floor(area.queries / q);
    const double rest = area.queries - whole * q;
    double blocks = visited(area, area.query, whole, q, kv);
    if (rest > 0) {
        blocks += visited(area, area.query + whole * q, 1, rest, kv);
    }
    return blocks * q * kv;
}

}  // namespace podsim::workloads
