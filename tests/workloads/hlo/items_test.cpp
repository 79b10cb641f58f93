// Work and costs of instructions: bytes of HBM and elementwise
// work by hand, and the classification of collectives.
#include "workloads/hlo/items.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>

#include "workloads/hlo/read_module.h"

namespace podsim::workloads::hlo {
namespace {

struct Listed {
    Module module;
    std::vector<Item> items;

    [[nodiscard]] const Item& at(const std::string& name) const {
        const Computation& entry = module.computations[module.entry];
        const auto found = std::ranges::find_if(items, [&](const Item& item) {
            return entry.instructions[item.members.back()].name == name;
        });
        EXPECT_NE(found, items.end()) << name;
        return *found;
    }
};

Listed list(const std::string& text, const CostRules& rules = {}) {
    Listed listed{read_module(text, "m"), {}};
    listed.items =
        ModuleItems(listed.module, rules).of(listed.module.computations[listed.module.entry]);
    return listed;
}

// 100 floats pad to 1024 in tiles of T(1024), and VMEM is free. A slice moves only its own bytes,
// and a write in place only the update.
TEST(HloItems, BytesOfFusions) {
    const Listed listed = list(R"(
%slices (p: f32[10,64], i: s32[]) -> f32[64] {
  %p = f32[10,64] parameter(0)
  %i = s32[] parameter(1)
  %zero = s32[] constant(0)
  %s = f32[1,64] dynamic-slice(%p, %i, %zero), dynamic_slice_sizes={1,64}
  %r = f32[64] bitcast(%s)
  ROOT %e = f32[64] exponential(%r)
}
%updates (p: f32[10,64], u: f32[1,64], i: s32[]) -> f32[10,64] {
  %p = f32[10,64] parameter(0)
  %u = f32[1,64] parameter(1)
  %i = s32[] parameter(2)
  %zero = s32[] constant(0)
  ROOT %d = f32[10,64] dynamic-update-slice(%p, %u, %i, %zero)
}
%adds (a: f32[100], b: f32[100]) -> f32[100] {
  %a = f32[100]{0:T(1024)} parameter(0)
  %b = f32[100]{0:T(1024)S(1)} parameter(1)
  ROOT %c = f32[100]{0:T(1024)} add(%a, %b)
}
ENTRY %main (p: f32[10,64], i: s32[], u: f32[1,64], a: f32[100], b: f32[100]) -> f32[] {
  %p = f32[10,64] parameter(0)
  %i = s32[] parameter(1)
  %u = f32[1,64] parameter(2)
  %a = f32[100]{0:T(1024)} parameter(3)
  %b = f32[100]{0:T(1024)S(1)} parameter(4)
  %sliced = f32[64] fusion(%p, %i), kind=kLoop, calls=%slices
  %updated = f32[10,64] fusion(%p, %u, %i), kind=kLoop, calls=%updates
  %added = f32[100]{0:T(1024)} fusion(%a, %b), kind=kLoop, calls=%adds
  ROOT %done = f32[] constant(0)
}
)");
    ASSERT_EQ(listed.items.size(), 3U);
    EXPECT_EQ(listed.at("sliced").work.hbm.value(), 256 + 4 + 256);
    EXPECT_EQ(listed.at("sliced").work.vector.value(), 64 * 4);  // a transcendental counts 4
    EXPECT_EQ(listed.at("updated").work.hbm.value(), 256 + 4 + 256);
    EXPECT_EQ(listed.at("added").work.hbm.value(), 4096 + 4096);
    EXPECT_EQ(listed.at("added").work.vector.value(), 100);
}

// In a module without fusions the two elementwise instructions behind the matmul form one kernel:
// it reads the product (4 x 6) and the bias (6), and writes 4 x 6 once.
TEST(HloItems, NeighboursAreFusedWhereNothingIs) {
    const Listed listed = list(R"(
ENTRY %main (x: f32[4,5], w: f32[5,6], b: f32[6]) -> f32[4,6] {
  %x = f32[4,5] parameter(0)
  %w = f32[5,6] parameter(1)
  %b = f32[6] parameter(2)
  %d = f32[4,6] dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %wide = f32[4,6] broadcast(%b), dimensions={1}
  %s = f32[4,6] add(%d, %wide)
  %t = f32[4,6] tanh(%s)
  %e = f32[4,6] dot(%t, %t), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT %r = f32[4,6] negate(%t)
}
)");
    ASSERT_EQ(listed.items.size(), 4U);
    EXPECT_EQ(listed.at("d").work.flops.value(), 2 * 4 * 5 * 6);
    EXPECT_EQ(listed.at("d").work.hbm.value(), 4 * (20 + 30 + 24));
    EXPECT_EQ(listed.at("t").members.size(), 3U);
    EXPECT_EQ(listed.at("t").work.hbm.value(), 4 * (24 + 6 + 24));
    EXPECT_EQ(listed.at("t").work.vector.value(), 24 + 24 * 4);
    EXPECT_EQ(listed.at("r").work.hbm.value(), 4 * (24 + 24));
}

constexpr const char* kSum =
    "%sum (a: f32[], b: f32[]) -> f32[] {\n %a = f32[] parameter(0)\n %b = f32[] parameter(1)\n "
    "ROOT %c = f32[] add(%a, %b)\n}\n";

/// Returns the operation of an AllReduce over 4 devices of 8 floats, which `readers` read.
collectives::Operation reduced_as(const std::string& readers, bool numbered = true) {
    const Listed listed = list(
        kSum +
        std::string("ENTRY %main (x: f32[8]) -> f32[] {\n %x = f32[8] parameter(0)\n %two = s32[] "
                    "constant(2)\n %id = u32[] ") +
        (numbered ? "partition-id()" : "constant(0)") +
        "\n %place = s32[] convert(%id)\n %at = s32[] multiply(%place, %two)\n %all = f32[8] "
        "all-reduce(%x), replica_groups={{0,1,2,3}}, to_apply=%sum\n" +
        readers + " ROOT %done = f32[] constant(0)\n}\n");
    return listed.at("all").collectives.at(0).operation;
}

TEST(HloItems, AnAllReduceOfWhichOnlyTheDevicesSliceIsReadIsAReduceScatter) {
    using collectives::Operation;
    const std::string slice = " %s = f32[2] dynamic-slice(%all, %at), dynamic_slice_sizes={2}\n";
    EXPECT_EQ(reduced_as(slice), Operation::reduce_scatter);
    EXPECT_EQ(reduced_as(" %v = f32[8] bitcast(%all)\n %h = bf16[8] convert(%v)\n %s = bf16[2] "
                         "dynamic-slice(%h, %at), dynamic_slice_sizes={2}\n"),
              Operation::reduce_scatter);
    EXPECT_EQ(reduced_as(slice + " %n = f32[8] negate(%all)\n"), Operation::all_reduce);
    // Half of the array is read, not a quarter.
    EXPECT_EQ(reduced_as(" %s = f32[4] dynamic-slice(%all, %at), dynamic_slice_sizes={4}\n"),
              Operation::all_reduce);
    // Every device reads the same slice.
    EXPECT_EQ(reduced_as(slice, false), Operation::all_reduce);
    EXPECT_EQ(reduced_as(""), Operation::all_reduce);
    // A table of positions that the text omits does not show that they are equal.
    EXPECT_EQ(reduced_as(" %table = s32[4] constant({...})\n %entry = s32[1] dynamic-slice(%table, "
                         "%place), dynamic_slice_sizes={1}\n %there = s32[] bitcast(%entry)\n %s = "
                         "f32[2] dynamic-slice(%all, %there), dynamic_slice_sizes={2}\n"),
              Operation::reduce_scatter);
    // Two of members 0 to 3 read each half of the positions:
    // these belong to others along another axis of the mesh.
    EXPECT_EQ(reduced_as(" %half = s32[] remainder(%place, %two)\n %there = s32[] multiply(%half, "
                         "%two)\n %s = f32[2] dynamic-slice(%all, %there), "
                         "dynamic_slice_sizes={2}\n"),
              Operation::all_reduce);
}

// XLA's own ReduceScatter in an optimised module is a fusion of an all-reduce and a dynamic-slice.
// V is the operand's 32 bytes.
TEST(HloItems, FusionsAndWrappersCarryCollectives) {
    const Listed listed = list(kSum + std::string(R"(
%scatter (x: f32[8], i: s32[]) -> f32[2] {
  %x = f32[8] parameter(0)
  %i = s32[] parameter(1)
  %all = f32[8] all-reduce(%x), replica_groups={{0,1,2,3}}, to_apply=%sum
  ROOT %s = f32[2] dynamic-slice(%all, %i), dynamic_slice_sizes={2}
}
%wrapped (x: f32[8]) -> f32[8] {
  %x = f32[8] parameter(0)
  ROOT %t = f32[8] all-to-all(%x), replica_groups={{0,1,2,3}}, dimensions={0}
}
ENTRY %main (x: f32[8], i: s32[]) -> f32[8] {
  %x = f32[8] parameter(0)
  %i = s32[] parameter(1)
  %rs = f32[2] fusion(%x, %i), kind=kCustom, calls=%scatter
  %start = ((f32[8]), f32[8], u32[]) async-start(%x), calls=%wrapped
  %done = f32[8] async-done(%start)
  %gather = (f32[2], f32[8]) all-gather-start(%rs), replica_groups={{0,1,2,3}}, dimensions={0}
  ROOT %gathered = f32[8] all-gather-done(%gather)
}
)"));
    ASSERT_EQ(listed.items.size(), 3U);
    const FoundCollective& scatter = listed.at("rs").collectives.at(0);
    EXPECT_EQ(scatter.operation, collectives::Operation::reduce_scatter);
    EXPECT_EQ(scatter.stored.value(), 32);
    EXPECT_EQ(listed.at("rs").work.hbm.value(), 0);
    EXPECT_EQ(listed.at("start").collectives.at(0).operation, collectives::Operation::all_to_all);
    EXPECT_EQ(listed.at("gather").collectives.at(0).stored.value(), 32);
}

// A slice and an update in place also count so in a
// nested fusion, and asynchronous work counts once.
TEST(HloItems, BytesOfNestedFusions) {
    const Listed listed = list(R"(
%inner (p: f32[10,64], u: f32[1,64], i: s32[]) -> f32[10,64] {
  %p = f32[10,64] parameter(0)
  %u = f32[1,64] parameter(1)
  %i = s32[] parameter(2)
  %zero = s32[] constant(0)
  %s = f32[1,64] dynamic-slice(%p, %i, %zero), dynamic_slice_sizes={1,64}
  %a = f32[1,64] add(%s, %u)
  ROOT %d = f32[10,64] dynamic-update-slice(%p, %a, %i, %zero)
}
%outer (p: f32[10,64], u: f32[1,64], i: s32[]) -> f32[10,64] {
  %p = f32[10,64] parameter(0)
  %u = f32[1,64] parameter(1)
  %i = s32[] parameter(2)
  ROOT %f = f32[10,64] fusion(%p, %u, %i), kind=kLoop, calls=%inner
}
%adds (p: f32[64], q: f32[64]) -> f32[64] {
  %p = f32[64] parameter(0)
  %q = f32[64] parameter(1)
  ROOT %a = f32[64] add(%p, %q)
}
ENTRY %main (p: f32[10,64], u: f32[1,64], i: s32[], q: f32[64]) -> f32[] {
  %p = f32[10,64] parameter(0)
  %u = f32[1,64] parameter(1)
  %i = s32[] parameter(2)
  %q = f32[64] parameter(3)
  %nested = f32[10,64] fusion(%p, %u, %i), kind=kLoop, calls=%outer
  %start = ((f32[64], f32[64]), f32[64], u32[]) async-start(%q, %q), calls=%adds
  %done = f32[64] async-done(%start)
  ROOT %r = f32[] constant(0)
}
)");
    EXPECT_EQ(listed.at("nested").work.hbm.value(), 256 + 256 + 4 + 256);
    EXPECT_EQ(listed.at("start").work.hbm.value(), 3 * 256);
}

// All matrices are read: 4 x (12 x 5 + 3 x 5 x 7 + 12 x
// 7 + 3) bytes, of which the sizes are not the matmul's.
TEST(HloItems, ARaggedDotReadsTheMatricesOfAllGroups) {
    const Listed listed = list(R"(
ENTRY %main (x: f32[12,5], w: f32[3,5,7], g: s32[3]) -> f32[12,7] {
  %x = f32[12,5] parameter(0)
  %w = f32[3,5,7] parameter(1)
  %g = s32[3] parameter(2)
  ROOT %r = f32[12,7] ragged-dot(%x, %w, %g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
}
)");
    EXPECT_EQ(listed.at("r").work.flops.value(), 2 * 12 * 5 * 7);
    EXPECT_EQ(listed.at("r").work.hbm.value(), 4 * (60 + 105 + 84 + 3));
}

// For `fft` and for opcodes that XLA may add only the
// bytes are known, also in a fusion; for all others more.
TEST(HloItems, OpcodesThatNothingIsKnownOf) {
    const Listed listed = list(R"(
%inner (x: f32[4]) -> f32[4] {
  %x = f32[4] parameter(0)
  %y = f32[4] acosh(%x)
  ROOT %z = f32[4] fold-space(%y)
}
ENTRY %main (x: f32[4], i: s32[4]) -> f32[4] {
  %x = f32[4] parameter(0)
  %i = s32[4] parameter(1)
  %sorted = f32[4] sort(%x), dimensions={0}
  %fused = f32[4] fusion(%x), kind=kLoop, calls=%inner
  %begun = ((f32[4]), f32[4]) sort-start(%x), calls=%inner
  %ended = f32[4] sort-done(%begun)
  ROOT %waves = f32[4] fft(%x), fft_type=FFT
}
)");
    using Names = std::vector<std::string>;
    const auto unknown = [&](const std::string& name) {
        return unknown_opcodes(listed.module, listed.module.computations[listed.module.entry]
                                                  .instructions[listed.at(name).members[0]]);
    };
    EXPECT_EQ(unknown("sorted"), Names{});
    EXPECT_EQ(unknown("fused"), Names{"fold-space"});
    EXPECT_EQ(unknown("begun"), Names{"fold-space"});
    EXPECT_EQ(unknown("waves"), Names{"fft"});
    EXPECT_EQ(listed.at("waves").work.hbm.value(), 32);
    EXPECT_EQ(listed.at("fused").work.vector.value(), 4 * 4);  // acosh is transcendental
}

TEST(HloItems, CopiesToTheHostAndIntoVmem) {
    const Listed listed = list(R"(
%cut (x: f32[64]) -> f32[16] {
  %x = f32[64] parameter(0)
  ROOT %s = f32[16]{0:S(1)} slice(%x), slice={[0:16]}
}
ENTRY %main (x: f32[64], h: f32[32]) -> f32[64] {
  %x = f32[64] parameter(0)
  %h = f32[32]{0:S(5)} parameter(1)
  %fetch = ((f32[64]), f32[16]{0:S(1)}, s32[]) async-start(%x), calls=%cut
  %fetched = f32[16]{0:S(1)} async-done(%fetch)
  %back = (f32[32]{0}, f32[32]{0:S(5)}, u32[]) copy-start(%h)
  %came = f32[32]{0} copy-done(%back)
  %near = (f32[64]{0:S(1)}, f32[64]{0}, u32[]) copy-start(%x)
  %there = f32[64]{0:S(1)} copy-done(%near)
  %buffer = f32[8,64]{1,0:S(5)} parameter(2)
  %row = f32[1,64] bitcast(%x)
  %zero = s32[] constant(0)
  %kept = ((f32[8,64]{1,0:S(5)}, f32[1,64], s32[], s32[]), f32[8,64]{1,0:S(5)}, u32[]) dynamic-update-slice-start(%buffer, %row, %zero, %zero)
  %moved = f32[64] custom-call(%x), custom_call_target="MoveToHost"
  ROOT %r = f32[64] copy(%x)
}
)");
    EXPECT_EQ(listed.at("fetch").doing, Doing::prefetch);
    EXPECT_EQ(listed.at("fetch").bytes.value(), 64);
    EXPECT_EQ(listed.at("back").doing, Doing::host_copy);
    EXPECT_EQ(listed.at("back").bytes.value(), 128);
    EXPECT_EQ(listed.at("near").doing, Doing::prefetch);
    EXPECT_EQ(listed.at("moved").doing, Doing::host_copy);
    EXPECT_EQ(listed.at("kept").doing, Doing::host_copy);
    EXPECT_EQ(listed.at("kept").bytes.value(), 256);
    const Computation& entry = listed.module.computations[listed.module.entry];
    EXPECT_EQ(way_of(entry.instructions[listed.at("kept").members[0]]), HostWay::to_host);
    EXPECT_EQ(way_of(entry.instructions[listed.at("back").members[0]]), HostWay::to_chip);
    EXPECT_EQ(way_of(entry.instructions[listed.at("moved").members[0]]), HostWay::to_host);
}

// With q [1, 512, 8, 64] and k [1, 512, 2, 64] there are 4 x 262144 x 512 forward, 10 x backward,
// half of it if causal.
TEST(HloItems, AttentionKernelsByTheirNames) {
    const auto flops = [](const std::string& name, const std::string& q, const std::string& k,
                          const CostRules& rules, const std::string& more = "") {
        return list("ENTRY %main (q: f32[1]) -> f32[1] {\n %q = " + q +
                        " parameter(0)\n %k = " + k + " parameter(1)\n ROOT %" + name + " = " + q +
                        " custom-call(%q, %k, %k), custom_call_target=\"tpu_custom_call\"" + more +
                        "\n}\n",
                    rules)
            .at(name)
            .work.flops.value();
    };
    const std::string q = "bf16[1,512,8,64]";
    const std::string k = "bf16[1,512,2,64]";
    const double square = 4.0 * 262144 * 512;
    EXPECT_EQ(flops("splash_mha_fwd.3", q, k, {.causal = false}), square);
    EXPECT_EQ(flops("splash_mha_fwd.3", q, k, {.causal = true}), square / 2);
    EXPECT_EQ(flops("splash_mha_dkv.1", q, k, {.causal = false}), 2.5 * square);
    EXPECT_EQ(flops("flash", "bf16[8,512,64]", "bf16[2,512,64]", {.causal = false}), square);
    EXPECT_EQ(flops("flash", q, "bf16[1,512,2,2,64]", {.causal = false}), square);
    EXPECT_EQ(flops("mha", q, k, {.causal = true}, ", backend_config={mask_type = 0 : i64}"),
              square);
    EXPECT_EQ(flops("mha", q, k, {.causal = false}, ", backend_config={mask_type = 2 : i64}"),
              square / 2);
    EXPECT_EQ(flops("gmm", q, k, {}), 0);
    EXPECT_EQ(flops("gmm", q, k, {.flops = [](const Instruction&) { return 7.0; }}), 7);
}

}  // namespace
}  // namespace podsim::workloads::hlo
