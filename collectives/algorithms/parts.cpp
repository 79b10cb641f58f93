// How the array is divided among axis orders: two small exact optimisations by enumeration.
//
// Let load(a, o) be the link time per byte that factor a spends on a part of order o. The weights w
// minimise t = max over a of sum over o of w(o) load(a, o), with w >= 0 and sum w = 1. Groups have at
// most a few factors, so the vertices of this linear program are enumerated. Where all loads can be
// equal, t is optimal, and the weights of least norm among those solutions are taken: they spread
// the array over all orders, which keeps every axis busy from the first chunk to the last.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "collectives/vocabulary/algorithm.h"

namespace podsim::collectives {
namespace {

using Row = std::vector<double>;
using Matrix = std::vector<Row>;

constexpr double kTiny = 1e-12;
constexpr std::size_t kAllOrders = 3;  ///< factors up to which every order is a part

/// A square system a x = b and its solution. The enumerations solve many small ones: they use one again.
struct System {
    explicit System(std::size_t n) : a(n, Row(n)), b(n), x(n) {}

    Matrix a;
    Row b;
    Row x;
    std::vector<std::size_t> pivot_column{};
};

/// Solves the system in place by elimination with partial pivoting; false when singular.
/// Consistent redundant rows are tolerated: their unknown is set to zero.
bool solve(System& system) {
    auto& [a, b, x, pivot_column] = system;
    const std::size_t n = b.size();
    pivot_column.clear();
    std::size_t row = 0;
    for (std::size_t column = 0; column < n && row < n; ++column) {
        std::size_t best = row;
        for (std::size_t r = row + 1; r < n; ++r) {
            if (std::abs(a[r][column]) > std::abs(a[best][column])) {
                best = r;
            }
        }
        if (std::abs(a[best][column]) < kTiny) {
            continue;
        }
        std::swap(a[row], a[best]);
        std::swap(b[row], b[best]);
        for (std::size_t r = 0; r < n; ++r) {
            if (r == row) {
                continue;
            }
            const double factor = a[r][column] / a[row][column];
            for (std::size_t c = column; c < n; ++c) {
                a[r][c] -= factor * a[row][c];
            }
            b[r] -= factor * b[row];
        }
        pivot_column.push_back(column);
        ++row;
    }
    for (std::size_t r = row; r < n; ++r) {
        if (std::abs(b[r]) > 1e-9) {
            return false;
        }
    }
    std::fill(x.begin(), x.end(), 0.0);
    for (std::size_t r = 0; r < row; ++r) {
        x[pivot_column[r]] = b[r] / a[r][pivot_column[r]];
    }
    return true;
}

/// load[a][o], scaled so that its largest entry is 1. Of a line, gathering fills the link into its end,
/// a tree (reduce_broadcast.h) every link alike: length / 2 in the units of a two-way ring's length - 1.
Matrix loads(const topology::Lattice& slice, const Group& group, const std::vector<Part>& parts,
             bool trees) {
    Matrix load(group.size(), Row(parts.size()));
    double largest = 0;
    for (std::size_t o = 0; o < parts.size(); ++o) {
        double gathered = 1;
        for (std::size_t i = 0; i < parts[o].order.size(); ++i) {
            const auto a = static_cast<std::size_t>(parts[o].order[i]);
            const int length = parts[o].lengths[i];
            const FactorKind kind = factor_kind(slice, group[a]);
            const bool ring = kind.ring || spans_twisted_slice(slice, group);
            const double blocks = ring ? (length - 1) / 2.0 : trees ? length / 2.0 : length - 1;
            load[a][o] = blocks * gathered * kind.links_per_hop;
            largest = std::max(largest, load[a][o]);
            gathered *= length;
        }
    }
    for (Row& row : load) {
        for (double& value : row) {
            value /= largest;
        }
    }
    return load;
}

/// Sets `list` to the members of the subset `bits`.
void set_members(std::vector<std::size_t>& list, unsigned bits) {
    list.clear();
    for (std::size_t i = 0; bits >> i != 0; ++i) {
        if ((bits >> i & 1U) != 0) {
            list.push_back(i);
        }
    }
}

/// The weights of least norm for which all factors have equal load, if there are any.
/// On a support S with constraint rows A (differences of loads, and the sum), w = A' (A A')^-1 b.
std::optional<Row> equal_loads(const Matrix& load) {
    const std::size_t orders = load[0].size();
    Matrix constraints;
    for (std::size_t a = 1; a < load.size(); ++a) {
        Row difference(orders);
        for (std::size_t o = 0; o < orders; ++o) {
            difference[o] = load[a][o] - load[0][o];
        }
        constraints.push_back(std::move(difference));
    }
    constraints.emplace_back(orders, 1.0);
    Row target(constraints.size(), 0.0);
    target.back() = 1;

    std::optional<Row> best;
    double best_norm = 0;
    std::vector<std::size_t> support;
    System gram(constraints.size());
    Row w(orders);
    for (unsigned bits = 1; bits < 1U << orders; ++bits) {
        set_members(support, bits);
        for (std::size_t i = 0; i < constraints.size(); ++i) {
            for (std::size_t j = 0; j < constraints.size(); ++j) {
                double sum = 0;
                for (const std::size_t o : support) {
                    sum += constraints[i][o] * constraints[j][o];
                }
                gram.a[i][j] = sum;
            }
        }
        gram.b = target;
        if (!solve(gram)) {
            continue;
        }
        std::fill(w.begin(), w.end(), 0.0);
        double norm = 0;
        bool valid = true;
        for (const std::size_t o : support) {
            for (std::size_t i = 0; i < constraints.size(); ++i) {
                w[o] += constraints[i][o] * gram.x[i];
            }
            valid = valid && w[o] >= -kTiny;
            w[o] = std::max(w[o], 0.0);
            norm += w[o] * w[o];
        }
        for (std::size_t i = 0; i < constraints.size(); ++i) {
            valid = valid &&
                    std::abs(std::inner_product(w.begin(), w.end(), constraints[i].begin(), 0.0) -
                             target[i]) < 1e-9;
        }
        if (valid && (!best || norm < best_norm - kTiny)) {
            best = w;
            best_norm = norm;
        }
    }
    return best;
}

/// A vertex of the linear program: a support and as many factors whose loads are the largest.
Row least_largest_load(const Matrix& load) {
    const std::size_t orders = load[0].size();
    const std::size_t factors = load.size();
    Row best;
    double best_t = 0;
    std::vector<std::size_t> support;
    std::vector<std::size_t> tight;
    for (unsigned bits = 1; bits < 1U << orders; ++bits) {
        set_members(support, bits);
        if (support.size() > factors) {
            continue;
        }
        for (unsigned tight_bits = 1; tight_bits < 1U << factors; ++tight_bits) {
            set_members(tight, tight_bits);
            if (tight.size() != support.size()) {
                continue;
            }
            const std::size_t n = support.size() + 1;  // the weights, then t
            System system(n);
            for (std::size_t i = 0; i < tight.size(); ++i) {
                for (std::size_t j = 0; j < support.size(); ++j) {
                    system.a[i][j] = load[tight[i]][support[j]];
                }
                system.a[i][n - 1] = -1;
            }
            std::fill(system.a[n - 1].begin(), system.a[n - 1].end() - 1, 1.0);
            system.b[n - 1] = 1;
            if (!solve(system)) {
                continue;
            }
            Row w(orders, 0.0);
            bool valid = true;
            for (std::size_t j = 0; j < support.size(); ++j) {
                w[support[j]] = system.x[j];
                valid = valid && system.x[j] >= -kTiny;
            }
            const double t = system.x.back();
            for (const Row& row : load) {
                valid =
                    valid && std::inner_product(w.begin(), w.end(), row.begin(), 0.0) <= t + 1e-9;
            }
            if (valid && (best.empty() || t < best_t - kTiny)) {
                best = w;
                best_t = t;
            }
        }
    }
    return best;
}

std::vector<Part> all_orders(std::size_t factors) {
    std::vector<int> order(factors);
    std::iota(order.begin(), order.end(), 0);
    std::vector<Part> parts;
    do {
        parts.push_back({order, {}, 0});
    } while (std::next_permutation(order.begin(), order.end()));
    return parts;
}

std::vector<Part> rotations(std::size_t factors) {
    std::vector<int> order(factors);
    std::iota(order.begin(), order.end(), 0);
    std::vector<Part> parts;
    for (std::size_t turn = 0; turn < factors; ++turn) {
        parts.push_back({order, {}, 1.0 / static_cast<double>(factors)});
        std::rotate(order.begin(), order.begin() + 1, order.end());
    }
    return parts;
}

/// Fills in the members along each factor, in the part's order.
void set_lengths(const topology::Lattice& slice, const Group& group, std::vector<Part>& parts) {
    for (Part& part : parts) {
        if (spans_twisted_slice(slice, group)) {
            part.lengths = ring_lengths(slice, group, part.order);
            continue;
        }
        for (const int index : part.order) {
            part.lengths.push_back(group[static_cast<std::size_t>(index)].length);
        }
    }
}

}  // namespace

std::vector<Part> divide(const topology::Lattice& slice, const Group& group, Algorithm algorithm) {
    if (group.empty()) {
        return {};
    }
    const bool trees = algorithm == Algorithm::reduce_broadcast;
    const bool one_shot = algorithm == Algorithm::one_shot;
    if (!trees && !one_shot) {
        algorithm = resolve(Operation::all_gather, algorithm, slice, group);
    }
    if (algorithm == Algorithm::equal_parts || one_shot) {
        std::vector<Part> parts = rotations(group.size());
        set_lengths(slice, group, parts);
        return parts;
    }
    if ((algorithm != Algorithm::weighted && !trees) || group.size() == 1) {
        std::vector<Part> whole{{std::vector<int>(group.size()), {}, 1.0}};
        std::iota(whole[0].order.begin(), whole[0].order.end(), 0);
        set_lengths(slice, group, whole);
        return whole;
    }
    std::vector<Part> parts =
        group.size() <= kAllOrders ? all_orders(group.size()) : rotations(group.size());
    set_lengths(slice, group, parts);
    const Matrix load = loads(slice, group, parts, trees);
    const std::optional<Row> equal = equal_loads(load);
    const Row weights = equal ? *equal : least_largest_load(load);
    double sum = 0;
    for (std::size_t o = 0; o < parts.size(); ++o) {
        parts[o].weight = weights[o] > 1e-6 ? weights[o] : 0;
        sum += parts[o].weight;
    }
    std::erase_if(parts, [](const Part& part) { return part.weight == 0; });
    for (Part& part : parts) {
        part.weight /= sum;
    }
    return parts;
}

}  // namespace podsim::collectives
