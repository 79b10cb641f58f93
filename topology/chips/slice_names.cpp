#include "topology/chips/slice_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <tuple>
#include <vector>

#include "sim/base/error.h"
#include "topology/chips/chip.h"
#include "topology/lattice/shape.h"

namespace podsim::topology {
namespace {

constexpr int kMostNumber = 1 << 20;

int chips_in(const Point& shape) {
    return shape[0] * shape[1] * shape[2];
}

int sum(const Point& shape) {
    return shape[0] + shape[1] + shape[2];
}

/// Returns every shape that may be a default, short axes first.
std::vector<Point> defaults(const ChipSpec& chip) {
    const int most = chips_in(chip.pod_shape.value);
    std::vector<Point> shapes;
    if (chip.torus_dimensions.value == 2) {
        for (int x = 1; x * x <= most; x *= 2) {
            shapes.push_back({x, x, 1});
            if (2 * x * x <= most && x > 1) {
                shapes.push_back({x, 2 * x, 1});
            }
        }
        return shapes;
    }
    shapes = {{1, 1, 1}, {2, 2, 1}, {2, 2, 2}, {2, 2, 4}, {2, 4, 4}};
    for (int x = 4; x * x * x <= most; x += 4) {
        for (int y = x; x * y * y <= most; y += 4) {
            for (int z = y; x * y * z <= most; z += 4) {
                shapes.push_back({x, y, z});
            }
        }
    }
    return shapes;
}

[[noreturn]] void refuse_number(const ChipSpec& chip, std::string_view name, int number, int cores,
                                const std::vector<Point>& shapes) {
    const Point near = *std::ranges::min_element(shapes, {}, [&](const Point& shape) {
        return std::tuple(std::abs(chips_in(shape) * cores - number), chips_in(shape), sum(shape));
    });
    throw sim::InputError(
        fmt::format("no slice is called {}: {} is no number of {} that {} offers", name, number,
                    cores > 1 ? "cores (two a chip)" : "chips", chip.name),
        fmt::format("nearest: {}-{} ({}), or write a shape such as {}",
                    name.substr(0, name.rfind('-')), chips_in(near) * cores,
                    to_string(near, chip.torus_dimensions.value),
                    to_string(chip.pod_shape.value, chip.torus_dimensions.value)));
}

}  // namespace

std::span<const ChipAlias> chip_aliases() {
    static const std::vector<ChipAlias> all = [] {
        std::vector<ChipAlias> aliases;
        for (const ChipSpec& chip : chip_catalogue()) {
            for (const std::string& alias : chip.aliases) {
                aliases.push_back({alias, chip.name});
            }
        }
        return aliases;
    }();
    return all;
}

bool is_slice_name(std::string_view text) {
    const std::size_t dash = text.rfind('-');
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    // A text such as 4x-4 is meant as a shape.
    if (dash == std::string_view::npos || dash == 0 || dash + 1 == text.size() ||
        is_digit(text.front())) {
        return false;
    }
    const std::string_view rest = without_twist(text.substr(dash + 1));
    return !rest.empty() && is_digit(rest.front()) && is_digit(rest.back()) &&
           std::ranges::all_of(rest, [&](char c) { return is_digit(c) || c == 'x'; });
}

NamedSlice named_slice(std::string_view name) {
    refuse_twist(name);
    const std::size_t dash = name.rfind('-');
    const std::string_view word = name.substr(0, dash);
    const std::string_view digits = name.substr(dash + 1);
    const bool is_shape = digits.find('x') != std::string_view::npos;
    if (word == "v5") {
        throw sim::InputError(fmt::format("'{}' may be of v5e or of v5p", name),
                              fmt::format("write v5e-{0}{1} or v5p-{0}{2}", digits,
                                          is_shape ? "" : " (chips)", is_shape ? "" : " (cores)"));
    }
    const ChipSpec& chip = find_chip(word);
    if (is_shape) {
        const Point shape = parse_shape(std::string(digits));
        return {.chip = chip.name, .shape = shape, .chips = chips_in(shape)};
    }
    int number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (read.ec != std::errc{} || number > kMostNumber) {
        number = kMostNumber;
    }
    const int cores = chip.cores.value;
    const std::vector<Point> shapes = defaults(chip);
    const Point* best = nullptr;
    for (const Point& shape : shapes) {
        const bool fits = chips_in(shape) * cores == number;
        if (fits && (best == nullptr || sum(shape) < sum(*best))) {
            best = &shape;
        }
    }
    if (best == nullptr) {
        refuse_number(chip, name, number, cores, shapes);
    }
    return {.chip = chip.name, .shape = *best, .chips = chips_in(*best), .counts_cores = cores > 1};
}

std::string describe_named(std::string_view name) {
    const NamedSlice slice = named_slice(name);
    const ChipSpec& chip = find_chip(slice.chip);
    if (name.find('x', name.rfind('-')) != std::string_view::npos) {
        return fmt::format("{}: {} chips", name, slice.chips);
    }
    return fmt::format("{}: {}{} chips, {} where the cloud is not asked for another topology", name,
                       slice.counts_cores ? fmt::format("{} cores, ", 2 * slice.chips) : "",
                       slice.chips, to_string(slice.shape, chip.torus_dimensions.value));
}

}  // namespace podsim::topology
