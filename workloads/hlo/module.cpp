#include "workloads/hlo/module.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace podsim::workloads::hlo {
namespace {

const Attribute* find_in(const std::vector<Attribute>& attributes, std::string_view key) {
    const auto found = std::ranges::find(attributes, key, &Attribute::key);
    return found == attributes.end() ? nullptr : &*found;
}

std::string_view unquoted(std::string_view text) {
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
        text.remove_prefix(1);
        text.remove_suffix(1);
    }
    return text;
}

std::optional<std::int64_t> number_of(const Attribute* attribute) {
    if (attribute == nullptr) {
        return std::nullopt;
    }
    const std::string& text = attribute->value;
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failure == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<std::string_view> Instruction::find(std::string_view key) const {
    const Attribute* const found = find_in(attributes, key);
    return found == nullptr ? std::nullopt : std::optional<std::string_view>(found->value);
}

std::string_view Instruction::text(std::string_view key) const {
    return unquoted(find(key).value_or(std::string_view()));
}

std::vector<std::int64_t> numbers_in(std::string_view braces) {
    std::vector<std::int64_t> all;
    Text text(braces);
    text.expect("{");
    while (!text.take("}")) {
        all.push_back(text.number());
        if (!text.take(",")) {
            text.expect("}");
            break;
        }
    }
    return all;
}

std::vector<std::int64_t> Instruction::numbers(std::string_view key) const {
    const std::optional<std::string_view> written = find(key);
    return written ? numbers_in(*written) : std::vector<std::int64_t>{};
}

std::string_view Instruction::op_name() const {
    const std::string_view metadata = find("metadata").value_or(std::string_view());
    constexpr std::string_view kKey = "op_name=\"";
    const std::size_t at = metadata.find(kKey);
    if (at == std::string_view::npos) {
        return {};
    }
    const std::string_view rest = metadata.substr(at + kKey.size());
    return rest.substr(0, rest.find('"'));
}

const Instruction* Computation::parameter(std::int64_t number) const {
    const std::string wanted = std::to_string(number);
    const auto found = std::ranges::find_if(instructions, [&](const Instruction& each) {
        return each.opcode == "parameter" && each.literal == wanted;
    });
    return found == instructions.end() ? nullptr : &*found;
}

bool Module::is_scheduled() const {
    const Attribute* const found = find_in(attributes, "is_scheduled");
    return found != nullptr && found->value == "true";
}

std::optional<std::int64_t> Module::stated_devices() const {
    const std::optional<std::int64_t> partitions = number_of(find_in(attributes, "num_partitions"));
    const std::optional<std::int64_t> replicas = number_of(find_in(attributes, "replica_count"));
    if (!partitions && !replicas) {
        return std::nullopt;
    }
    constexpr std::int64_t kMost = std::int64_t{1} << 24;
    const auto sound = [&](const std::optional<std::int64_t>& count) {
        return std::clamp<std::int64_t>(count.value_or(1), 1, kMost);
    };
    return std::min(kMost, sound(partitions) * sound(replicas));
}

sim::InputError Module::error(const Instruction& at, const std::string& problem,
                              const std::string& remedy) const {
    return sim::InputError(fmt::format("'{}': {}", at.name, problem), remedy,
                           {file, at.line, at.column});
}

}  // namespace podsim::workloads::hlo
