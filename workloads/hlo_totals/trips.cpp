#include "workloads/hlo_totals/trips.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <vector>

namespace podsim::workloads::hlo {
namespace {

constexpr int kMostSteps = 64;
constexpr std::int64_t kMostValue = std::int64_t{1} << 50;  ///< no sum of a few is beyond the type

/// Of a text that is a whole number; `leading`: that begins with one.
std::optional<std::int64_t> number_in(std::string_view text, bool leading = false) {
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool counts = failure == std::errc() && std::abs(value) < kMostValue &&
                        (leading || end == text.data() + text.size());
    return counts ? std::optional(value) : std::nullopt;
}

/// A whole number, or the loop's counter and a whole number.
struct Scalar {
    bool counter = false;
    std::int64_t value = 0;
};
using MaybeScalar = std::optional<Scalar>;

/// What scalars of a computation are, where its parameters are known.
class Evaluation {
public:
    Evaluation(const Module& module, const Computation& computation,
               std::vector<MaybeScalar> parameters, std::int64_t counter)
        : module_(module),
          computation_(computation),
          parameters_(std::move(parameters)),
          counter_(counter) {}

    [[nodiscard]] MaybeScalar of(std::uint32_t number, int depth = 0) const {
        const Instruction& at = computation_.instructions[number];
        if (depth > kMostSteps) {
            return std::nullopt;
        }
        if (at.opcode == "constant") {
            const auto value = number_in(at.literal);
            return value ? MaybeScalar({false, *value}) : std::nullopt;
        }
        if (at.opcode == "parameter") {
            const auto number_of = number_in(at.literal);
            return number_of && *number_of >= 0 &&
                           *number_of < static_cast<std::int64_t>(parameters_.size())
                       ? parameters_[static_cast<std::size_t>(*number_of)]
                       : std::nullopt;
        }
        if (at.opcode == "get-tuple-element") {
            return element(at, depth);
        }
        if (passes_on(at.opcode) && !at.operands.empty()) {
            return of(at.operands.front(), depth + 1);
        }
        if ((at.opcode == "add" || at.opcode == "subtract") && at.operands.size() == 2) {
            return sum(of(at.operands[0], depth + 1), of(at.operands[1], depth + 1),
                       at.opcode == "add" ? 1 : -1);
        }
        if ((at.opcode == "fusion" || at.opcode == "call") && at.called.size() == 1 &&
            at.called[0] != kNothing) {
            return inside(at, depth).of(module_.computations[at.called[0]].root, depth + 1);
        }
        return std::nullopt;
    }

    /// Of a called computation, with what its operands are here.
    [[nodiscard]] Evaluation inside(const Instruction& call, int depth) const {
        std::vector<MaybeScalar> operands;
        for (const std::uint32_t operand : call.operands) {
            operands.push_back(of(operand, depth + 1));
        }
        return {module_, module_.computations[call.called[0]], std::move(operands), -1};
    }

    [[nodiscard]] const Computation& computation() const { return computation_; }

private:
    static bool passes_on(const std::string& opcode) {
        for (const char* const each :
             {"bitcast", "copy", "convert", "reshape", "copy-start", "copy-done", "opt-barrier"}) {
            if (opcode == each) {
                return true;
            }
        }
        return false;
    }

    static MaybeScalar sum(const MaybeScalar& a, const MaybeScalar& b, std::int64_t sign) {
        if (!a || !b || (b->counter && (a->counter || sign < 0))) {
            return std::nullopt;
        }
        return Scalar{a->counter || b->counter, a->value + sign * b->value};
    }

    [[nodiscard]] MaybeScalar element(const Instruction& at, int depth) const {
        const auto index = number_in(at.find("index").value_or(std::string_view()));
        if (!index || at.operands.empty()) {
            return std::nullopt;
        }
        const Instruction* tuple = &computation_.instructions[at.operands.front()];
        if (tuple->opcode == "parameter") {
            return *index == counter_ ? MaybeScalar({true, 0}) : std::nullopt;
        }
        if (tuple->opcode == "tuple" && *index >= 0 &&
            *index < static_cast<std::int64_t>(tuple->operands.size())) {
            return of(tuple->operands[static_cast<std::size_t>(*index)], depth + 1);
        }
        return std::nullopt;
    }

