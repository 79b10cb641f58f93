#include "workloads/hlo/cost_estimate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace podsim::workloads::hlo {
namespace {

/// Quotes, and their spellings within quoted text.
constexpr std::array<std::string_view, 5> kQuotes{"\\22", "\\x22", "\\u0022", "\"", "\\"};

void skip_quotes(std::string_view& text) {
    const auto quote = [&] {
        return std::ranges::find_if(kQuotes,
                                    [&](std::string_view each) { return text.starts_with(each); });
    };
    for (auto found = quote(); found != kQuotes.end(); found = quote()) {
        text.remove_prefix(found->size());
    }
}

void skip(std::string_view& text, std::string_view letters) {
    text.remove_prefix(std::min(text.find_first_not_of(letters), text.size()));
}

/// Returns the number behind `"key":`; nothing if it is absent or negative.
std::optional<double> number_of(std::string_view object, std::string_view key) {
    const std::size_t at = object.find(key);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view rest = object.substr(at + key.size());
    skip_quotes(rest);
    skip(rest, " \t\n:=");
    skip_quotes(rest);
    double value = 0;
    const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    return failure == std::errc() && std::isfinite(value) && value >= 0 ? std::optional(value)
                                                                        : std::nullopt;
}

}  // namespace

std::optional<CostEstimate> cost_estimate_of(const Instruction& instruction) {
    if (instruction.opcode != "custom-call") {
        return std::nullopt;
    }
    const std::string_view config = instruction.find("backend_config").value_or("");
    const std::size_t at = config.find("cost_estimate");  // the body before it is base64
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view object = config.substr(at);
    object.remove_prefix(std::min(object.find('{'), object.size()));
    object = object.substr(0, object.find('}'));
    const std::optional<double> flops = number_of(object, "flops");
    std::optional<double> bytes = number_of(object, "bytes_accessed");
    bytes = bytes == 0.0 ? std::nullopt : bytes;
    if (!flops && !bytes) {
        return std::nullopt;
    }
    return CostEstimate{.flops = flops.value_or(0),
                        .transcendentals = number_of(object, "transcendentals").value_or(0),
                        .bytes = bytes,
                        .remote_bytes = number_of(object, "remote_bytes_transferred").value_or(0)};
}

}  // namespace podsim::workloads::hlo
