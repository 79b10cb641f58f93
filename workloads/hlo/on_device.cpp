#include "workloads/hlo/on_device.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "workloads/hlo/doing.h"

namespace podsim::workloads::hlo {
namespace {

/// True if nothing states the count; the id is then the device's number.
bool numbers_all(const DeviceCounts& counts, std::int64_t count) {
    return !counts.stated && count == 1;
}

/// Returns the numbers of `{0, 8, 16}`; empty for any other text, such as `{...}`, a constant that
/// was left out.
std::vector<std::int64_t> list_in(const std::string& literal) {
    try {
        return numbers_in(literal);
    } catch (const sim::InputError&) {
        return {};
    }
}

}  // namespace

std::optional<std::size_t> OnDevice::add(std::uint32_t wanted) {
    std::vector<std::uint32_t> open{wanted};
    while (!open.empty()) {
        const std::uint32_t at = open.back();
        if (numbers_.contains(at)) {
            open.pop_back();
            continue;
        }
        const std::optional<Step> step = step_of(computation_.instructions[at]);
        constexpr double kStepsOfNumber = 50;  // for each number of a table
        budget_.spend(user_,
                      1 + (step ? kStepsOfNumber * static_cast<double>(step->table.size()) : 0));
        if (!step) {
            return std::nullopt;
        }
        const std::size_t before = open.size();
        for (const std::uint32_t part : step->parts) {
            if (!numbers_.contains(part)) {
                open.push_back(part);
            }
        }
        if (open.size() > before) {
            continue;
        }
        open.pop_back();
        numbers_[at] = steps_.size();
        steps_.push_back(*step);
        for (std::uint32_t& part : steps_.back().parts) {
            part = static_cast<std::uint32_t>(numbers_.at(part));
        }
    }
    return numbers_.at(wanted);
}

bool OnDevice::run(std::int64_t device, std::vector<std::int64_t>& values) const {
    values.resize(steps_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const auto value = result(steps_[i], device, values);
        if (!value) {
            return false;
        }
        values[i] = *value;
    }
    return true;
}

std::optional<OnDevice::Step> OnDevice::step_of(const Instruction& at) const {
    const std::string& opcode = at.opcode;
    if (opcode == "partition-id") {
        return Step{numbers_all(counts_, counts_.partitions) ? Kind::device : Kind::partition};
    }
    if (opcode == "replica-id") {
        return Step{numbers_all(counts_, counts_.replicas) ? Kind::device : Kind::replica};
    }
    if (opcode == "constant") {
        std::vector<std::int64_t> one = list_in('{' + at.literal + '}');
        return one.size() == 1 ? std::optional(Step{Kind::number, {}, std::move(one)})
                               : std::nullopt;
    }
    if ((is_view(at) || opcode == "convert" || opcode == "copy") && at.operands.size() == 1) {
        return Step{Kind::same, at.operands};
    }
    if (at.operands.size() != 2) {
        return std::nullopt;
    }
    if (opcode == "dynamic-slice") {
        // A table of positions, indexed by device.
        return Step{Kind::table,
                    {at.operands[1]},
                    list_in(computation_.instructions[at.operands[0]].literal)};
    }
    constexpr std::array<std::pair<std::string_view, Kind>, 5> kSums{
        {{"add", Kind::add},
         {"subtract", Kind::subtract},
         {"multiply", Kind::multiply},
         {"divide", Kind::divide},
         {"remainder", Kind::remainder}}};
    const auto found = std::ranges::find(kSums, opcode, [](const auto& row) { return row.first; });
    return found != kSums.end() ? std::optional(Step{found->second, at.operands}) : std::nullopt;
}

std::optional<std::int64_t> OnDevice::result(const Step& step, std::int64_t device,
                                             const std::vector<std::int64_t>& values) const {
    const std::int64_t a = step.parts.empty() ? 0 : values[step.parts[0]];
    switch (step.kind) {
        case Kind::number:
            return step.table.front();
        case Kind::device:
            return device;
        case Kind::partition:
            return device % counts_.partitions;
        case Kind::replica:
            return device / counts_.partitions;
        case Kind::same:
            return a;
        case Kind::table:
            return a >= 0 && a < static_cast<std::int64_t>(step.table.size())
                       ? std::optional(step.table[static_cast<std::size_t>(a)])
                       : std::nullopt;
        default:
            return sum(step.kind, a, values[step.parts[1]]);
    }
}

std::optional<std::int64_t> OnDevice::sum(Kind kind, std::int64_t a, std::int64_t b) {
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    if (a > kMost || a < -kMost || b > kMost || b < -kMost) {
        return std::nullopt;
    }
    switch (kind) {
        case Kind::add:
            return a + b;
        case Kind::subtract:
            return a - b;
        case Kind::multiply:
            return a * b;
        default:
            return b > 0 && a >= 0 ? std::optional(kind == Kind::divide ? a / b : a % b)
                                   : std::nullopt;
    }
}

}  // namespace podsim::workloads::hlo
