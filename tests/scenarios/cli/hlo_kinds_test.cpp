// `podsim hlo` on each kind of module: element types and precisions on every chip, estimates
// by kernels, elements of tuples in the compact form, collectives among replicas,
// unpartitioned programs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <utility>

#include "tests/scenarios/cli/command_fixture.h"
#include "topology/chips/chip.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class HloKinds : public CommandTest {
protected:
    std::string run_text(const std::string& text, const std::string& chip,
                         const std::string& slice) {
        const Outcome outcome = podsim({"hlo", "run", write(text, "m.txt"), "--chip", chip,
                                        "--slice", slice, "--profile", "ideal"});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return outcome.out;
    }

    nlohmann::json run_json(const std::string& text, const std::string& chip,
                            const std::string& slice) {
        const Outcome outcome =
            podsim({"hlo", "run", write(text, "m.txt"), "--chip", chip, "--slice", slice,
                    "--profile", "ideal", "--hbm", "private", "--json", "-"});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return outcome.status == 0 ? nlohmann::json::parse(outcome.out) : nlohmann::json();
    }

    nlohmann::json stats_json(const std::string& text) {
        return nlohmann::json::parse(
            podsim({"hlo", "stats", write(text, "m.txt"), "--json", "-"}).out);
    }
};

/// Returns a square matmul on each of `devices`.
std::string square(const std::string& left, const std::string& right, int devices,
                   const std::string& more = "") {
    return fmt::format(
        "HloModule m, num_partitions={}\nENTRY %m {{\n %a = {}[8192,8192] parameter(0)\n %b = "
        "{}[8192,8192] parameter(1)\n ROOT %d = bf16[8192,8192] dot(%a, %b), "
        "lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}{}\n}}\n",
        devices, left, right, more);
}

constexpr double kSquareFlops = 2.0 * 8192 * 8192 * 8192;

// Every type of matmul on every chip has the chip's rate for it. A type without one (fp8 on v4,
// int8 on tpu7x, floats of 6 and 4 bits anywhere) has that of bf16, since the kernel converts its
// operands to bf16. The bytes are those of the type.
TEST_F(HloKinds, EveryTypeOnEveryChip) {
    struct Type {
        const char* name;
        sim::FlopsPerSecond (*rate)(const topology::ChipSpec& chip);
        double bytes;
    };
    const auto int8 = [](const topology::ChipSpec& chip) { return chip.int8_ops.value; };
    const auto fp8 = [](const topology::ChipSpec& chip) { return chip.fp8_flops.value; };
    const auto bf16 = [](const topology::ChipSpec& chip) { return chip.bf16_flops.value; };
    const auto none = [](const topology::ChipSpec&) { return sim::FlopsPerSecond(); };
    const std::vector<Type> types{
        {"bf16", bf16, 2},     {"f32", bf16, 4},      {"s8", int8, 1},
        {"u8", int8, 1},       {"s4", int8, 1},       {"u2", int8, 1},
        {"f8e4m3fn", fp8, 1},  {"f8e5m2", fp8, 1},    {"f8e4m3b11fnuz", fp8, 1},
        {"f6e3m2fn", none, 1}, {"f6e2m3fn", none, 1}, {"f4e2m1fn", none, 1}};
    const std::pair<const char*, const char*> slices[]{
        {"v2", "4x4"},    {"v3", "4x4"},  {"v4", "2x2x1"},   {"v5e", "2x2"},
        {"v5p", "2x2x1"}, {"v6e", "2x2"}, {"tpu7x", "2x2x1"}};
    for (const auto& [chip, slice] : slices) {
        const topology::ChipSpec& spec = topology::find_chip(chip);
        for (const Type& type : types) {
            const std::string text = square(type.name, type.name, slice[0] == '4' ? 16 : 4);
            const nlohmann::json json = run_json(text, chip, slice);
            const sim::FlopsPerSecond own = type.rate(spec);
            const bool has = own > sim::FlopsPerSecond();
            const double rate = (has ? own : spec.bf16_flops.value).value();
            EXPECT_NEAR(json["step_time_s"].get<double>(), kSquareFlops / rate, 2e-12)
                << chip << ' ' << type.name;
            EXPECT_EQ(json["kernels"][0]["bytes"], 8192.0 * 8192 * (2 * type.bytes + 2));
            EXPECT_EQ(json["executed_flops"], kSquareFlops);
            EXPECT_EQ(json["matmuls_in_bf16"],
                      has ? nlohmann::json::object() : nlohmann::json({{type.name, 1}}));
        }
    }
    const std::string note =
        "note: 1 matmuls of f8e4m3fn are computed in bf16: the chip's MXU does not take these "
        "types\n";
    EXPECT_THAT(run_text(square("f8e4m3fn", "f8e4m3fn", 4), "v4", "2x2x1"), HasSubstr(note));
    EXPECT_THAT(run_text(square("f8e4m3fn", "f8e4m3fn", 4), "tpu7x", "2x2x1"),
                Not(HasSubstr("computed in bf16")));
}

