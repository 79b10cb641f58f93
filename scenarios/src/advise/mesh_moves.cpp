#include "scenarios/src/advise/mesh_moves.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "scenarios/src/scenario/training_step.h"
#include "workloads/plan/axis_names.h"

namespace podsim::scenarios {
namespace {

namespace axis = workloads::axis;

/// A logical axis' segment of a physical one. In a row of these, by stride, each begins where the
/// one before it ends.
struct Part {
    std::string owner;
    int length = 1;
};
using Row = std::vector<Part>;
using AxisRows = std::array<Row, topology::kAxes>;

constexpr std::array kMovable{axis::fsdp, axis::context, axis::tensor, axis::expert, axis::data};

/// The axes that give and take: `expert` only in training of a model with experts.
class Axes {
public:
    explicit Axes(const TrainingStep& step)
        : experts_(step.model.experts.count > 0 && !step.plan.inference) {}

    [[nodiscard]] bool move(const Part& part) const {
        return std::ranges::find(kMovable, part.owner) != kMovable.end() && allows(part.owner);
    }
    [[nodiscard]] bool allows(std::string_view owner) const {
        return owner != axis::expert || experts_;
    }

private:
    bool experts_;
};

std::vector<int> primes_of(int number) {
    std::vector<int> primes;
    for (int prime = 2; prime <= number; ++prime) {
        if (number % prime == 0) {
            primes.push_back(prime);
        }
        while (number % prime == 0) {
            number /= prime;
        }
    }
    return primes;
}

AxisRows rows_of(const topology::DeviceMesh& mesh) {
    std::array<std::vector<std::pair<int, Part>>, topology::kAxes> by_stride;
    for (const topology::LogicalAxis& logical : mesh.axes()) {
        for (const topology::AxisFactor& factor : logical.factors) {
            if (factor.axis != topology::kSliceAxis && factor.length > 1) {
                by_stride.at(static_cast<std::size_t>(factor.axis))
                    .push_back({factor.stride, {logical.name, factor.length}});
            }
        }
    }
    AxisRows rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::ranges::sort(by_stride[i], {}, &std::pair<int, Part>::first);
        for (auto& [stride, part] : by_stride[i]) {
            rows[i].push_back(std::move(part));
        }
    }
    return rows;
}

/// Drops segments of one member, and merges neighbours of one owner.
Row tidy(const Row& row) {
    Row tidy;
    for (const Part& part : row) {
        if (part.length == 1) {
            continue;
        }
        if (!tidy.empty() && tidy.back().owner == part.owner) {
            tidy.back().length *= part.length;
        } else {
            tidy.push_back(part);
        }
    }
    return tidy;
}

/// Returns the neighbouring rows in which segment `from` has given a factor.
std::vector<Row> moves_of(const Row& row, std::size_t from, const Axes& axes) {
    std::vector<Row> moves;
    const auto give = [&](std::size_t to, int factor) {
        Row moved = row;
        moved[from].length /= factor;
        moved[to].length *= factor;
        moves.push_back(tidy(moved));
    };
    for (const std::size_t to : {from - 1, from + 1}) {
        if (to >= row.size() || !axes.move(row[to])) {
            continue;
        }
        for (const int prime : primes_of(row[from].length)) {
            give(to, prime);
        }
        give(to, row[from].length);
    }
    for (const std::string_view taker : kMovable) {
        const bool beside = (from > 0 && row[from - 1].owner == taker) ||
                            (from + 1 < row.size() && row[from + 1].owner == taker);
        if (row[from].owner == taker || beside || !axes.allows(taker)) {
            continue;
        }
        for (const int prime : primes_of(row[from].length)) {
            for (const std::size_t at : {from, from + 1}) {
                Row moved = row;
                moved[from].length /= prime;
                moved.insert(moved.begin() + static_cast<std::ptrdiff_t>(at),
                             {std::string(taker), prime});
                moves.push_back(tidy(moved));
            }
        }
        // Two members are few for many experts.
        if (taker == axis::expert) {
            Row moved = row;
            moved[from].owner = taker;
            moves.push_back(tidy(moved));
        }
    }
    return moves;
}

/// Sorts the current factors of a logical axis into the order in which it had them before: ranks
/// count through them. New ones are last.
void put_in_order(std::vector<topology::AxisFactor>& factors,
                  const std::vector<topology::AxisFactor>& before) {
    const auto first_on = [&](int physical) {
        return std::ranges::find(before, physical, &topology::AxisFactor::axis) - before.begin();
    };
    const auto outer_first = [&](int physical) {
        const auto inner = std::ranges::find_if(before, [&](const topology::AxisFactor& factor) {
            return factor.axis == physical && factor.stride == 1;
        });
        return inner - before.begin() > first_on(physical);
    };
    std::ranges::stable_sort(factors, {}, [&](const topology::AxisFactor& factor) {
        return std::tuple(first_on(factor.axis), factor.axis,
                          outer_first(factor.axis) ? -factor.stride : factor.stride);
    });
}

/// Returns text such as `{fsdp: x/4 y z/2, context: z%2, tensor: x%4}`: the axes of `mesh` that
/// have members, then new ones, by the scenario's names.
std::string text_of(const AxisRows& rows, const topology::DeviceMesh& mesh,
                    const Hardware& hardware) {
    std::vector<topology::LogicalAxis> axes;
    for (const topology::LogicalAxis& logical : mesh.axes()) {
        axes.push_back({logical.name, {}});
        std::ranges::copy_if(logical.factors, std::back_inserter(axes.back().factors),
                             [](const topology::AxisFactor& factor) {
                                 return factor.axis == topology::kSliceAxis && factor.length > 1;
                             });
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        int stride = 1;
        for (const Part& part : rows[i]) {
            auto found = std::ranges::find(axes, part.owner, &topology::LogicalAxis::name);
            if (found == axes.end()) {
                found = axes.insert(axes.end(), {part.owner, {}});
            }
            found->factors.push_back({static_cast<int>(i), stride, part.length});
            stride *= part.length;
        }
    }
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        topology::LogicalAxis& logical = axes[i];
        put_in_order(logical.factors, i < mesh.axes().size() ? mesh.axes()[i].factors
                                                             : std::vector<topology::AxisFactor>{});
        std::vector<std::string> factors;
        for (topology::AxisFactor factor : logical.factors) {
            const bool slices = factor.axis == topology::kSliceAxis;
            const int length = slices ? hardware.slices : hardware.slice.length(factor.axis);
            factor.axis = slices ? factor.axis : mesh.written_axis(factor.axis);
            factors.push_back(topology::to_string(factor, length));
        }
        if (!factors.empty()) {
            texts.push_back(fmt::format("{}: {}", logical.name, fmt::join(factors, " ")));
        }
    }
    return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

/// Returns text such as `2 tensor ways instead of 4, 2240 fsdp ways instead of 1120`.
std::string meaning_of(const AxisRows& before, const AxisRows& after) {
    const auto size = [](const AxisRows& rows, std::string_view owner) {
        int members = 1;
        for (const Row& row : rows) {
            for (const Part& part : row) {
                members *= part.owner == owner ? part.length : 1;
            }
        }
        return members;
    };
    std::vector<std::string> texts;
    for (const std::string_view owner : kMovable) {
        if (const int now = size(after, owner), then = size(before, owner); now != then) {
            texts.push_back(fmt::format("{} {} instead of {}", owner, now, then));
        }
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

std::vector<PlanChange> mesh_moves(const Scenario& scenario) {
    const topology::DeviceMesh& mesh = scenario.step().mesh;
    const AxisRows rows = rows_of(mesh);
    const Axes axes(scenario.step());
    std::vector<PlanChange> moves;
    std::set<std::string> known{text_of(rows, mesh, scenario.hardware)};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t from = 0; from < rows[i].size(); ++from) {
            if (!axes.move(rows[i][from])) {
                continue;
            }
            for (const Row& moved : moves_of(rows[i], from, axes)) {
                AxisRows changed = rows;
                changed[i] = moved;
                const std::string text = text_of(changed, mesh, scenario.hardware);
                if (known.insert(text).second) {
                    moves.push_back({"mesh", {"mesh=" + text}, meaning_of(rows, changed)});
                }
            }
        }
    }
    return moves;
}

}  // namespace podsim::scenarios
