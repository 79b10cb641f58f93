#include "collectives/algorithms/order_weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace podsim::collectives {
namespace {

using Vector = std::vector<double>;

constexpr double kTiny = 1e-12;

/// A square system a x = b and its solution. The enumerations solve many small systems and reuse
/// one.
struct System {
    explicit System(std::size_t n) : a(n, Vector(n)), b(n), x(n) {}

    std::vector<Vector> a;
    Vector b;
    Vector x;
    std::vector<std::size_t> pivot_column{};
};

/// Solves the system in place by elimination with partial pivoting; returns false if it is
/// singular. Consistent redundant rows are tolerated: their unknown is set to zero.
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

/// The rows that weights with equal loads meet: differences of loads are 0, the sum is 1.
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

    /// Sets the system to A A' over the orders of a support.
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

/// Weights with equal loads, by the orders that may have a weight.
class EqualLoads {
public:
    explicit EqualLoads(const LoadTable& load)
        : orders_(load[0].size()), constraints_(load), gram_(constraints_.rows.size()) {}

    /// Returns the weights of least norm over all supports.
    std::optional<Vector> best() {
        const unsigned all = (1U << orders_) - 1;
        // The weights of least norm are at right angles to all differences of weights with equal
        // loads: others at a distance d have a norm larger by d squared. Those that leave out an
        // order are at least its weight away.
        constexpr double kSome = 1e-3;
        std::optional<Solution> best = on(all);
        if (best && std::ranges::min(best->w) > kSome) {
            return std::move(best->w);
        }
        best.reset();
        for (unsigned bits = 1; bits <= all; ++bits) {
            std::optional<Solution> one = on(bits);
            if (one && (!best || one->norm < best->norm - kTiny)) {
                best = std::move(one);
            }
        }
        return best ? std::optional(std::move(best->w)) : std::nullopt;
    }

private:
    struct Solution {
        Vector w;
        double norm = 0;
    };

    /// Returns w = A' (A A')^-1 b on a support S with constraint rows A; nothing if it has no equal
    /// loads or a negative weight.
    std::optional<Solution> on(unsigned bits) {
        set_members(support_, bits);
        constraints_.set_gram(support_, gram_);
        if (!solve(gram_)) {
            return std::nullopt;
        }
        Solution solution{Vector(orders_)};
        bool valid = true;
        for (const std::size_t o : support_) {
            double& w = solution.w[o];
            for (std::size_t i = 0; i < constraints_.rows.size(); ++i) {
                w += constraints_.rows[i][o] * gram_.x[i];
            }
            valid = valid && w >= -kTiny;
            w = std::max(w, 0.0);
            solution.norm += w * w;
        }
        return valid && constraints_.met_by(solution.w) ? std::optional(std::move(solution))
                                                        : std::nullopt;
    }

    std::size_t orders_;
    Constraints constraints_;
    System gram_;
    std::vector<std::size_t> support_;
};

/// A vertex of the linear program: the weights of a support and the largest load t, which as many
/// factors have.
struct Vertex {
    Vector w;
    double t = 0;
};

/// Returns nothing if no such vertex exists, or if another factor has a larger load.
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
    const std::optional<Vector> equal = EqualLoads(load).best();
    return equal ? *equal : least_largest_load(load);
}

}  // namespace podsim::collectives
