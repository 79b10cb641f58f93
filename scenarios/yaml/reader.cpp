#include "scenarios/yaml/reader.h"

#include <cassert>
#include <fmt/format.h>

#include "scenarios/text/quantity_text.h"
#include "scenarios/text/quote.h"
#include "scenarios/yaml/schema.h"
#include "sim/base/nearest.h"

namespace podsim::scenarios {

Reader Reader::operator[](std::string_view key) const {
    std::string path = path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
    assert(find_key(path) != nullptr && "a key that the schema does not declare");
    const YamlNode* const child = is_map() ? node_->find(key) : nullptr;
    std::string place = place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key);
    return {child, std::move(path), std::move(place), mark(), faults_};
}

const Reader& Reader::require() const {
    if (!present()) {
        const KeySpec* const key = find_key(path_);
        const std::string_view name = std::string_view(path_).substr(path_.rfind('.') + 1);
        add(sim::InputError(fmt::format("missing key '{}'", path_),
                            fmt::format("write {}: {} ({})", name, key->form, key->meaning),
                            map_mark_));
    }
    return *this;
}

std::vector<Reader> Reader::items() const {
    std::vector<Reader> readers;
    const std::size_t count = present() ? node_->items.size() : 0;
    for (std::size_t i = 0; i < count; ++i) {
        const YamlNode& item = node_->items[i];
        if (item.kind != YamlNode::Kind::null) {
            readers.push_back(
                Reader(&item, path_, fmt::format("{}[{}]", place_, i), item.mark, faults_));
        }
    }
    return readers;
}

bool Reader::flag(bool fallback) const {
    static constexpr std::pair<std::string_view, bool> kChoices[] = {{"true", true},
                                                                     {"false", false}};
    return choose<bool>(kChoices, fallback);
}

std::int64_t Reader::whole(std::int64_t least, std::int64_t most, std::int64_t fallback) const {
    const std::string allowed = fmt::format("allowed: {} to {}", least, most);
    const auto parse = [&](const std::string& text) {
        std::int64_t value = 0;
        try {
            value = parse_count(text);
        } catch (const sim::InputError& error) {
            throw sim::InputError(error.problem(), allowed);
        }
        if (value < least || value > most) {
            throw sim::InputError(fmt::format("{} is out of range", in_quotes(text)), allowed);
        }
        return value;
    };
    return get<std::int64_t>(parse, fallback);
}

sim::InputError Reader::located(const sim::InputError& error) const {
    if (!error.mark().file.empty()) {
        return error;
    }
    return sim::InputError(fmt::format("{}: {}", path_, error.problem()), error.remedy(), mark());
}

sim::InputError Reader::error(std::string_view problem, std::string remedy) const {
    return sim::InputError(fmt::format("{}: {}", path_, problem), std::move(remedy), mark());
}

sim::InputError Reader::unknown_choice(std::span<const std::string> names) const {
    return sim::unknown_name(path_, printable(node_->text), names).at(node_->mark);
}

}  // namespace podsim::scenarios