// Time and bound are multiplied by the passes; the FLOPs stay.
TEST_F(HloKinds, PrecisionTakesPasses) {
    for (const auto& [more, passes] : {std::pair{", operand_precision={high,high}", 3},
                                       std::pair{", operand_precision={highest,highest}", 6},
                                       std::pair{", algorithm=dot_bf16_bf16_f32_x9", 9}}) {
        const nlohmann::json json = run_json(square("f32", "f32", 4, more), "v5p", "2x2x1");
        EXPECT_NEAR(json["step_time_s"].get<double>(), passes * kSquareFlops / 459e12, 2e-12);
        EXPECT_NEAR(json["analytic"]["roofline_lower_s"].get<double>(),
                    passes * kSquareFlops / 459e12, 1e-12);
        EXPECT_EQ(json["executed_flops"], kSquareFlops);
        EXPECT_EQ(json["matmuls_by_type"][0]["passes"], passes);
    }
    const std::string text = square("f32", "f32", 4, ", operand_precision={highest,highest}");
    EXPECT_THAT(run_text(text, "v5p", "2x2x1"),
                HasSubstr("note: 1 matmuls of f32 highest take 6 passes of bf16 each\n"));
    EXPECT_THAT(podsim({"hlo", "stats", write(text, "m.txt")}).out,
                HasSubstr("of it f32 highest, 6 passes"));
}

const std::string kEstimatedCall =
    "HloModule m, num_partitions=4\nENTRY %m {\n %a = bf16[1024,1024] parameter(0)\n ROOT %gmm = "
    "bf16[1024,1024] custom-call(%a, %a), custom_call_target=\"tpu_custom_call\", "
    "backend_config={\"custom_call_config\":{\"body\":\"\",\"cost_estimate\":{\"flops\":"
    "\"4590000000000\",\"transcendentals\":\"0\",\"bytes_accessed\":\"15000000\","
    "\"remote_bytes_transferred\":\"64\"}}}\n}\n";

// 4.59e12 FLOPs at 459e12 a second.
TEST_F(HloKinds, KernelsCostWhatTheirAuthorsSay) {
    const nlohmann::json json = run_json(kEstimatedCall, "v5p", "2x2x1");
    EXPECT_NEAR(json["step_time_s"].get<double>(), 0.01, 2e-12);
    EXPECT_EQ(json["estimated_custom_calls"], 1);
    EXPECT_EQ(json["kernel_sent_bytes"], 64);
    EXPECT_EQ(json["unknown_custom_calls"], nlohmann::json::array());
    const nlohmann::json stats = stats_json(kEstimatedCall);
    EXPECT_EQ(stats["estimated_flops"], 4.59e12);
    EXPECT_EQ(stats["given_flops"], 0);
    EXPECT_EQ(stats["hbm_bytes"], 15e6);
    const std::string text = run_text(kEstimatedCall, "v5p", "2x2x1");
    EXPECT_THAT(text, HasSubstr("note: FLOPs and bytes of 1 custom calls are those of their "
                                "cost_estimate\n"));
    EXPECT_THAT(text, HasSubstr("note: custom calls send 64.00 B to other chips themselves, which "
                                "is not played\n"));
    EXPECT_THAT(podsim({"hlo", "stats", path("m.txt")}).out,
                HasSubstr("custom calls, by their cost_estimate"));
    const nlohmann::json given = nlohmann::json::parse(
        podsim({"hlo", "stats", path("m.txt"), "--flops", "gmm=7", "--json", "-"}).out);
    EXPECT_EQ(given["given_flops"], 7);
    EXPECT_EQ(given["estimated_flops"], 0);
    EXPECT_EQ(given["hbm_bytes"], 15e6);
}

