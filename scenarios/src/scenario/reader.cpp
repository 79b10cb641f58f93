#include "scenarios/src/scenario/reader.h"

#include <cassert>
#include <fmt/format.h>

#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/schema.h"
#include "sim/base/nearest.h"

namespace podsim::scenarios {

Reader Reader::operator[](std::string_view key) const {
    std::string path = path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
    assert(find_key(path) != nullptr && "a key that the schema does not declare");
    const YamlNode* const child = is_map() ? node_->find(key) : nullptr;
    std::string place = place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key);
    return {child, std::move(path), std::move(place), mark(), faults_, log_};
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
    if (present() && node_->kind == YamlNode::Kind::scalar) {
        return {*this};
    }
    std::vector<Reader> readers;
    const std::size_t count = present() ? node_->items.size() : 0;
    for (std::size_t i = 0; i < count; ++i) {
        const YamlNode& item = node_->items[i];
        if (item.kind != YamlNode::Kind::null) {
            readers.push_back(
                Reader(&item, path_, fmt::format("{}[{}]", place_, i), item.mark, faults_, log_));
        }
    }
    return readers;
}

Asked& Reader::note(ValueKind kind, const std::string& fallback) const {
    Asked& asked = log_->at(place_, path_);
    asked.said = present();
    asked.mark = mark();
    asked.kind = kind;
    asked.value = present() ? node_->text : fallback;
    return asked;
}

void Reader::note_choices(std::vector<std::string> names, const std::string& fallback) const {
    note(ValueKind::choice, fallback).choices = std::move(names);
}

void Reader::note_source(std::string_view source, bool of_base) const {
    Asked& asked = log_->at(place_, path_);
    asked.source = asked.said ? "" : std::string(source);
    asked.of_base = of_base && !asked.said;
}

void Reader::falls_back_on(std::string_view source) const {
    if (log_ != nullptr) {
        note_source(source, true);
    }
}

void Reader::below_falls_back_on(std::string_view source) const {
    if (log_ != nullptr) {
        log_->set_base(place_, std::string(source));
    }
}

void Reader::works_out_as(const std::string& value, std::string_view rule) const {
    if (log_ != nullptr && !present()) {
        log_->at(place_, path_).value = value;
        note_source(rule, false);
    }
}

void Reader::comes_to(const std::string& text) const {
    if (log_ != nullptr && present() && node_->text != text) {
        log_->at(place_, path_).comes_to = text;
    }
}

void Reader::may_be(std::string_view word) const {
    if (log_ != nullptr) {
        log_->at(place_, path_).choices.emplace_back(word);
    }
}

void Reader::names_file(const std::string& path) const {
    if (log_ != nullptr) {
        note(ValueKind::other, "").file = path;
    }
}

bool Reader::flag(bool fallback) const {
    static constexpr std::pair<std::string_view, bool> kChoices[] = {{"true", true},
                                                                     {"false", false}};
    const bool read = choose<bool>(kChoices, fallback);
    if (log_ != nullptr) {
        log_->at(place_, path_).kind = ValueKind::flag;
    }
    return read;
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
    const std::int64_t read = get<std::int64_t>(parse, fallback);
    if (log_ != nullptr) {
        Asked& asked = log_->at(place_, path_);
        asked.kind = ValueKind::whole;
        asked.least = least;
        asked.most = most;
    }
    return read;
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
