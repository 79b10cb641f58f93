// The operations of an imported step, and their needs.
#include "workloads/hlo/import_step.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <string>

#include "workloads/hlo/read_module.h"

namespace podsim::workloads::hlo {
namespace {

ImportedStep imported(const std::string& text, std::int64_t devices = 4) {
    const Module module = read_module(text, "m");
    const DeviceAxes axes(module, devices, {});
    return import_step(module, axes, {}, {});
}

/// Returns each operation with its needs, by name, as in `d<step,g`.
std::string order_of(const ImportedStep& step) {
    const std::vector<Op>& ops = step.program.ops;
    std::vector<std::string> all;
    for (const Op& op : ops) {
        std::vector<std::string> waits;
        for (const OpIndex each : op.after) {
            waits.push_back(ops[each].name);
        }
        all.push_back(fmt::format("{}<{}", op.name, fmt::join(waits, ",")));
    }
    return fmt::format("{}", fmt::join(all, " "));
}

const std::string kTwo =
    "ENTRY %m (x: bf16[8,8], w: bf16[2,8]) -> bf16[8,8] {\n"
    " %x = bf16[8,8] parameter(0)\n %w = bf16[2,8] parameter(1)\n";
const std::string kDot = "lhs_contracting_dims={1}, rhs_contracting_dims={0}";

// In a scheduled module the gather begins when the stream reaches it and goes on beside %a; %b,
// behind its end, waits for it.
TEST(HloImportStep, AScheduledModuleKeepsToItsOrder) {
    const ImportedStep step = imported(
        "HloModule m, is_scheduled=true\n" + kTwo + " %first = bf16[8,8] dot(%x, %x), " + kDot +
        "\n %g = (bf16[2,8], bf16[8,8]) all-gather-start(%w), replica_groups={{0,1,2,3}}, "
        "dimensions={0}\n %a = bf16[8,8] dot(%x, %x), " +
        kDot + "\n %e = bf16[8,8] all-gather-done(%g)\n %c = bf16[8,8] dot(%x, %x), " + kDot +
        "\n ROOT %b = bf16[8,8] dot(%c, %e), " + kDot + "\n}\n");
    EXPECT_EQ(order_of(step), "step< first<step g<first a<first c<g,a b<g,c end<b");
}

// A collective without a separate end blocks the stream, although nothing reads it.
TEST(HloImportStep, SynchronousCollectivesHoldTheStreamUp) {
    const ImportedStep step =
        imported("HloModule m, is_scheduled=true\n" + kTwo +
                 " %g = bf16[8,8] all-gather(%w), replica_groups={{0,1,2,3}}, dimensions={0}\n "
                 "%h = bf16[8,8] all-gather(%w), replica_groups={{0,1,2,3}}, dimensions={0}\n "
                 "ROOT %a = bf16[8,8] dot(%x, %x), " +
                 kDot + "\n}\n");
    EXPECT_EQ(order_of(step), "step< g<step h<step,g a<step,h end<a");
}

// Without a schedule the gather begins at once, and %b waits for it.
TEST(HloImportStep, WithoutAScheduleCollectivesBeginAsSoonAsTheyCan) {
    const ImportedStep step =
        imported(kTwo + " %a = bf16[8,8] dot(%x, %x), " + kDot +
                 "\n %g = bf16[8,8] all-gather(%w), replica_groups={{0,1,2,3}}, dimensions={0}\n "
                 "ROOT %b = bf16[8,8] dot(%a, %g), " +
                 kDot + "\n}\n");
    EXPECT_FALSE(step.scheduled);
    EXPECT_EQ(order_of(step), "step< a<step g<step b<a,g end<b");
    const auto& gather = std::get<Collective>(step.program.ops[2].work);
    EXPECT_EQ(gather.operation, collectives::Operation::all_gather);
    EXPECT_EQ(gather.purpose, Purpose::weights);
    EXPECT_EQ(gather.bytes.value(), 128);
    EXPECT_EQ(gather.axes, std::vector<std::string>{"devices"});
}

// %v names the result of %a, the first of a kernel that
// ends with %b: the AllReduce waits for the kernel.
TEST(HloImportStep, NamesWithinAKernelAreReadyWhenItHasEnded) {
    const ImportedStep step = imported(R"(
ENTRY %m (x: f32[8]) -> f32[8] {
  %x = f32[8] parameter(0)
  %a = f32[8] exponential(%x)
  %v = f32[2,4] bitcast(%a)
  %b = f32[8] negate(%a)
  %r = f32[2,4] all-reduce(%v), replica_groups={{0,1,2,3}}
  ROOT %c = f32[8] multiply(%b, %b)
}
)");
    EXPECT_EQ(order_of(step), "step< b<step r<step,b c<b end<r,c");
}

// Each iteration begins when the whole previous one has
// ended: the second gather follows the first reduction.
TEST(HloImportStep, IterationsDoNotOverlap) {
    const ImportedStep step = imported(R"(
%t (p: (s32[], bf16[8,8])) -> pred[] {
  %p = (s32[], bf16[8,8]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %n = s32[] constant(2)
  ROOT %c = pred[] compare(%i, %n), direction=LT
}
%b (p: (s32[], bf16[8,8])) -> (s32[], bf16[8,8]) {
  %p = (s32[], bf16[8,8]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %j = s32[] add(%i, %one)
  %x = bf16[8,8] get-tuple-element(%p), index=1
  %d = bf16[8,8] dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %r = bf16[8,8] all-reduce(%d), replica_groups={{0,1,2,3}}
  ROOT %o = (s32[], bf16[8,8]) tuple(%j, %r)
}
ENTRY %m (x: bf16[8,8]) -> bf16[8,8] {
  %x = bf16[8,8] parameter(0)
  %zero = s32[] constant(0)
  %u = (s32[], bf16[8,8]) tuple(%zero, %x)
  %w = (s32[], bf16[8,8]) while(%u), condition=%t, body=%b
  ROOT %y = bf16[8,8] get-tuple-element(%w), index=1
}
)");
    EXPECT_EQ(order_of(step), "step< w<step d<w r<w,d w<d,r d<w r<w,d w<d,r end<w");
    EXPECT_EQ(step.program.turns.size(), 5U);
    EXPECT_EQ(step.program.ops[2].layer, 0);
    EXPECT_EQ(step.program.ops[5].layer, 1);
}

// A collective that began before a loop and is not read in it goes on beside it: %late waits for
// it, the loop does not.
TEST(HloImportStep, ACollectiveSpansALoop) {
    const ImportedStep step = imported(R"(
HloModule m, is_scheduled=true
%t (p: (s32[], bf16[8,8])) -> pred[] {
  %p = (s32[], bf16[8,8]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %n = s32[] constant(1)
  ROOT %c = pred[] compare(%i, %n), direction=LT
}
%b (p: (s32[], bf16[8,8])) -> (s32[], bf16[8,8]) {
  %p = (s32[], bf16[8,8]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %j = s32[] add(%i, %one)
  %x = bf16[8,8] get-tuple-element(%p), index=1
  %d = bf16[8,8] dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %o = (s32[], bf16[8,8]) tuple(%j, %d)
}
ENTRY %m (x: bf16[8,8]) -> bf16[8,8] {
  %x = bf16[8,8] parameter(0)
  %zero = s32[] constant(0)
  %r = bf16[8,8] all-reduce-start(%x), replica_groups={{0,1,2,3}}
  %u = (s32[], bf16[8,8]) tuple(%zero, %x)
  %w = (s32[], bf16[8,8]) while(%u), condition=%t, body=%b
  %e = bf16[8,8] all-reduce-done(%r)
  ROOT %late = bf16[8,8] dot(%e, %e), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)");
    EXPECT_EQ(order_of(step), "step< r<step w<step d<w w<d late<r,w end<late");
}

// 64 bytes come into VMEM while %a (1024 FLOPs, 384 bytes)
// and %b, twice the work, run: one third and two thirds.
TEST(HloImportStep, PrefetchesMoveBesideTheKernelsOfTheirWindow) {
    const ImportedStep step = imported(R"(
HloModule m, is_scheduled=true
%f (p: f32[4]) -> f32[4] {
  ROOT %p = f32[4] parameter(0)
}
ENTRY %m (x: bf16[8,8], y: bf16[16,8], v: f32[16]) -> bf16[8,8] {
  %x = bf16[8,8] parameter(0)
  %y = bf16[16,8] parameter(1)
  %v = f32[16] parameter(2)
  %s = (f32[16]{0:S(1)}, f32[16]{0}, u32[]) copy-start(%v)
  %a = bf16[8,8]{1,0:S(1)} dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %b = bf16[16,8]{1,0:S(1)} dot(%y, %a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %e = f32[16]{0:S(1)} copy-done(%s)
  ROOT %c = f32[16]{0:S(1)} negate(%e)
  %unused = f32[4] fusion(%v), kind=kLoop, calls=%f
}
)");
    const auto bytes = [&](std::size_t op) {
        return std::get<Compute>(step.program.ops[op].work).hbm.value();
    };
    EXPECT_EQ(step.program.ops[1].name, "a");
    const double a = 1024 + 128;  // FLOPs and its own bytes, x once
    const double b = 2048 + 256;
    EXPECT_DOUBLE_EQ(bytes(1), 128 + 64 * a / (a + b));
    EXPECT_DOUBLE_EQ(bytes(2), 256 + 64 * b / (a + b));
}

}  // namespace
}  // namespace podsim::workloads::hlo