// A backtracking pattern would try every partition of the name's letters, of which 4000 have too
// many. RE2 does not backtrack, and so refuses some syntax.
TEST_F(HloKinds, PatternsTakeTimeLinearInTheName) {
    const std::string name(4000, 'x');
    const std::string file = write(
        "ENTRY %m (a: f32[8]) -> f32[8] {\n %a = f32[8] parameter(0)\n "
        "ROOT %k = f32[8] custom-call(%a), custom_call_target=\"" +
            name + "\"\n}\n",
        "m.txt");
    const auto given = [&](const std::string& pattern) {
        return podsim({"hlo", "stats", file, "--flops", pattern + "=7", "--json", "-"});
    };
    EXPECT_EQ(nlohmann::json::parse(given("(x+x+)+$").out)["given_flops"], 7);
    EXPECT_EQ(given("(x+x+)+y").err,
              "--flops: no custom call has such a name or target; podsim hlo "
              "stats lists the targets\n");
    EXPECT_EQ(given("(x").err,
              "--flops (x=7: no regular expression: missing ): (x; the syntax is RE2's\n");
    EXPECT_EQ(given("(?=x)x").err,
              "--flops (?=x)x=7: no regular expression: invalid perl operator: (?=; the syntax is "
              "RE2's\n");
}

// JSON has a number for every total: overflows are refused at their position.
TEST_F(HloKinds, OverflowsAreNoNulls) {
    const auto refused = [&](const std::string& line) {
        const std::string file =
            write("ENTRY e {\n a = bf16[8,8] parameter(0)\n ROOT r = " + line + "\n}\n", "m.txt");
        const Outcome outcome = podsim({"hlo", "stats", file, "--json", "-"});
        EXPECT_EQ(outcome.status, 2);
        EXPECT_EQ(outcome.out, "");
        return outcome.err.substr(std::min(file.size(), outcome.err.size()));
    };
    EXPECT_EQ(refused("f32[4294967296,4294967296] broadcast(a), dimensions={}"),
              ":3:11: an array of 2^63 bytes or more\n");
    EXPECT_EQ(refused("f32[8] custom-call(a), custom_call_target=\"k\", "
                      "backend_config={\"cost_estimate\":{\"flops\":1e300}}"),
              ":3:7: 'r': a cost_estimate of 2^63 or more\n");
}

