#include "topology/lattice/shape.h"

#include <charconv>
#include <cstdint>
#include <fmt/format.h>
#include <optional>

#include "sim/base/error.h"

namespace podsim::topology {
namespace {

constexpr std::int64_t kMostChips = std::int64_t{1} << 20;

/// Returns the positive whole number that fills the text, or nullopt.
std::optional<int> parse_length(std::string_view text) {
    int value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size() || value < 1) {
        return std::nullopt;
    }
    return value;
}

constexpr std::string_view kTwists[] = {"_twisted", "_untwisted"};

}  // namespace

std::string_view without_twist(std::string_view text) {
    for (const std::string_view twist : kTwists) {
        if (text.ends_with(twist)) {
            return text.substr(0, text.size() - twist.size());
        }
    }
    return text;
}

void refuse_twist(std::string_view text) {
    const std::string_view shape = without_twist(text);
    if (shape.size() == text.size()) {
        return;
    }
    throw sim::InputError(
        fmt::format("'{}' says its twist, which is a setting of its own", text),
        text.ends_with("_untwisted")
            ? fmt::format("write {}: it is twisted with --twisted alone, in a scenario with "
                          "hardware.twisted: true",
                          shape)
            : fmt::format("write {} with --twisted, in a scenario with hardware.twisted: true",
                          shape));
}

Point parse_shape(std::string_view text) {
    refuse_twist(text);
    const std::string remedy = "write lengths joined by 'x', such as 8x4 or 16x20x28";
    Point shape{1, 1, 1};
    std::int64_t chips = 1;
    std::string_view rest = text;
    for (std::size_t axis = 0;; ++axis) {
        if (axis == kAxes) {
            throw sim::InputError(fmt::format("shape '{}' has more than {} axes", text, kAxes),
                                  remedy);
        }
        const std::size_t end = rest.find('x');
        const std::string_view part = rest.substr(0, end);
        const auto length = parse_length(part);
        if (!length) {
            throw sim::InputError(
                fmt::format("shape '{}': '{}' is not a positive whole number", text, part), remedy);
        }
        shape[axis] = *length;
        chips *= *length;
        if (chips > kMostChips) {
            throw sim::InputError(fmt::format("shape '{}' has more than 2^20 chips", text), remedy);
        }
        if (end == std::string_view::npos) {
            return shape;
        }
        rest.remove_prefix(end + 1);
    }
}

std::string to_string(const Point& shape, int dimensions) {
    return fmt::format("{}", fmt::join(shape.begin(), shape.begin() + dimensions, "x"));
}

}  // namespace podsim::topology
