#include "tests/workloads/hlo/made_modules.h"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

#include "tests/workloads/hlo/draw.h"

namespace podsim::workloads::hlo {
namespace {

constexpr std::array<const char*, 6> kTypes{"bf16", "f32", "s32", "s8", "f8e4m3fn", "u4"};
constexpr std::array<const char*, 5> kLayouts{"", "{1,0}", "{0,1:T(8,128)(2,1)}",
                                              "{1,0:T(8,128)S(1)}", "{1,0:E(4)}"};
constexpr std::array<const char*, 10> kUnary{"negate", "exponential", "copy",    "convert",
                                             "tanh",   "bitcast",     "reshape", "reverse",
                                             "log",    "sqrt"};
constexpr std::array<const char*, 7> kBinary{"add",     "subtract", "multiply", "divide",
                                             "maximum", "compare",  "power"};
constexpr std::array<const char*, 5> kCollectives{"all-gather", "all-reduce", "reduce-scatter",
                                                  "all-to-all", "collective-broadcast"};
constexpr std::array<const char*, 4> kWhere{"jit(f)/jvp(g)/dot", "jit(f)/transpose(jvp(g))/add",
                                            "jit(f)/rematted_computation/h", "jit(f)/adam"};

class Program {
public:
    explicit Program(std::uint32_t seed) : draw_(seed) {
        for (std::size_t axes = draw_.below(3) + 1; axes > 0; --axes) {
            mesh_.push_back(static_cast<int>(draw_.below(4)) + 1);
            devices_ *= mesh_.back();
        }
    }

    std::string text() {
        std::string computations =
            "%sum (a: f32[], b: f32[]) -> f32[] {\n %a = f32[] parameter(0)\n"
            " %b = f32[] parameter(1)\n ROOT %s = f32[] add(%a, %b)\n}\n";
        const std::size_t fusions = draw_.below(3);
        for (std::size_t i = 0; i < fusions; ++i) {
            fused_.push_back(fmt::format("fused_computation.{}", i));
            computations += computation(fused_.back(), 1 + draw_.below(6), true);
        }
        const std::size_t bodies = draw_.below(3);
        for (std::size_t i = 0; i < bodies; ++i) {
            computations += loop(i);
        }
        for (std::size_t i = draw_.below(3); i > 0; --i) {
            const std::string branch = fmt::format("branch.{}", i);
            computations += computation(branch, 1 + draw_.below(4), false);
            branches_.push_back(branch);
        }
        return fmt::format("HloModule made, {}num_partitions={}\n\n",
                           draw_.once_in(2) ? "is_scheduled=true, " : "", devices_) +
               computations + "ENTRY " + computation("main", 4 + draw_.below(20), false);
    }

private:
    /// Returns `bf16[16,128]{1,0}`.
    std::string shape() { return matrix(rows(), columns()); }
    std::string matrix(std::size_t rows, std::size_t columns) {
        return fmt::format("{}[{},{}]{}", draw_.of(kTypes), rows, columns, draw_.of(kLayouts));
    }
    std::size_t rows() { return (draw_.below(8) + 1) * 8; }
    std::size_t columns() { return (draw_.below(8) + 1) * 16; }

    /// Returns groups that have every device once, in any of XLA's spellings.
    std::string groups() {
        const std::size_t axis = draw_.below(mesh_.size());
        int behind = 1;
        for (std::size_t i = axis + 1; i < mesh_.size(); ++i) {
            behind *= mesh_[i];
        }
        const int size = mesh_[axis];
        const int before = devices_ / size / behind;
        switch (draw_.below(4)) {
            case 0:
                return "{}";
            case 1:
                return fmt::format("[{},{}]<=[{},{},{}]T(0,2,1)", devices_ / size, size, before,
                                   size, behind);
            case 2: {
                std::vector<std::string> axes;
                for (std::size_t i = 0; i < mesh_.size(); ++i) {
                    axes.push_back(fmt::format("'a{}'={}", i, mesh_[i]));
                }
                return fmt::format("mesh[{}] {{'a{}'}}", fmt::join(axes, ","), axis);
            }
            default: {
                std::vector<std::string> lists;
                for (int group = 0; group < devices_ / size; ++group) {
                    std::vector<int> ids;
                    for (int i = 0; i < size; ++i) {
                        ids.push_back(group / behind * behind * size + group % behind + i * behind);
                    }
                    lists.push_back(fmt::format("{{{}}}", fmt::join(ids, ",")));
                }
                return fmt::format("{{{}}}", fmt::join(lists, ","));
            }
        }
    }