    const Module& module_;
    const Computation& computation_;
    std::vector<MaybeScalar> parameters_;
    std::int64_t counter_;  ///< the element of the parameter, a tuple, that counts; -1: none
};

/// The comparison that a condition comes down to, and where its operands are known.
struct Comparison {
    Scalar limit;
    Scalar counter;
    std::string direction;  ///< of counter and limit
};

std::string turned(const std::string& direction) {
    return direction == "LT"   ? "GT"
           : direction == "GT" ? "LT"
           : direction == "LE" ? "GE"
           : direction == "GE" ? "LE"
                               : direction;
}

std::optional<Comparison> comparison_of(const Module& module, const Computation& condition,
                                        std::int64_t counter) {
    Evaluation at(module, condition, {}, counter);
    const Instruction* root = &condition.root_instruction();
    std::optional<Evaluation> within;
    if (root->opcode == "fusion" && root->called.size() == 1 && root->called[0] != kNothing) {
        within.emplace(at.inside(*root, 0));
        root = &within->computation().root_instruction();
    }
    if (root->opcode != "compare" || root->operands.size() != 2) {
        return std::nullopt;
    }
    const Evaluation& here = within ? *within : at;
    const MaybeScalar a = here.of(root->operands[0]);
    const MaybeScalar b = here.of(root->operands[1]);
    const std::string direction(root->find("direction").value_or(std::string_view()));
    if (a && b && a->counter && !b->counter) {
        return Comparison{*b, *a, direction};
    }
    if (a && b && !a->counter && b->counter) {
        return Comparison{*a, *b, turned(direction)};
    }
    return std::nullopt;
}

std::optional<std::int64_t> count(std::int64_t first, std::int64_t step, std::int64_t limit,
                                  const std::string& direction) {
    const bool up = direction == "LT" || direction == "LE";
    const bool down = direction == "GT" || direction == "GE";
    if (direction == "NE") {
        const std::int64_t way = limit - first;
        return step != 0 && way % step == 0 && way / step >= 0 ? std::optional(way / step)
                                                               : std::nullopt;
    }
    if ((!up || step <= 0) && (!down || step >= 0)) {
        return std::nullopt;
    }
    const std::int64_t way =
        (up ? limit - first : first - limit) + (direction == "LE" || direction == "GE" ? 1 : 0);
    const std::int64_t stride = up ? step : -step;
    return way <= 0 ? 0 : (way + stride - 1) / stride;
}

std::optional<std::int64_t> written_count(const Instruction& loop) {
    std::string config(loop.find("backend_config").value_or(std::string_view()));
    std::erase_if(config, [](char c) { return c == '\\' || c == '"' || c == ' '; });
    constexpr std::string_view kKey = "known_trip_count:{n:";
    const std::size_t at = config.find(kKey);
    return at == std::string::npos
               ? std::nullopt
               : number_in(std::string_view(config).substr(at + kKey.size()), true);
}

}  // namespace

LoopParts parts_of(const Module& module, const Instruction& loop) {
    LoopParts parts;
    std::size_t next = 0;
    for (const Attribute& attribute : loop.attributes) {
        if (attribute.key != "condition" && attribute.key != "body") {
            continue;
        }
        const std::uint32_t callee = next < loop.called.size() ? loop.called[next] : kNothing;
        ++next;
        if (callee != kNothing) {
            (attribute.key == "body" ? parts.body : parts.condition) = &module.computations[callee];
        }
    }
    return parts;
}

std::optional<std::int64_t> trips_of(const Module& module, const Computation& computation,
                                     const Instruction& loop) {
    if (const auto written = written_count(loop); written && *written >= 0) {
        return written;
    }
    const LoopParts parts = parts_of(module, loop);
    if (parts.condition == nullptr || parts.body == nullptr || loop.operands.size() != 1) {
        return std::nullopt;
    }
    const Computation& condition = *parts.condition;
    const Computation& body = *parts.body;
    const Instruction& carried = computation.instructions[loop.operands.front()];
    const Instruction& next = body.root_instruction();
    if (carried.opcode != "tuple" || next.opcode != "tuple") {
        return std::nullopt;
    }
    const Evaluation before(module, computation, {}, -1);
    for (std::size_t k = 0; k < std::min(carried.operands.size(), next.operands.size()); ++k) {
        const auto counter = static_cast<std::int64_t>(k);
        const auto comparison = comparison_of(module, condition, counter);
        if (!comparison) {
            continue;
        }
        const MaybeScalar first = before.of(carried.operands[k]);
        const MaybeScalar step = Evaluation(module, body, {}, counter).of(next.operands[k]);
        if (!first || first->counter || !step || !step->counter) {
            return std::nullopt;
        }
        return count(first->value + comparison->counter.value, step->value, comparison->limit.value,
                     comparison->direction);
    }
    return std::nullopt;
}

}  // namespace podsim::workloads::hlo
