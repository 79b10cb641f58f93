// Totals of a module, weighted by its loops, by hand.
#include "workloads/hlo/totals.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>

#include "sim/base/error.h"
#include "workloads/hlo/read_module.h"

namespace podsim::workloads::hlo {
namespace {

// Two loops have 5 layers. Forward gathers 8 x 4 floats of weights and multiplies 2 x 8 by them.
// Backward does so again (recomputation), multiplies twice more, and scatters the gradient. 4
// devices form pairs of strides 1 and 2.
constexpr const char* kStep = R"(
HloModule step
%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}
%test (t: (s32[], f32[2,8], f32[4,4])) -> pred[] {
  %t = (s32[], f32[2,8], f32[4,4]) parameter(0)
  %i = s32[] get-tuple-element(%t), index=0
  %n = s32[] constant(5)
  ROOT %c = pred[] compare(%i, %n), direction=LT
}
%forward (t: (s32[], f32[2,8], f32[4,4])) -> (s32[], f32[2,8], f32[4,4]) {
  %t = (s32[], f32[2,8], f32[4,4]) parameter(0)
  %i = s32[] get-tuple-element(%t), index=0
  %one = s32[] constant(1)
  %j = s32[] add(%i, %one)
  %x = f32[2,8] get-tuple-element(%t), index=1
  %w = f32[4,4] get-tuple-element(%t), index=2
  %g = f32[8,4] all-gather(%w), replica_groups={{0,1},{2,3}}, dimensions={0}, metadata={op_name="jit(s)/jvp()/while"}
  %d = f32[2,4] dot(%x, %g), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(s)/jvp()/while"}
  %p = f32[2,8] pad(%d, %one), padding=0_0x0_4
  ROOT %r = (s32[], f32[2,8], f32[4,4]) tuple(%j, %p, %w)
}
%backward (t: (s32[], f32[2,8], f32[4,4])) -> (s32[], f32[2,8], f32[4,4]) {
  %t = (s32[], f32[2,8], f32[4,4]) parameter(0)
  %i = s32[] get-tuple-element(%t), index=0
  %one = s32[] constant(1)
  %j = s32[] add(%i, %one)
  %x = f32[2,8] get-tuple-element(%t), index=1
  %w = f32[4,4] get-tuple-element(%t), index=2
  %g2 = f32[8,4] all-gather(%w), replica_groups={{0,1},{2,3}}, dimensions={0}, metadata={op_name="jit(s)/transpose(jvp())/while/rematted_computation"}
  %d2 = f32[2,4] dot(%x, %g2), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(s)/transpose(jvp())/while/rematted_computation"}
  %dx = f32[2,8] dot(%d2, %g2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, metadata={op_name="jit(s)/transpose(jvp())/while"}
  %dw = f32[8,4] dot(%x, %d2), lhs_contracting_dims={0}, rhs_contracting_dims={0}, metadata={op_name="jit(s)/transpose(jvp())/while"}
  %rs = f32[4,4] reduce-scatter(%dw), replica_groups=[2,2]<=[4], dimensions={0}, to_apply=%sum, metadata={op_name="jit(s)/transpose(jvp())/while"}
  %ar = f32[4,4] all-reduce(%rs), replica_groups=[2,2]<=[2,2]T(1,0), to_apply=%sum, metadata={op_name="jit(s)/transpose(jvp())/while"}
  ROOT %r2 = (s32[], f32[2,8], f32[4,4]) tuple(%j, %dx, %ar)
}
ENTRY %main (x: f32[2,8], w: f32[4,4]) -> f32[4,4] {
  %x = f32[2,8] parameter(0)
  %w = f32[4,4] parameter(1)
  %zero = s32[] constant(0)
  %u = (s32[], f32[2,8], f32[4,4]) tuple(%zero, %x, %w)
  %f = (s32[], f32[2,8], f32[4,4]) while(%u), condition=%test, body=%forward
  %y = f32[2,8] get-tuple-element(%f), index=1
  %v = (s32[], f32[2,8], f32[4,4]) tuple(%zero, %y, %w)
  %b = (s32[], f32[2,8], f32[4,4]) while(%v), condition=%test, body=%backward
  %new = f32[4,4] get-tuple-element(%b), index=2
  ROOT %adam = f32[4,4] subtract(%w, %new)
}
)";

TEST(HloTotals, LoopsCountAsOftenAsTheyGoRound) {
    const Module module = read_module(kStep, "m");
    const Totals totals = totals_of(module, {}, {});
    const double matmul = 2.0 * 2 * 8 * 4;
    EXPECT_EQ(totals.devices, 4);
    EXPECT_FALSE(totals.devices_stated);
    EXPECT_EQ(totals.matmuls, 5 + 15);
    EXPECT_EQ(totals.matmul_flops.value(), 20 * matmul);
    EXPECT_EQ(totals.flops_by_pass.at("forward").value(), 5 * matmul);
    EXPECT_EQ(totals.flops_by_pass.at("recompute").value(), 5 * matmul);
    EXPECT_EQ(totals.flops_by_pass.at("backward").value(), 10 * matmul);
    EXPECT_EQ(totals.parameters.value(), 4 * (16 + 16));
    ASSERT_EQ(totals.loops.size(), 2U);
    EXPECT_EQ(totals.loops[0].trips, 5);

    ASSERT_EQ(totals.collectives.size(), 3U);
    const CollectiveTotal& gather = totals.collectives.at({"all-gather", "[2,2]<=[4]"});
    EXPECT_EQ(gather.count, 10);
    EXPECT_EQ(gather.result.value(), 10 * 128);
    EXPECT_EQ(gather.received.value(), 10 * 64);
    EXPECT_EQ(gather.passes.at("recompute"), 5);
    const CollectiveTotal& scatter = totals.collectives.at({"reduce-scatter", "[2,2]<=[4]"});
    EXPECT_EQ(scatter.result.value(), 5 * 64);
    EXPECT_EQ(scatter.received.value(), 5 * 64);
    const CollectiveTotal& reduce = totals.collectives.at({"all-reduce", "[2,2]<=[2,2]T(1,0)"});
    EXPECT_EQ(reduce.received.value(), 5 * 64);
}

TEST(HloTotals, TripsAsGiven) {
    const Module module = read_module(kStep, "m");
    EXPECT_EQ(totals_of(module, {}, {{"b", 7}}).matmuls, 5 + 21);
}

TEST(HloTotals, OfAConditionalTheBranchOfMostFlopsCounts) {
    const Module module = read_module(R"(
%small (x: f32[2,2]) -> f32[2,2] {
  ROOT %x = f32[2,2] parameter(0)
}
%large (x: f32[2,2]) -> f32[2,2] {
  %x = f32[2,2] parameter(0)
  ROOT %d = f32[2,2] dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
ENTRY %main (p: pred[], x: f32[2,2]) -> f32[2,2] {
  %p = pred[] parameter(0)
  %x = f32[2,2] parameter(1)
  ROOT %c = f32[2,2] conditional(%p, %x, %x), true_computation=%small, false_computation=%large
}
)",
                                      "m");
    const Totals totals = totals_of(module, {}, {});
    EXPECT_EQ(totals.branches, 1);
    EXPECT_EQ(totals.matmul_flops.value(), 16);
}

// If no branch has FLOPs, the one that moves most bytes counts.
TEST(HloTotals, OfBranchesWithoutFlopsTheOneOfMostBytesCounts) {
    const Module module = read_module(R"(
%idle (x: f32[64]) -> f32[64] {
  ROOT %x = f32[64] parameter(0)
}
%sums (x: f32[64]) -> f32[64] {
  %x = f32[64] parameter(0)
  ROOT %r = f32[64] all-reduce(%x), replica_groups={{0,1}}
}
ENTRY %main (p: pred[], x: f32[64]) -> f32[64] {
  %p = pred[] parameter(0)
  %x = f32[64] parameter(1)
  ROOT %c = f32[64] conditional(%p, %x, %x), true_computation=%idle, false_computation=%sums
}
)",
                                      "m");
    EXPECT_EQ(totals_of(module, {}, {}).collectives.size(), 1U);
}