    std::string pairs() {
        std::vector<std::string> all;
        for (int i = 0; i < devices_; ++i) {
            all.push_back(fmt::format("{{{},{}}}", i, (i + 1) % devices_));
        }
        return fmt::format("{{{}}}", fmt::join(all, ","));
    }

    std::string metadata() {
        return draw_.once_in(2) ? fmt::format(", metadata={{op_name=\"{}\"}}", draw_.of(kWhere))
                                : "";
    }

    std::string value() { return "%" + draw_.of(values_); }
    std::string name() { return fmt::format("v{}", ++named_); }

    /// Adds one line, or both lines of an asynchronous operation, and its name.
    void add_line(std::string& text, const std::string& result, const std::string& call) {
        values_.push_back(name());
        text += fmt::format("  %{} = {} {}{}\n", values_.back(), result, call, metadata());
    }

    void add_collective(std::string& text) {
        const bool permutes = draw_.once_in(4);
        const std::string opcode = permutes ? "collective-permute" : draw_.of(kCollectives);
        std::string rest =
            fmt::format(", {}={}", permutes ? "source_target_pairs" : "replica_groups",
                        permutes ? pairs() : groups());
        if (opcode == "all-gather" || opcode == "reduce-scatter" || opcode == "all-to-all") {
            rest += ", dimensions={0}";
        }
        rest += ", channel_id=1, use_global_device_ids=true";
        rest += opcode.starts_with("all-r") || opcode.starts_with("red") ? ", to_apply=%sum" : "";
        std::string of = value();
        std::string operand = shape();
        std::string result = shape();
        if (opcode == "all-gather") {
            const std::size_t high = rows();
            const std::size_t wide = columns();
            operand = matrix(high, wide);
            result = matrix(high * (draw_.below(4) + 1), wide);
            of = "%" + shaped(text, operand);
        }
        const bool pair =
            (opcode == "all-gather" || opcode == "all-reduce" || permutes) && draw_.once_in(2);
        if (!pair) {
            add_line(text, result, fmt::format("{}({}){}", opcode, of, rest));
            return;
        }
        const std::string started =
            opcode == "all-reduce" ? result : fmt::format("({}, {})", operand, result);
        const std::string start = name();
        text += fmt::format("  %{} = {} {}-start({}){}\n", start, started, opcode, of, rest);
        if (draw_.once_in(2)) {
            add_line(text, shape(), fmt::format("negate({})", value()));
        }
        add_line(text, result, fmt::format("{}-done(%{})", opcode, start));
    }

    /// Adds a value in another shape.
    std::string shaped(std::string& text, const std::string& as) {
        const std::string made = name();
        text += fmt::format("  %{} = {} broadcast({}), dimensions={{}}\n", made, as, value());
        return made;
    }

    void add_dot(std::string& text) {
        const std::size_t contracted = columns();
        const std::string left = shaped(text, matrix(rows(), contracted));
        const std::string right = shaped(text, matrix(contracted, columns()));
        add_line(
            text, shape(),
            fmt::format("dot(%{}, %{}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
                        left, right));
    }

    void add_window(std::string& text) {
        const std::size_t size = draw_.below(5) + 1;
        const std::string left = shaped(text, fmt::format("bf16[2,{},8]", draw_.below(30) + 1));
        const std::string right = shaped(text, fmt::format("bf16[{},8,16]", size));
        add_line(text, fmt::format("bf16[2,{},16]", draw_.below(30) + 1),
                 fmt::format("convolution(%{}, %{}), window={{size={} stride={} pad={}_{} "
                             "lhs_dilate={} rhs_dilate={}}}, dim_labels=b0f_0io->b0f",
                             left, right, size, draw_.below(3) + 1, draw_.below(5), draw_.below(5),
                             draw_.below(3) + 1, draw_.below(3) + 1));
    }

    void add_tuple(std::string& text) {
        const std::string first = shape();
        const std::string second = shape();
        const std::string a = shaped(text, first);
        const std::string b = shaped(text, second);
        const std::string tuple = name();
        text += fmt::format("  %{} = ({}, {}) tuple(%{}, %{})\n", tuple, first, second, a, b);
        if (draw_.once_in(2)) {
            add_line(text, shape(), fmt::format("add(%{}#0, %{}#1)", tuple, tuple));
        } else {
            add_line(text, second, fmt::format("get-tuple-element(%{}), index=1", tuple));
        }
    }

