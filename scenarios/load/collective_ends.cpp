#include "scenarios/load/collective_ends.h"

#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace podsim::scenarios {
namespace {

using collectives::Operation;

/// Which operations have an option, and what the message calls them.
struct Owner {
    const char* option;
    const char* operations;
    bool (*has)(Operation);
};
constexpr Owner kOwners[] = {
    {"axes", "every operation but send", [](Operation o) { return o != Operation::send; }},
    {"shift", "permute", [](Operation o) { return o == Operation::permute; }},
    {"root", "broadcast, gather and scatter", collectives::is_rooted},
    {"from", "send", [](Operation o) { return o == Operation::send; }},
    {"to", "send", [](Operation o) { return o == Operation::send; }},
};

std::optional<int> whole_number(std::string_view text) {
    int value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

/// The coordinates of a chip along the axes that the chip's generation has: `0,3`.
std::string coordinates(const topology::Point& chip, const Hardware& hardware) {
    const int dimensions = hardware.chip.torus_dimensions.value;
    return fmt::format("{}", fmt::join(chip.begin(), chip.begin() + dimensions, ","));
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

}  // namespace

topology::Point parse_chip(const std::string& text, const Hardware& hardware) {
    const int dimensions = hardware.chip.torus_dimensions.value;
    topology::Point last = hardware.slice.lengths;
    for (int& coordinate : last) {
        --coordinate;
    }
    const std::string remedy = fmt::format("write {} coordinates, from {} to {}", dimensions,
                                           coordinates({}, hardware), coordinates(last, hardware));
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

collectives::Ends read_ends(const Usage& options, const CollectiveRequest& request) {
    for (const Owner& owner : kOwners) {
        if (options.has(owner.option) && !owner.has(request.operation)) {
            throw sim::InputError(fmt::format("--{} does not go with --op {}", owner.option,
                                              collectives::to_string(request.operation)),
                                  fmt::format("it is for {}", owner.operations));
        }
    }
    const auto chip = [&](const std::string& option) {
        return read_option(options, option, [&](const std::string& text) {
            return parse_chip(text, request.hardware);
        });
    };
    collectives::Ends ends;
    if (options.has("shift")) {
        ends.shift = read_option(options, "shift", [&](const std::string& text) {
            return parse_shift(text, request.members.group);
        });
    }
    if (request.operation == Operation::send) {
        ends.root = chip("from");
        ends.to = chip("to");
        if (ends.root == ends.to) {
            throw sim::InputError("--from and --to name the same chip", "name two chips");
        }
    } else if (collectives::is_rooted(request.operation)) {
        ends.root = chip("root");
    }
    return ends;
}

std::string ends_text(const CollectiveRequest& request) {
    const std::string root = fmt::format("({})", coordinates(request.ends.root, request.hardware));
    switch (request.operation) {
        case Operation::permute:
            return fmt::format("by {}", request.ends.shift);
        case Operation::send:
            return fmt::format("from {} to ({})", root,
                               coordinates(request.ends.to, request.hardware));
        case Operation::gather:
            return "to " + root;
        case Operation::broadcast:
        case Operation::scatter:
            return "from " + root;
        default:
            return {};
    }
}

Json ends_json(const CollectiveRequest& request) {
    const auto chip = [&](const topology::Point& point) {
        const int dimensions = request.hardware.chip.torus_dimensions.value;
        return std::vector<int>(point.begin(), point.begin() + dimensions);
    };
    if (request.operation == Operation::permute) {
        return {{"shift", request.ends.shift}};
    }
    if (request.operation == Operation::send) {
        return {{"from", chip(request.ends.root)}, {"to", chip(request.ends.to)}};
    }
    return collectives::is_rooted(request.operation) ? Json{{"root", chip(request.ends.root)}}
                                                     : Json::object();
}

}  // namespace podsim::scenarios