/// Returns the result bytes of the only collective, and the bytes that a device receives.
std::pair<double, double> bytes_of(const std::string& operand, const std::string& result,
                                   const std::string& rest) {
    const Totals totals =
        totals_of(read_module("e {\n a = " + operand + " parameter(0)\n ROOT r = " + result + " " +
                                  rest + "\n}\n",
                              "m"),
                  {}, {});
    const CollectiveTotal& one = totals.collectives.begin()->second;
    return {one.result.value(), one.received.value()};
}

// 512 x 128 elements, 7/8 of them from others, have a byte
// each, and half a byte each if the layout packs them.
TEST(HloTotals, ElementsOfFourBitsAreAsWideInResultsAsInWhatIsReceived) {
    const std::string gather = "all-gather(a), replica_groups={{0,1,2,3,4,5,6,7}}, dimensions={0}";
    EXPECT_EQ(bytes_of("s4[64,128]", "s4[512,128]", gather), std::pair(65536.0, 57344.0));
    EXPECT_EQ(bytes_of("s4[64,128]{1,0:E(4)}", "s4[512,128]{1,0:E(4)}", gather),
              std::pair(32768.0, 28672.0));
}

TEST(HloTotals, WhoSendsToItselfReceivesNothing) {
    const auto permute = [](const std::string& pairs) {
        return bytes_of("f32[4]", "f32[4]",
                        "collective-permute(a), source_target_pairs={" + pairs + "}");
    };
    EXPECT_EQ(permute("{0,0},{1,1}"), std::pair(16.0, 0.0));
    EXPECT_EQ(permute("{0,0},{1,2},{2,1}"), std::pair(16.0, 16.0));
    EXPECT_EQ(bytes_of("f32[4]", "f32[4]", "collective-broadcast(a), replica_groups={{0},{1}}"),
              std::pair(16.0, 0.0));
}

std::string totals_error(const std::string& text) {
    try {
        totals_of(read_module(text, "m.txt"), {}, {});
    } catch (const sim::InputError& error) {
        return error.what();
    }
    return "none";
}

TEST(HloTotals, RefusesWhatItCannotCount) {
    EXPECT_EQ(
        totals_error(R"(
%t (x: s32[]) -> pred[] {
  %x = s32[] parameter(0)
  ROOT %c = pred[] compare(%x, %x), direction=LT
}
%b (x: s32[]) -> s32[] {
  ROOT %x = s32[] parameter(0)
}
ENTRY %main (x: s32[]) -> s32[] {
  %x = s32[] parameter(0)
  ROOT %loop.1 = s32[] while(%x), condition=%t, body=%b
}
)"),
        "m.txt:11:8: 'loop.1': the text does not tell how often this loop goes round; say --trips "
        "loop.1=N");
}

}  // namespace
}  // namespace podsim::workloads::hlo
