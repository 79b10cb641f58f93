#include "workloads/hlo_totals/trips.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

namespace podsim::workloads::hlo {
namespace {

constexpr std::int64_t kMostValue = std::int64_t{1} << 50;  ///< no sum of a few is beyond the type

/// Of a text that is a whole number.
std::optional<std::int64_t> number_in(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool counts =
        failure == std::errc() && std::abs(value) < kMostValue && end == text.data() + text.size();
    return counts ? std::optional(value) : std::nullopt;
}

constexpr std::int64_t kNoElement = -1;

/// A whole number, or an element of the carried tuple and a whole number.
struct Scalar {
    std::int64_t element = kNoElement;
    std::int64_t value = 0;

    [[nodiscard]] bool is_number() const { return element == kNoElement; }
};
using MaybeScalar = std::optional<Scalar>;

/// What scalars of a computation are, by a list of what is still to be looked at: chains of any length, shared parts once.
class Evaluation {
public:
    /// Of a loop's computation: its parameter is the carried tuple. `carries` false: elements of parameters are not known.
    Evaluation(const Module& module, const Computation& computation, bool carries)
        : module_(module), carries_(carries), frames_{{&computation}} {}

    /// The result of an instruction of that computation.
    MaybeScalar of(std::uint32_t number) { return of(Node{0, number}); }

    /// The two sides of a comparison to which an instruction comes down, itself or within a fusion; its direction. Nothing of others.
    struct Sides {
        MaybeScalar left;
        MaybeScalar right;
        std::string direction;
    };
    std::optional<Sides> compared(std::uint32_t number) {
        Node at{0, number};
        if (instruction(at).opcode == "fusion" && has_callee(instruction(at))) {
            at = inside(at);
        }
        const Instruction& root = instruction(at);
        if (root.opcode != "compare" || root.operands.size() != 2) {
            return std::nullopt;
        }
        return Sides{of(Node{at.frame, root.operands[0]}), of(Node{at.frame, root.operands[1]}),
                     std::string(root.find("direction").value_or(std::string_view()))};
    }

private:
    /// A computation as it is called at one place; the first is called nowhere.
    struct Frame {
        const Computation* computation = nullptr;
        std::size_t caller = 0;
        const Instruction* call = nullptr;
    };
    struct Node {
        std::size_t frame = 0;
        std::uint32_t number = 0;
        friend auto operator<=>(const Node&, const Node&) = default;
    };
    /// What an instruction is made of: the sum of its parts, of which the second counts `sign` times.
    struct Parts {
        std::vector<Node> nodes;
        std::int64_t sign = 1;
        MaybeScalar alone;  ///< where it has none
    };

    [[nodiscard]] const Instruction& instruction(const Node& node) const {
        return frames_[node.frame].computation->instructions[node.number];
    }

    static bool has_callee(const Instruction& at) {
        return at.called.size() == 1 && at.called[0] != kNothing;
    }

    static bool passes_on(const std::string& opcode) {
        for (const char* const each :
             {"bitcast", "copy", "convert", "reshape", "copy-start", "copy-done", "opt-barrier"}) {
            if (opcode == each) {
                return true;
            }
        }
        return false;
    }

    /// The root of what an instruction calls.
    Node inside(const Node& call) {
        const auto [entry, added] = called_.try_emplace(call, frames_.size());
        const Computation& callee = module_.computations[instruction(call).called[0]];
        if (added) {
            frames_.push_back({&callee, call.frame, &instruction(call)});
        }
        return {entry->second, callee.root};
    }

    MaybeScalar of(const Node& wanted) {
        std::vector<Node> open{wanted};
        while (!open.empty()) {
            const Node at = open.back();
            if (known_.contains(at)) {
                open.pop_back();
                continue;
            }
            const Parts parts = parts_of(at);
            const std::size_t before = open.size();
            for (const Node& part : parts.nodes) {
                if (!known_.contains(part)) {
                    open.push_back(part);
                }
            }
            if (open.size() == before) {
                open.pop_back();
                known_[at] = value_of(parts);
            } else if (known_.size() + open.size() > kMostEvaluated) {
                return std::nullopt;
            }
        }
        return known_[wanted];
    }

    Parts parts_of(const Node& node) {
        const Instruction& at = instruction(node);
        if (at.opcode == "constant") {
            const auto value = number_in(at.literal);
            return {{}, 1, value ? MaybeScalar({kNoElement, *value}) : std::nullopt};
        }
        if (at.opcode == "parameter") {
            const Frame& frame = frames_[node.frame];
            const auto number = number_in(at.literal);
            const bool given = frame.call != nullptr && number && *number >= 0 &&
                               *number < static_cast<std::int64_t>(frame.call->operands.size());
            return given ? Parts{{{frame.caller,
                                   frame.call->operands[static_cast<std::size_t>(*number)]}},
                                 1,
                                 {}}
                         : Parts{};
        }
        if (at.opcode == "get-tuple-element") {
            return element(node, at);
        }
        if (passes_on(at.opcode) && !at.operands.empty()) {
            return {{{node.frame, at.operands.front()}}, 1, {}};
        }
        if ((at.opcode == "add" || at.opcode == "subtract") && at.operands.size() == 2) {
            return {{{node.frame, at.operands[0]}, {node.frame, at.operands[1]}},
                    at.opcode == "add" ? 1 : -1,
                    {}};
        }
        if ((at.opcode == "fusion" || at.opcode == "call") && has_callee(at)) {
            return {{inside(node)}, 1, {}};
        }
        return {};
    }

