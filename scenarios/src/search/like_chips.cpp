#include "scenarios/src/search/like_chips.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace podsim::scenarios {
namespace {

using topology::AxisFactor;

/// Returns the first chip of its group along an axis.
int base_of(int chip, std::span<const AxisFactor> factors) {
    for (const AxisFactor& factor : factors) {
        chip -= chip / factor.stride % factor.length * factor.stride;
    }
    return chip;
}

int members_count(std::span<const AxisFactor> factors) {
    int count = 1;
    for (const AxisFactor& factor : factors) {
        count *= factor.length;
    }
    return count;
}

}  // namespace

LikeChips::LikeChips(const topology::Lattice& slice, const topology::Places& folded, bool mirrored)
    : twisted_(slice.twisted()), places_(folded.size()), slices_(folded.slices) {
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        Axis& one = axes_[static_cast<std::size_t>(axis)];
        one.length = slice.length(axis);
        one.period = 1;
        while (one.period < one.length) {
            const auto place = folded.chips.canonical(topology::along(axis, one.period));
            if (place && *place == topology::Point{}) {
                break;
            }
            ++one.period;
        }
        one.mirrored = mirrored && !twisted_ && one.period % 2 == 0;
    }
}

int LikeChips::first_like(const Axis& axis, int chip) {
    const int place = chip % axis.period;
    return axis.mirrored ? std::min(place, axis.period - 1 - place) : place;
}

bool LikeChips::alike(const collectives::Members& members) const {
    if (members.span_slices() && slices_ > 1) {
        return false;
    }
    return std::ranges::all_of(members.group, [&](const AxisFactor& factor) {
        const Axis& axis = along(factor.axis);
        for (int chip = 0; chip + factor.stride < axis.length; ++chip) {
            const bool last = chip / factor.stride % factor.length == factor.length - 1;
            if (!last && first_like(axis, chip) != first_like(axis, chip + factor.stride)) {
                return false;
            }
        }
        return true;
    });
}

const LikeChips::Beside& LikeChips::beside(std::span<const AxisFactor> factors) const {
    std::vector<int> key{factors.front().axis};
    for (const AxisFactor& factor : factors) {
        key.insert(key.end(), {factor.stride, factor.length});
    }
    const auto [entry, added] = known_.try_emplace(std::move(key));
    if (added) {
        entry->second = find_beside(along(factors.front().axis), factors);
    }
    return entry->second;
}

LikeChips::Beside LikeChips::find_beside(const Axis& one,
                                         std::span<const AxisFactor> factors) const {
    const int own = members_count(factors);
    const int run = factors.back().stride * factors.back().length;
    Beside least{.covered = 1, .in_run = run, .lines = {}};
    for (const AxisFactor& factor : factors) {
        least.lines.push_back(factor.stride);
    }
    if (twisted_) {
        return one.period == 1 ? least
                               : Beside{static_cast<double>(own) / one.length, 1,
                                        std::vector<int>(factors.size(), 1)};
    }
    std::vector<bool> found;  // by the first chip of a group
    for (int chip = 0; chip < one.period; ++chip) {
        if (first_like(one, chip) != chip) {
            continue;
        }
        found.assign(static_cast<std::size_t>(one.length), false);
        int groups = 0;
        int in_run = 0;
        for (int other = 0; other < one.length; ++other) {
            const int base = base_of(other, factors);
            if (first_like(one, other) == chip && !found[static_cast<std::size_t>(base)]) {
                found[static_cast<std::size_t>(base)] = true;
                ++groups;
                in_run += base / run == chip / run ? 1 : 0;
            }
        }
        least.covered = std::min(least.covered, static_cast<double>(groups * own) / one.length);
        least.in_run = std::min(least.in_run, in_run);
        for (std::size_t f = 0; f < factors.size(); ++f) {
            const int begin = chip - chip % (factors[f].stride * factors[f].length);
            int lines = 0;
            for (int line = 0; line < factors[f].stride; ++line) {
                lines += found[static_cast<std::size_t>(base_of(begin + line, factors))] ? 1 : 0;
            }
            least.lines[f] = std::min(least.lines[f], lines);
        }
    }
    return least;
}

bool LikeChips::crowded(const collectives::Members& members) const {
    if (members.span_slices() && places_ > 1) {
        return true;
    }
    return std::ranges::any_of(by_axis(members.group), [&](const auto& factors) {
        return factors.back().stride > 1 && beside(factors).covered < 1;
    });
}

std::vector<std::span<const AxisFactor>> by_axis(const collectives::Group& group) {
    std::vector<std::span<const AxisFactor>> factors;
    for (std::size_t begin = 0; begin < group.size();) {
        std::size_t end = begin;
        while (end < group.size() && group[end].axis == group[begin].axis) {
            ++end;
        }
        factors.push_back(std::span(group).subspan(begin, end - begin));
        begin = end;
    }
    return factors;
}

}  // namespace podsim::scenarios
