#include "workloads/models/stored_scheme.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

#include "workloads/models/hf_json.h"

namespace podsim::workloads::stored {

using Part = HfModule::Part;

double Scheme::bytes(const HfModule& of) const {
    const auto groups = [](double size, double group) {
        return group > 0 ? std::ceil(size / group) : 1;
    };
    return of.count *
           (of.inputs * of.outputs * bits +
            groups(of.inputs, inputs) * groups(of.outputs, outputs) * scale + of.inputs * of_row +
            of_matrix) /
           8;
}

std::string Scheme::text() const {
    const std::string group = inputs > 0 && outputs > 1
                                  ? fmt::format(" in blocks of {:g} x {:g}", outputs, inputs)
                              : inputs > 0   ? fmt::format(" in groups of {:g}", inputs)
                              : outputs == 1 ? " by channel"
                                             : "";
    return fmt::format("{:g} bits{}", bits, group);
}

const Scheme* Said::of(const HfModule& module) const {
    if ((module.part == Part::head && !head) ||
        std::ranges::any_of(kept, [&](const HfPattern& p) { return p.names(module); })) {
        return nullptr;
    }
    for (const Group& group : groups) {
        const bool named =
            group.targets.empty() ||
            std::ranges::any_of(group.targets, [&](const HfPattern& p) { return p.names(module); });
        if (named && (module.part == Part::experts || !group.experts_only)) {
            return &group.scheme;
        }
    }
    return nullptr;
}

// ---- keys

const Json* find(const Json& in, std::string_view key) {
    const auto found = in.is_object() ? in.find(key) : in.end();
    return !in.is_object() || found == in.end() || found->is_null() ? nullptr : &*found;
}

double number(const Json& in, std::string_view key, std::optional<double> fallback) {
    const Json* const said = find(in, key);
    if (said == nullptr && fallback) {
        return *fallback;
    }
    constexpr double kMost = 1e6;
    if (said == nullptr || !said->is_number() || !(std::abs(said->get<double>()) <= kMost)) {
        throw Unsaid(fmt::format("'{}' is no number", key));
    }
    return said->get<double>();
}

double width(const Json& in, std::string_view key, std::optional<double> fallback) {
    const double bits = number(in, key, fallback);
    if (bits < 1 || bits > 16) {
        throw Unsaid(fmt::format("'{}' of {:g}", key, bits));
    }
    return bits;
}

std::string text(const Json& in, std::string_view key, const std::string& fallback) {
    const Json* const said = find(in, key);
    return said != nullptr && said->is_string() ? said->get<std::string>() : fallback;
}

bool flag(const Json& in, std::string_view key, bool fallback) {
    const Json* const said = find(in, key);
    return said != nullptr && said->is_boolean() ? said->get<bool>() : fallback;
}

std::vector<HfPattern> patterns(const Json* list, bool as_python) {
    std::vector<HfPattern> all;
    const auto add = [&](const Json& item) {
        if (!item.is_string()) {
            throw Unsaid("names of modules that are no texts");
        }
        try {
            all.emplace_back((as_python ? "re:.*" : "") + item.get<std::string>());
        } catch (const std::invalid_argument&) {
            throw Unsaid(fmt::format("the pattern '{}'", clip(item.get<std::string>())));
        }
    };
    constexpr std::size_t kMost = 20000;
    if (list != nullptr && list->is_array() && list->size() <= kMost) {
        std::ranges::for_each(*list, add);
    } else if (list != nullptr) {
        add(*list);
    }
    return all;
}

std::vector<HfPattern> kept_by(const Json& in, std::initializer_list<const char*> keys) {
    for (const char* const key : keys) {
        if (const Json* const list = find(in, key)) {
            return patterns(list);
        }
    }
    return {};
}

double group_size(double said) {
    if (said == 0 || said < -1) {
        throw Unsaid(fmt::format("groups of {:g}", said));
    }
    return said == -1 ? 0 : said;
}

Said all_of(Scheme scheme, std::vector<HfPattern> kept) {
    return {.groups = {{.scheme = scheme}}, .kept = std::move(kept)};
}

std::pair<double, double> block_of(const Json& in, std::string_view key) {
    const Json* const block = find(in, key);
    const auto side = [](const Json& of) {
        constexpr double kLargest = 1 << 20;
        return of.is_number() && of.get<double>() >= 1 && of.get<double>() <= kLargest;
    };
    if (block == nullptr || !block->is_array() || block->size() != 2 ||
        !std::ranges::all_of(*block, side)) {
        throw Unsaid(fmt::format("'{}' that is no pair of numbers", key));
    }
    return {(*block)[0].get<double>(), (*block)[1].get<double>()};
}

}  // namespace podsim::workloads::stored
