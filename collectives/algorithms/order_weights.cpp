#include "collectives/algorithms/order_weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace podsim::collectives {
namespace {

using Vector = std::vector<double>;

constexpr double kTiny = 1e-12;

/// A square system a x = b and its solution. The enumerations solve many small ones and use one again.
struct System {
    explicit System(std::size_t n) : a(n, Vector(n)), b(n), x(n) {}

    std::vector<Vector> a;
    Vector b;
    Vector x;
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

/// Sets `list` to the members of the subset `bits`.
void set_members(std::vector<std::size_t>& list, unsigned bits) {
    list.clear();
    for (std::size_t i = 0; bits >> i != 0; ++i) {
        if ((bits >> i & 1U) != 0) {
            list.push_back(i);
        }
    }
}

double dot(const Vector& a, const Vector& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Rows that the weights must meet where all loads are equal: differences of loads are 0, the sum is 1.
struct Constraints {
    explicit Constraints(const LoadTable& load) {
        const std::size_t orders = load[0].size();
        for (std::size_t a = 1; a < load.size(); ++a) {
            Vector difference(orders);
            for (std::size_t o = 0; o < orders; ++o) {
                difference[o] = load[a][o] - load[0][o];
            }
            rows.push_back(std::move(difference));
        }
        rows.emplace_back(orders, 1.0);
        target.assign(rows.size(), 0.0);
        target.back() = 1;
    }

    /// A A' over the orders of a support.
    void set_gram(const std::vector<std::size_t>& support, System& gram) const {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            for (std::size_t j = 0; j < rows.size(); ++j) {
                double sum = 0;
                for (const std::size_t o : support) {
                    sum += rows[i][o] * rows[j][o];
                }
                gram.a[i][j] = sum;
            }
        }
        gram.b = target;
    }

    [[nodiscard]] bool met_by(const Vector& w) const {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (std::abs(dot(w, rows[i]) - target[i]) >= 1e-9) {
                return false;
            }
        }
        return true;
    }

    std::vector<Vector> rows;
    Vector target;
};

/// The weights of least norm for which all factors have equal load, if there are any.
/// On a support S with constraint rows A, w = A' (A A')^-1 b.
std::optional<Vector> equal_loads(const LoadTable& load) {
    const std::size_t orders = load[0].size();
    const Constraints constraints(load);
    std::optional<Vector> best;
    double best_norm = 0;
    std::vector<std::size_t> support;
    System gram(constraints.rows.size());
    Vector w(orders);
    for (unsigned bits = 1; bits < 1U << orders; ++bits) {
        set_members(support, bits);
        constraints.set_gram(support, gram);
        if (!solve(gram)) {
            continue;
        }
        std::fill(w.begin(), w.end(), 0.0);
        double norm = 0;
        bool valid = true;
        for (const std::size_t o : support) {
            for (std::size_t i = 0; i < constraints.rows.size(); ++i) {
                w[o] += constraints.rows[i][o] * gram.x[i];
            }
            valid = valid && w[o] >= -kTiny;
            w[o] = std::max(w[o], 0.0);
            norm += w[o] * w[o];
        }
        if (valid && constraints.met_by(w) && (!best || norm < best_norm - kTiny)) {
            best = w;
            best_norm = norm;
        }
    }
    return best;
}

/// A vertex of the linear program: the weights of a support and the largest load t, where as many factors have it.
struct Vertex {
    Vector w;
    double t = 0;
};

/// Nothing where no such weights exist, or another factor has a larger load.
std::optional<Vertex> vertex_of(const LoadTable& load, const std::vector<std::size_t>& support,
                                const std::vector<std::size_t>& tight) {
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
        return std::nullopt;
    }
    Vertex vertex{Vector(load[0].size()), system.x.back()};
    for (std::size_t j = 0; j < support.size(); ++j) {
        vertex.w[support[j]] = system.x[j];
        if (system.x[j] < -kTiny) {
            return std::nullopt;
        }
    }
    const bool largest = std::ranges::all_of(
        load, [&](const Vector& row) { return dot(vertex.w, row) <= vertex.t + 1e-9; });
    return largest ? std::optional(std::move(vertex)) : std::nullopt;
}

Vector least_largest_load(const LoadTable& load) {
    const std::size_t orders = load[0].size();
    const std::size_t factors = load.size();
    std::optional<Vertex> best;
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
            std::optional<Vertex> vertex = vertex_of(load, support, tight);
            if (vertex && (!best || vertex->t < best->t - kTiny)) {
                best = std::move(vertex);
            }
        }
    }
    return best.value().w;
}

}  // namespace

std::vector<double> order_weights(const LoadTable& load) {
    const std::optional<Vector> equal = equal_loads(load);
    return equal ? *equal : least_largest_load(load);
}

}  // namespace podsim::collectives