    [[nodiscard]] Parts element(const Node& node, const Instruction& at) const {
        const auto index = number_in(at.find("index").value_or(std::string_view()));
        if (!index || *index < 0 || at.operands.empty()) {
            return {};
        }
        const Instruction& tuple = instruction({node.frame, at.operands.front()});
        if (tuple.opcode == "parameter") {
            return {{}, 1, carries_ && node.frame == 0 ? MaybeScalar({*index, 0}) : std::nullopt};
        }
        return tuple.opcode == "tuple" && *index < static_cast<std::int64_t>(tuple.operands.size())
                   ? Parts{{{node.frame, tuple.operands[static_cast<std::size_t>(*index)]}}, 1, {}}
                   : Parts{};
    }

    MaybeScalar value_of(const Parts& parts) {
        if (parts.nodes.empty()) {
            return parts.alone;
        }
        const MaybeScalar& a = known_[parts.nodes[0]];
        if (parts.nodes.size() == 1) {
            return a;
        }
        const MaybeScalar& b = known_[parts.nodes[1]];
        if (!a || !b || (!b->is_number() && (!a->is_number() || parts.sign < 0))) {
            return std::nullopt;
        }
        const Scalar sum{a->is_number() ? b->element : a->element,
                         a->value + parts.sign * b->value};
        return std::abs(sum.value) < kMostValue ? MaybeScalar(sum) : std::nullopt;
    }

    const Module& module_;
    const bool carries_;
    std::vector<Frame> frames_;
    std::map<Node, std::size_t> called_;
    std::map<Node, MaybeScalar> known_;
};

/// The comparison to which a condition comes down: of an element of the carried tuple and a number.
struct Comparison {
    std::int64_t limit = 0;
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

std::optional<Comparison> comparison_of(const Module& module, const Computation& condition) {
    const auto sides = Evaluation(module, condition, true).compared(condition.root);
    if (!sides || !sides->left || !sides->right) {
        return std::nullopt;
    }
    const Scalar& a = *sides->left;
    const Scalar& b = *sides->right;
    if (a.is_number() == b.is_number()) {
        return std::nullopt;
    }
    return b.is_number() ? Comparison{b.value, a, sides->direction}
                         : Comparison{a.value, b, turned(sides->direction)};
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

/// As protocol buffers write whole numbers in JSON: `25`, `"25"`, `1e9`.
std::optional<std::int64_t> written_count(const Module& module, const Instruction& loop) {
    std::string config(loop.find("backend_config").value_or(std::string_view()));
    std::erase_if(config, [](char c) { return c == '\\' || c == '"' || c == ' '; });
    constexpr std::string_view kKey = "known_trip_count:{n:";
    const std::size_t at = config.find(kKey);
    if (at == std::string::npos) {
        return std::nullopt;
    }
    const std::string_view rest = std::string_view(config).substr(at + kKey.size());
    const std::string_view text = rest.substr(0, rest.find_first_of(",}"));
    double value = -1;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size() || !(value >= 0) ||
        value > static_cast<double>(kMostValue) || value != std::floor(value)) {
        throw module.error(loop, fmt::format("known_trip_count of '{:.24}'", text),
                           "it is a whole number of 0 to 2^50");
    }
    return static_cast<std::int64_t>(value);
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
    if (const auto written = written_count(module, loop)) {
        return written;
    }
    const LoopParts parts = parts_of(module, loop);
    if (parts.condition == nullptr || parts.body == nullptr || loop.operands.size() != 1) {
        return std::nullopt;
    }
    const Computation& body = *parts.body;
    const Instruction& carried = computation.instructions[loop.operands.front()];
    const Instruction& next = body.root_instruction();
    if (carried.opcode != "tuple" || next.opcode != "tuple") {
        return std::nullopt;
    }
    const auto comparison = comparison_of(module, *parts.condition);
    if (!comparison) {
        return std::nullopt;
    }
    const auto element = static_cast<std::size_t>(comparison->counter.element);
    if (element >= std::min(carried.operands.size(), next.operands.size())) {
        return std::nullopt;
    }
    const MaybeScalar first = Evaluation(module, computation, false).of(carried.operands[element]);
    const MaybeScalar step = Evaluation(module, body, true).of(next.operands[element]);
    if (!first || !first->is_number() || !step || step->element != comparison->counter.element) {
        return std::nullopt;
    }
    return count(first->value + comparison->counter.value, step->value, comparison->limit,
                 comparison->direction);
}

}  // namespace podsim::workloads::hlo
