#include "workloads/hlo/known_trip_count.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "workloads/hlo/text.h"

namespace podsim::workloads::hlo {
namespace {

sim::InputError no_count(const Module& module, const Instruction& loop, std::string_view text) {
    return module.error(loop, fmt::format("known_trip_count of '{:.24}'", text),
                        "it is a whole number of 0 to 2^50");
}

/// Returns the JSON of a configuration that is JSON, or a string that holds JSON.
std::string json_in(std::string_view config) {
    std::string json;
    const bool quoted = config.size() >= 2 && config.front() == '"';
    for (std::size_t i = quoted ? 1 : 0; i + (quoted ? 1 : 0) < config.size(); ++i) {
        i += quoted && config[i] == '\\' ? 1 : 0;
        json += config[i];
    }
    return json;
}

/// Consumes a key and its colon. Returns false if another text is there.
bool take_key(Text& text, std::string_view key) {
    return text.take('"' + std::string(key) + '"') && text.take(":");
}

}  // namespace

std::optional<std::int64_t> known_trip_count(const Module& module, const Instruction& loop) {
    constexpr std::string_view kKey = "known_trip_count";
    const std::string_view config = loop.find("backend_config").value_or(std::string_view());
    if (config.find(kKey) == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string json = json_in(config);
    const std::string name = '"' + std::string(kKey) + '"';
    const std::size_t at = json.find(name);
    if (at == std::string::npos || json.find(name, at + name.size()) != std::string::npos) {
        throw module.error(loop, at == std::string::npos ? "known_trip_count that is no key of JSON"
                                                         : "known_trip_count twice");
    }
    Text text(json);
    try {
        text.balanced("");
    } catch (const sim::InputError& error) {
        throw module.error(loop, "backend_config: " + error.problem());
    }
    text.go_to(at);
    const bool there = take_key(text, kKey) && text.take("{");
    if (there && text.peek() == '}') {
        return std::nullopt;
    }
    if (!there || !take_key(text, "n")) {
        throw no_count(module, loop, json.substr(at + name.size()));
    }
    std::string_view number = text.balanced(",}");
    if (number.size() >= 2 && number.front() == '"' && number.back() == '"') {
        number = number.substr(1, number.size() - 2);
    }
    double value = -1;
    const char* const behind = number.data() + number.size();
    const auto [end, failure] = std::from_chars(number.data(), behind, value);
    if (failure != std::errc() || end != behind || !(value >= 0) ||
        value > static_cast<double>(kMostTrips) || value != std::floor(value) ||
        text.peek() != '}') {
        throw no_count(module, loop, number);
    }
    return static_cast<std::int64_t>(value);
}

}  // namespace podsim::workloads::hlo