    void add_any(std::string& text, bool fused) {
        switch (draw_.below(fused ? 5 : 13)) {
            case 0:
            case 1:
                return add_line(text, shape(), fmt::format("{}({})", draw_.of(kUnary), value()));
            case 2:
            case 3:
                return add_line(text, shape(),
                                fmt::format("{}({}, {})", draw_.of(kBinary), value(), value()));
            case 4:
                return add_dot(text);
            case 5:
            case 6:
                return add_collective(text);
            case 7:
                return add_window(text);
            case 8:
                return add_tuple(text);
            case 9:
                return add_line(text, shape(),
                                fused_.empty()
                                    ? fmt::format("negate({})", value())
                                    : fmt::format("fusion({}, {}), kind=kLoop, calls=%{}", value(),
                                                  value(), draw_.of(fused_)));
            case 10:
                return add_line(
                    text, shape(),
                    fmt::format("custom-call({}, {}), custom_call_target=\"{}\", "
                                "backend_config={{\"cost_estimate\":{{\"flops\":\"{}\","
                                "\"bytes_accessed\":{}}}}}",
                                value(), value(), draw_.once_in(2) ? "gmm" : "flash_attention",
                                draw_.below(100000), draw_.below(100000)));
            case 11:
                return branches_.empty()
                           ? add_line(text, "pred[]", "constant(true)")
                           : add_line(text, shape(),
                                      fmt::format("conditional({}, {}, {}), true_computation=%{}, "
                                                  "false_computation=%{}",
                                                  value(), value(), value(), draw_.of(branches_),
                                                  draw_.of(branches_)));
            default:
                return add_loop(text);
        }
    }

    std::string computation(const std::string& name, std::size_t lines, bool fused) {
        values_ = {"p0", "p1"};
        std::string text =
            fmt::format("%{} (p0: {}, p1: {}) -> {} {{\n", name, shape(), shape(), shape());
        text += fmt::format("  %p0 = {} parameter(0)\n  %p1 = {} parameter(1)\n", shape(), shape());
        for (std::size_t i = 0; i < lines; ++i) {
            add_any(text, fused);
        }
        return text + fmt::format("  ROOT %root = {} negate(%{})\n}}\n\n", shape(), values_.back());
    }

    /// Returns a body that increments element 0, and its condition; in every other one XLA's known
    /// trip count is missing.
    std::string loop(std::size_t number) {
        values_ = {"x"};
        const std::string carried = shape();
        const std::string whole = fmt::format("(s32[], {})", carried);
        std::string text = fmt::format(
            "%body.{0} (p: {1}) -> {1} {{\n  %p = {1} parameter(0)\n  %one = s32[] constant(1)\n"
            "  %i = s32[] get-tuple-element(%p), index=0\n  %next = s32[] add(%i, %one)\n"
            "  %x = {2} get-tuple-element(%p), index=1\n",
            number, whole, carried);
        for (std::size_t i = draw_.below(5); i > 0; --i) {
            add_any(text, true);
        }
        text +=
            fmt::format("  %last = {} broadcast(%{}), dimensions={{}}\n", carried, values_.back());
        text += fmt::format("  ROOT %r = {} tuple(%next, %last)\n}}\n\n", whole);
        text += fmt::format(
            "%test.{0} (p: {1}) -> pred[] {{\n  %p = {1} parameter(0)\n  %n = s32[] constant({2})\n"
            "  %i = s32[] get-tuple-element(%p), index=0\n"
            "  ROOT %c = pred[] compare(%i, %n), direction=LT\n}}\n\n",
            number, whole, draw_.below(6));
        loops_.push_back(carried);
        return text;
    }

    void add_loop(std::string& text) {
        if (loops_.empty()) {
            return add_line(text, "s32[]", "partition-id()");
        }
        const std::size_t number = draw_.below(loops_.size());
        const std::string zero = name();
        const std::string tuple = name();
        const std::string all = name();
        const std::string& carried = loops_[number];
        const std::string whole = fmt::format("(s32[], {})", carried);
        const std::string first = shaped(text, carried);
        text += fmt::format("  %{} = s32[] constant(0)\n  %{} = {} tuple(%{}, %{})\n", zero, tuple,
                            whole, zero, first);
        text += fmt::format(
            "  %{} = {} while(%{}), condition=%test.{}, body=%body.{}{}\n", all, whole, tuple,
            number, number,
            draw_.once_in(2)
                ? fmt::format(", backend_config={{\"known_trip_count\":{{\"n\":\"{}\"}}}}",
                              draw_.below(6))
                : "");
        add_line(text, carried, fmt::format("get-tuple-element(%{}), index=1", all));
    }

    Draw draw_;
    std::vector<int> mesh_{};
    int devices_ = 1;
    std::vector<std::string> fused_{};
    std::vector<std::string> branches_{};
    std::vector<std::string> loops_{};   ///< carried shapes
    std::vector<std::string> values_{};  ///< of the current computation
    int named_ = 0;
};

}  // namespace

std::string made_module(std::uint32_t seed) {
    return Program(seed).text();
}

}  // namespace podsim::workloads::hlo
