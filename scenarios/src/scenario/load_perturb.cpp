// `perturb:` a list of maps, one for each perturbation.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <initializer_list>

#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/load_parts.h"

namespace podsim::scenarios {
namespace {

using Kind = Perturbation::Kind;

constexpr std::pair<std::string_view, Kind> kPerturbations[] = {
    {"slow_chips", Kind::slow_chips}, {"random_chips", Kind::random_chips},
    {"slow_link", Kind::slow_link},   {"dead_link", Kind::dead_link},
    {"slow_host", Kind::slow_host},   {"slow_dcn", Kind::slow_dcn},
};

double parse_rate_share(const std::string& text) {
    const double share = parse_percent(text);
    if (share <= 0 || share > 1) {
        throw sim::InputError(fmt::format("{} is not above 0 % and at most 100 %", in_quotes(text)),
                              "write the share of the rate that is left, such as 50 %");
    }
    return share;
}

std::optional<int> coordinate(const Reader& at, int length) {
    if (!at.present()) {
        return std::nullopt;
    }
    return static_cast<int>(at.whole_of_machine(0, length - 1));
}

Where read_where(const Reader& item, const Hardware& hardware) {
    constexpr std::array<std::string_view, topology::kAxes> kNames{"x", "y", "z"};
    Where where;
    for (std::size_t axis = 0; axis < kNames.size(); ++axis) {
        where.chip[axis] = coordinate(item[kNames[axis]], hardware.slice.lengths[axis]);
    }
    where.slice = coordinate(item["slice"], hardware.slices);
    return where;
}

/// Reads `x`, `+x` or `-x`: the link from the chip towards higher or lower coordinates.
void read_link(const Reader& item, const Hardware& hardware, Perturbation& one) {
    static_cast<void>(item["link"].read([&](const std::string& text) {
        const bool signed_link = !text.empty() && (text.front() == '+' || text.front() == '-');
        const std::string axis = signed_link ? text.substr(1) : text;
        if (axis.size() != 1 || axis.front() < 'x' || axis.front() > 'z') {
            throw sim::InputError(fmt::format("{} is not a link", in_quotes(text)),
                                  "write an axis (x: both ways), or +x or -x");
        }
        one.axis = axis.front() - 'x';
        one.direction = !signed_link ? 0 : text.front() == '+' ? 1 : -1;
        if (hardware.slice.length(one.axis) == 1) {
            throw sim::InputError(fmt::format("axis {} of this slice has no links", axis),
                                  "name an axis longer than 1");
        }
        const std::optional<int>& at = one.where.chip[static_cast<std::size_t>(one.axis)];
        const int last = hardware.slice.length(one.axis) - 1;
        const bool beyond = one.direction < 0 ? at == 0 : at == last;
        if (!hardware.slice.wraps(one.axis) && beyond) {
            throw sim::InputError(
                fmt::format("axis {} does not wrap: there is no link beyond its end", axis),
                fmt::format("name {} from {} to {}", axis, one.direction < 0 ? 1 : 0,
                            one.direction < 0 ? last : last - 1));
        }
        return 0;
    }));
}

/// Refuses keys that a kind does not have.
void refuse_others(const Reader& item, std::string_view kind,
                   std::initializer_list<std::string_view> own) {
    for (const YamlNode::Entry& entry : item.node().entries) {
        const bool place = entry.key == "kind" || entry.key == "x" || entry.key == "y" ||
                           entry.key == "z" || entry.key == "slice";
        if (!place && std::ranges::find(own, entry.key) == own.end()) {
            item[entry.key].refuse(
                fmt::format("{} has no such key", kind),
                fmt::format("it has {}; and x, y, z, slice", fmt::join(own, ", ")));
        }
    }
}

void check_dead_link(const Reader& item, const Hardware& hardware, const Perturbation& one) {
    if (one.direction != 0) {
        throw item["link"].error("a dead link is dead both ways",
                                 "write the axis alone, such as x");
    }
    if (!one.where.chip[static_cast<std::size_t>(one.axis)].has_value()) {
        const char axis = topology::axis_name(one.axis);
        throw item["link"].error(
            fmt::format("every link along {} would be dead", axis),
            fmt::format("name the chip's {}: the link from there to the next is dead", axis));
    }
    if (hardware.twisted) {
        throw item["link"].error("dead links of twisted slices are not available",
                                 "use a slice that is not twisted");
    }
}

/// Reads the effect of a perturbation of its kind, apart from its position.
void read_what(const Reader& item, Perturbation& one) {
    switch (one.kind) {
        case Kind::slow_chips:
            refuse_others(item, "slow_chips", {"factor"});
            one.factor = item["factor"].read(parse_multiple);
            break;
        case Kind::random_chips:
            refuse_others(item, "random_chips", {"spread", "seed"});
            one.spread = item["spread"].read(parse_percent);
            one.seed = static_cast<std::uint64_t>(item["seed"].whole(0, 1LL << 53, 1));
            break;
        case Kind::slow_link:
            refuse_others(item, "slow_link", {"link", "rate"});
            one.share = item["rate"].read(parse_rate_share);
            break;
        case Kind::dead_link:
            refuse_others(item, "dead_link", {"link"});
            break;
        case Kind::slow_host:
        case Kind::slow_dcn:
            refuse_others(item, one.kind == Kind::slow_host ? "slow_host" : "slow_dcn", {"rate"});
            one.share = item["rate"].read(parse_rate_share);
            break;
    }
}

Perturbation read_one(const Reader& item, const Hardware& hardware) {
    Perturbation one;
    one.kind = item["kind"].require().choose<Kind>(kPerturbations, Kind::slow_chips);
    if (!item["kind"].sound()) {
        return one;
    }
    read_what(item, one);
    item["link"].derive({"hardware.slice", "hardware.slices"}, [&] {
        one.where = read_where(item, hardware);
        if (one.kind == Kind::slow_link || one.kind == Kind::dead_link) {
            read_link(item, hardware, one);
        }
    });
    if (one.kind == Kind::dead_link && item["link"].sound()) {
        item["link"].check({}, [&] { check_dead_link(item, hardware, one); });
    }
    return one;
}

}  // namespace

std::vector<Perturbation> read_perturbations(const Reader& perturb, const Hardware& hardware) {
    std::vector<Perturbation> perturbations;
    for (const Reader& item : perturb.items()) {
        perturbations.push_back(read_one(item, hardware));
    }
    std::erase_if(perturbations, changes_nothing);
    return perturbations;
}

}  // namespace podsim::scenarios
