#include "workloads/hlo/trips.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

#include "workloads/hlo/known_trip_count.h"
#include "workloads/hlo/text.h"
#include "workloads/hlo/whole_numbers.h"

namespace podsim::workloads::hlo {
namespace {

constexpr std::int64_t kNoElement = -1;

/// A whole number, or the sum of an element of the carried tuple and a whole number.
struct Scalar {
    std::int64_t element = kNoElement;
    Wide value = 0;
    std::optional<NumberRange>
        /// a sum with an element has it: neither that nor the sums before it have wrapped there
        range{};

    [[nodiscard]] bool is_number() const { return element == kNoElement; }

    /// Returns nothing if the array's type does not have the value.
    [[nodiscard]] std::optional<Scalar> as(const Shape& shape) const {
        const auto own = range_of(shape);
        if (!own) {
            return shape.kind == Shape::Kind::array ? std::nullopt : std::optional(*this);
        }
        const auto held = is_number() ? own->wrapped(value) : own->difference(value);
        if (!held) {
            return std::nullopt;
        }
        Scalar result{element, *held, is_number() ? std::nullopt : own};
        if (range) {
            const NumberRange before = range->moved(*held - value);
            result.range->least = std::max(result.range->least, before.least);
            result.range->most = std::min(result.range->most, before.most);
        }
        return result;
    }
};
using MaybeScalar = std::optional<Scalar>;

/// Values of the scalars of a computation. A work list evaluates chains of any length and shared
/// operands once.
class Evaluation {
public:
    /// `carries`: the computation is a loop's condition or body, whose parameter is the carried
    /// tuple. Otherwise elements of parameters are unknown.
    Evaluation(const Module& module, const Computation& computation, bool carries)
        : module_(module), carries_(carries), frames_{{&computation}} {}

    /// Returns the result of an instruction of that computation.
    MaybeScalar of(std::uint32_t number) { return of(Node{0, number}); }

    /// The comparison that an instruction is, itself or as the root of a fusion.
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
    /// A computation at one call; the outermost has no call.
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
    /// An instruction as the sum of its operands, where the second counts `sign` times.
    struct Parts {
        std::vector<Node> nodes;
        int sign = 1;
        MaybeScalar alone;  ///< its value if it has no operands
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

    /// Returns the root of the computation that an instruction calls.
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
                const MaybeScalar value = value_of(parts);
                known_[at] = value ? value->as(instruction(at).shape) : std::nullopt;
            } else if (known_.size() + open.size() > kMostEvaluated) {
                return std::nullopt;
            }
        }
        return known_[wanted];
    }

    Parts parts_of(const Node& node) {
        const Instruction& at = instruction(node);
        if (at.opcode == "constant") {
            const auto value = wide_in(at.literal);
            return {{}, 1, value ? MaybeScalar({kNoElement, *value}) : std::nullopt};
        }
        if (at.opcode == "parameter") {
            const Frame& frame = frames_[node.frame];
            const auto number = wide_in(at.literal);
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
        if ((at.opcode == "add" || at.opcode == "subtract") && at.operands.size() == 2 &&
            at.shape.kind == Shape::Kind::array) {
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
        const std::int64_t index = Text(at.find("index").value_or("0")).number();
        const Instruction& tuple = instruction({node.frame, at.operands.front()});
        if (tuple.opcode == "parameter") {
            return {{}, 1, carries_ && node.frame == 0 ? MaybeScalar({index, 0}) : std::nullopt};
        }
        return tuple.opcode == "tuple"
                   ? Parts{{{node.frame, tuple.operands[static_cast<std::size_t>(index)]}}, 1, {}}
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
        const Scalar& element = a->is_number() ? *b : *a;
        Scalar sum{element.element, a->value + parts.sign * b->value, element.range};
        if (sum.range) {
            sum.range = sum.range->moved(sum.value - element.value);
        }
        return sum;
    }

    const Module& module_;
    const bool carries_;
    std::vector<Frame> frames_;
    std::map<Node, std::size_t> called_;
    std::map<Node, MaybeScalar> known_;
};

/// The comparison of a condition: an element of the carried tuple against a number.
struct Comparison {
    Wide limit = 0;
    Scalar counter;
    std::string direction;  ///< of counter against limit
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

/// It goes round up to the first that does not meet the limit, to which the counter may never come.
std::optional<Wide> count(Wide first, Wide step, Wide limit, const std::string& direction) {
    const bool up = direction == "LT" || direction == "LE";
    const bool down = direction == "GT" || direction == "GE";
    std::optional<Wide> trips;
    if (direction == "NE") {
        const Wide way = limit - first;
        if (step != 0 && way % step == 0 && way / step >= 0) {
            trips = way / step;
        }
    } else if ((up && step > 0) || (down && step < 0)) {
        const Wide way =
            (up ? limit - first : first - limit) + (direction == "LE" || direction == "GE" ? 1 : 0);
        const Wide stride = up ? step : -step;
        trips = way <= 0 ? 0 : (way + stride - 1) / stride;
    }
    return trips;
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
    if (const auto written = known_trip_count(module, loop)) {
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
    // The condition may compare the counter and a number more.
    const Wide compared = first->value + comparison->counter.value;
    const auto trips = count(compared, step->value, comparison->limit, comparison->direction);
    const auto within = [](const std::optional<NumberRange>& range, Wide from, Wide to) {
        return range && range->holds(from) && range->holds(to);
    };
    // A counter that wraps meanwhile goes another way.
    if (!trips || !within(comparison->counter.range, compared, compared + *trips * step->value) ||
        (*trips > 0 &&
         !within(step->range, first->value + step->value, first->value + *trips * step->value))) {
        return std::nullopt;
    }
    if (*trips > kMostTrips) {
        throw module.error(loop, "it goes round more than 2^50 times");
    }
    return static_cast<std::int64_t>(*trips);
}

}  // namespace podsim::workloads::hlo
