#include "scenarios/src/scenario/collective_ends.h"

#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <string_view>

#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

std::optional<int> whole_number(std::string_view text) {
    int value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

}  // namespace

std::string chip_text(const topology::Point& chip, const Hardware& hardware) {
    const int dimensions = hardware.chip.torus_dimensions.value;
    return fmt::format("{}", fmt::join(chip.begin(), chip.begin() + dimensions, ","));
}

topology::Point parse_chip(const std::string& text, const Hardware& hardware) {
    const int dimensions = hardware.chip.torus_dimensions.value;
    topology::Point last = hardware.slice.lengths;
    for (int& coordinate : last) {
        --coordinate;
    }
    const std::string remedy = fmt::format("write {} coordinates, from {} to {}", dimensions,
                                           chip_text({}, hardware), chip_text(last, hardware));
    topology::Point chip{};
    std::string_view rest = text;
    for (std::size_t axis = 0;; ++axis) {
        const std::size_t end = rest.find(',');
        const std::optional<int> coordinate = whole_number(rest.substr(0, end));
        const bool more = end != std::string_view::npos;
        if (!coordinate || more != (static_cast<int>(axis) + 1 < dimensions)) {
            throw sim::InputError("not a chip of the slice", remedy);
        }
        if (*coordinate < 0 || *coordinate > last[axis]) {
            throw sim::InputError(
                fmt::format("{} = {} lies outside the slice {}",
                            topology::axis_name(static_cast<int>(axis)), *coordinate,
                            topology::to_string(hardware.shape, dimensions)),
                remedy);
        }
        chip[axis] = *coordinate;
        if (!more) {
            return chip;
        }
        rest.remove_prefix(end + 1);
    }
}

int parse_shift(const std::string& text, const collectives::Group& group) {
    const std::optional<int> shift = whole_number(text);
    if (!shift) {
        throw sim::InputError("not a whole number", "write a number of members, such as 1 or -1");
    }
    const int members = collectives::group_size(group);
    if (*shift % members == 0) {
        throw sim::InputError(
            fmt::format("a shift by {} moves nothing in a group of {}", *shift, members),
            fmt::format("take one that is not a multiple of {}", members));
    }
    return *shift;
}

}  // namespace podsim::scenarios
