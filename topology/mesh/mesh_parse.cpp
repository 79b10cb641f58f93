// The text form of factors: `x`, `x%4`, `x/4`, `x/2%3`.
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>

#include "sim/base/error.h"
#include "topology/mesh/mesh.h"

namespace podsim::topology {
namespace {

constexpr const char* kGrammar =
    "write an axis x, y, z or slice, then optionally /stride, then optionally %length: x, x%4, "
    "x/4, "
    "x/2%3";

std::vector<int> divisors(int n) {
    std::vector<int> result;
    for (int d = 1; d <= n; ++d) {
        if (n % d == 0) {
            result.push_back(d);
        }
    }
    return result;
}

/// Returns `allowed: 1, 2, 4, 8; nearest: 4`; of two equally near ones, the lower.
std::string allowed_divisors(int n, int wanted) {
    const std::vector<int> allowed = divisors(n);
    int nearest = allowed.front();
    for (const int d : allowed) {
        if (std::abs(d - wanted) < std::abs(nearest - wanted)) {
            nearest = d;
        }
    }
    return fmt::format("allowed: {}; nearest: {}", fmt::join(allowed, ", "), nearest);
}

/// Takes `sign` and a positive number from the start of `rest`; returns 0 if `rest` does not start
/// with `sign`.
int take_number(std::string_view& rest, char sign, std::string_view text) {
    if (rest.empty() || rest.front() != sign) {
        return 0;
    }
    int value = 0;
    const auto [end, problem] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), value);
    if (problem != std::errc{} || value < 1) {
        throw sim::InputError(
            fmt::format("factor '{}' has no positive whole number after '{}'", text, sign),
            kGrammar);
    }
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return value;
}

}  // namespace

AxisFactor parse_factor(std::string_view text, const Lattice& slice, int slices) {
    constexpr std::string_view kSlice = "slice";
    const bool of_slices = text.starts_with(kSlice);
    if (!of_slices && (text.empty() || text.front() < 'x' || text.front() > 'z')) {
        throw sim::InputError(fmt::format("factor '{}' does not start with an axis", text),
                              kGrammar);
    }
    AxisFactor factor{
        .axis = of_slices ? kSliceAxis : text.front() - 'x', .stride = 1, .length = 1};
    const std::string_view name = text.substr(0, of_slices ? kSlice.size() : 1);
    std::string_view rest = text.substr(name.size());
    const int stride = take_number(rest, '/', text);
    const int length = take_number(rest, '%', text);
    if (!rest.empty()) {
        throw sim::InputError(fmt::format("factor '{}' goes on with '{}'", text, rest), kGrammar);
    }
    const int axis_length = of_slices ? slices : slice.length(factor.axis);
    if (stride > 0) {
        if (axis_length % stride != 0) {
            throw sim::InputError(
                fmt::format("factor '{}': stride {} does not divide axis {} of length {}", text,
                            stride, name, axis_length),
                allowed_divisors(axis_length, stride));
        }
        factor.stride = stride;
    }
    factor.length = axis_length / factor.stride;
    if (length > 0) {
        if (factor.length % length != 0) {
            const std::string what =
                stride > 0
                    ? fmt::format("what a stride of {} leaves of axis {}, length {} / {} = {}",
                                  stride, name, axis_length, stride, factor.length)
                    : fmt::format("axis {} of length {}", name, axis_length);
            throw sim::InputError(
                fmt::format("factor '{}': length {} does not divide {}", text, length, what),
                allowed_divisors(factor.length, length));
        }
        factor.length = length;
    }
    return factor;
}

std::vector<AxisFactor> parse_factors(std::string_view text, const Lattice& slice, int slices) {
    constexpr std::string_view kBlanks = " \t\r\n";
    std::vector<AxisFactor> factors;
    std::size_t begin = text.find_first_not_of(kBlanks);
    while (begin != std::string_view::npos) {
        const std::size_t end = text.find_first_of(kBlanks, begin);
        factors.push_back(parse_factor(text.substr(begin, end - begin), slice, slices));
        begin = text.find_first_not_of(kBlanks, end);
    }
    return factors;
}

}  // namespace podsim::topology