// The element of a tuple by its number and the element by its line give the same run.
TEST_F(HloKinds, ElementsByTheirNumbersRunTheSame) {
    const auto step = [](const std::string& first, const std::string& second,
                         const std::string& body, const std::string& condition) {
        return "HloModule m, is_scheduled=true, num_partitions=4\n%b {\n %p = (s32[], "
               "bf16[1024,1024]) parameter(0)\n" +
               body + " %one = s32[] constant(1)\n %n = s32[] add(" + first +
               ", %one)\n %d = bf16[1024,1024] dot(" + second + ", " + second +
               "), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n %r = bf16[1024,1024] "
               "all-reduce(%d), channel_id=1, replica_groups=[1,4]<=[4], "
               "use_global_device_ids=true\n ROOT %t = (s32[], bf16[1024,1024]) tuple(%n, "
               "%r)\n}\n%c {\n %p = (s32[], bf16[1024,1024]) parameter(0)\n" +
               condition + " %ten = s32[] constant(10)\n ROOT %lt = pred[] compare(" + first +
               ", %ten), direction=LT\n}\nENTRY %m {\n %x = bf16[1024,1024] parameter(0)\n %z = "
               "s32[] constant(0)\n %t = (s32[], bf16[1024,1024]) tuple(%z, %x)\n %w = (s32[], "
               "bf16[1024,1024]) while(%t), condition=%c, body=%b\n ROOT %y = bf16[1024,1024] "
               "get-tuple-element(%w), index=1\n}\n";
    };
    const std::string counter = " %i = s32[] get-tuple-element(%p), index=0\n";
    nlohmann::json compact = run_json(step("%p#0", "bf16[1024,1024] %p#1", "", ""), "v5p", "2x2x1");
    nlohmann::json lines =
        run_json(step("%i", "%x",
                      counter + " %x = bf16[1024,1024] get-tuple-element(%p), index=1\n", counter),
                 "v5p", "2x2x1");
    compact.erase("wall_time_s");
    lines.erase("wall_time_s");
    EXPECT_EQ(compact, lines);
    EXPECT_EQ(compact["executed_flops"], 10 * 2.0 * 1024 * 1024 * 1024);
}

// {{0}} with a channel and without use_global_device_ids is the one replica with its four
// partitions: 3/4 of 64 bytes twice.
TEST_F(HloKinds, AReplicaIsAllOfItsPartitions) {
    const auto reduce = [](const std::string& who) {
        return "HloModule m, num_partitions=4\nENTRY %m {\n %a = f32[16] parameter(0)\n ROOT %r = "
               "f32[16] all-reduce(%a), " +
               who + "\n}\n";
    };
    EXPECT_EQ(stats_json(
                  reduce("channel_id=1, replica_groups={{0}}"))["collectives"][0]["received_bytes"],
              96);
    EXPECT_EQ(stats_json(reduce("replica_groups={{0}}"))["collectives"][0]["received_bytes"], 0);
    EXPECT_GT(run_json(reduce("channel_id=1, replica_groups={{0}}"), "v5p",
                       "2x2x1")["exposed_communication_s"],
              0);
    const nlohmann::json beyond = stats_json(reduce("replica_groups={{0,1},{2,3}}"));
    EXPECT_EQ(beyond["ids_beyond_header"], 1);
    EXPECT_EQ(beyond["collectives"][0]["groups"], "[2,2]<=[4]");
    EXPECT_THAT(podsim({"hlo", "stats", path("m.txt")}).out,
                HasSubstr("the ids of 1 collectives are beyond the header's counts and are taken "
                          "as devices' numbers\n"));
}

TEST_F(HloKinds, ProgramsThatAreNotPartitionedAreRefused) {
    const std::string file = write(
        "HloModule m, num_partitions=8\nENTRY %m {\n %a = f32[8] parameter(0)\n ROOT %r = f32[8] "
        "custom-call(%a), custom_call_target=\"xla.sdy.FuncResultSharding\"\n}\n",
        "m.txt");
    const std::string expected =
        file +
        ":4:7: 'r': the module is not partitioned yet: the custom call "
        "'xla.sdy.FuncResultSharding' is for XLA's partitioner, and there are 8 devices; dump "
        "*after_optimizations.txt, or what XLA's SPMD partitioner leaves "
        "(--xla_dump_hlo_pass_re=spmd)\n";
    for (const std::vector<std::string>& args :
         {std::vector<std::string>{"hlo", "stats", file},
          std::vector<std::string>{"hlo", "run", file, "--chip", "v5p", "--slice", "2x2x2"}}) {
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 2);
        EXPECT_EQ(outcome.err, expected);
    }
}

}  // namespace
}  // namespace podsim::scenarios
