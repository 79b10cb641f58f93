#include "workloads/hlo/module.h"

#include <algorithm>
#include <fmt/format.h>

#include "workloads/hlo/device_counts.h"

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

std::optional<std::string_view> value_in(const std::vector<Attribute>& attributes,
                                         std::string_view key) {
    const Attribute* const found = find_in(attributes, key);
    return found == nullptr ? std::nullopt : std::optional<std::string_view>(found->value);
}

}  // namespace

std::optional<std::string_view> Instruction::find(std::string_view key) const {
    return value_in(attributes, key);
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
    const auto found = std::ranges::lower_bound(parameters, number, {},
                                                [](const auto& each) { return each.first; });
    return found == parameters.end() || found->first != number ? nullptr
                                                               : &instructions[found->second];
}

std::optional<std::string_view> Module::find(std::string_view key) const {
    return value_in(attributes, key);
}

bool Module::is_scheduled() const {
    return find("is_scheduled") == "true";
}

std::optional<std::int64_t> Module::stated_devices() const {
    if (!partitions && !replicas) {
        return std::nullopt;
    }
    return device_counts(*this).devices();
}

std::vector<std::int64_t> Module::numbers(const Instruction& at, std::string_view key) const {
    try {
        return at.numbers(key);
    } catch (const sim::InputError& wrong) {
        throw error(at, fmt::format("{}: {}", key, wrong.problem()));
    }
}

sim::InputError Module::error(const Instruction& at, const std::string& problem,
                              const std::string& remedy) const {
    return sim::InputError(fmt::format("'{}': {}", at.name, problem), remedy,
                           {file, at.line, at.column});
}

}  // namespace podsim::workloads::hlo
