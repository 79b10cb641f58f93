// Cost estimates of kernels in every form in which JAX and XLA print them, and the resulting costs.
#include "workloads/hlo/cost_estimate.h"

#include <gtest/gtest.h>
#include <string>

#include "workloads/hlo/items.h"
#include "workloads/hlo/read_module.h"

namespace podsim::workloads::hlo {
namespace {

Module kernel_call(const std::string& config, const std::string& name = "gmm",
                   const std::string& layout = "") {
    return read_module(
        "e {\n a = bf16[8,64]" + layout + " parameter(0)\n ROOT " + name +
            " = bf16[8,64] custom-call(a, a), custom_call_target=\"tpu_custom_call\"" +
            (config.empty() ? "" : ", backend_config=" + config) + "\n}\n",
        "m.txt");
}

std::optional<CostEstimate> estimate_in(const std::string& config) {
    return cost_estimate_of(kernel_call(config).computations[0].root_instruction());
}

// The forms are those that JAX writes, that XLA prints again (numbers as text), quoted with
// escapes, and of kernels for GPUs.
TEST(HloCostEstimate, EveryFormItIsPrintedIn) {
    for (
        const char* const config :
        {R"({"custom_call_config": {"body": "QUJD", "cost_estimate": {"flops": 5000, "transcendentals": 7, "bytes_accessed": 15000000, "remote_bytes_transferred": 64}, "serialization_format": 1}})",
         R"({"custom_call_config":{"body":"","has_communication":true,"collective_id":"1","cost_estimate":{"flops":"5000","transcendentals":"7","bytes_accessed":"15000000","remote_bytes_transferred":"64"},"needs_layout_passes":true}})",
         R"("{\"custom_call_config\": {\"body\": \"QUJD\", \"cost_estimate\": {\"flops\": 5000, \"transcendentals\": 7, \"bytes_accessed\": 15000000, \"remote_bytes_transferred\": 64}}}")",
         R"("{cost_estimate_json = \"{\\22flops\\22: 5000, \\22transcendentals\\22: 7, \\22bytes_accessed\\22: 15000000, \\22remote_bytes_transferred\\22: 64}\"}")"}) {
        const auto found = estimate_in(config);
        ASSERT_TRUE(found.has_value()) << config;
        EXPECT_EQ(found->flops, 5000) << config;
        EXPECT_EQ(found->transcendentals, 7) << config;
        EXPECT_EQ(found->bytes, 15e6) << config;
        EXPECT_EQ(found->remote_bytes, 64) << config;
    }
    const auto flops = estimate_in(R"("{cost_estimate_json = \"{\\\"flops\\\": 123456}\"}")");
    ASSERT_TRUE(flops.has_value());
    EXPECT_EQ(flops->flops, 123456);
    EXPECT_FALSE(flops->bytes.has_value());
}

TEST(HloCostEstimate, WhatSaysNothing) {
    EXPECT_FALSE(estimate_in("").has_value());
    EXPECT_FALSE(estimate_in(R"({"custom_call_config": {"body": "QUJD"}})").has_value());
    EXPECT_FALSE(estimate_in(R"({"cost_estimate": {}})").has_value());
    EXPECT_FALSE(
        estimate_in(R"({"cost_estimate": {"flops": -1, "bytes_accessed": 0}})").has_value());
    EXPECT_FALSE(estimate_in(R"({"cost_estimate": {"flops": "many"}})").has_value());
    EXPECT_FALSE(estimate_in("\"cost_estimate\"").has_value());
    EXPECT_FALSE(estimate_in(R"({"cost_estimate": {"flops": 1e999}})").has_value());
}

const std::string kEstimateConfig =
    R"({"cost_estimate":{"flops":"5000","transcendentals":"7","bytes_accessed":"15000000"}})";

Compute estimated_work(const Module& module, const CostRules& rules = {}) {
    return ModuleItems(module, rules).of(module.computations[0]).at(0).work;
}

// The estimate gives FLOPs on the MXU, four elementwise operations for each transcendental, and
// bytes of HBM; nothing fuses into the call.
TEST(HloCostEstimate, IsWhatTheCallCosts) {
    const Module module = kernel_call(kEstimateConfig);
    const Compute work = estimated_work(module);
    EXPECT_EQ(work.flops.value(), 5000);
    EXPECT_EQ(work.vector.value(), 4 * 7);
    EXPECT_EQ(work.hbm.value(), 15e6);
    EXPECT_TRUE(work.kernel);
    EXPECT_FALSE(
        is_unknown_call(module.computations[0], module.computations[0].root_instruction(), {}));
    EXPECT_TRUE(
        is_estimated(module.computations[0], module.computations[0].root_instruction(), {}));
}

// Operands of 1024 bytes in VMEM, read twice by name, move nothing.
TEST(HloCostEstimate, WhatLiesInVmemMovesNothing) {
    EXPECT_EQ(estimated_work(kernel_call(kEstimateConfig, "gmm", "{1,0:S(1)}")).hbm.value(),
              15e6 - 2 * 1024);
}

// The user's FLOPs have priority over the estimate, whose bytes still count. Shapes give better
// figures for attention that is recognised by name: the estimates of JAX's flash kernels count the
// square that a causal mask skips.
TEST(HloCostEstimate, WhatGoesBeforeIt) {
    const CostRules given{.flops = [](const Instruction&) { return 11.0; }};
    EXPECT_EQ(estimated_work(kernel_call(kEstimateConfig), given).flops.value(), 11);
    EXPECT_EQ(estimated_work(kernel_call(kEstimateConfig), given).hbm.value(), 15e6);
    const Module attention = read_module(
        "e {\n q = bf16[1,512,8,64] parameter(0)\n ROOT flash = bf16[1,512,8,64] custom-call(q, "
        "q), "
        "custom_call_target=\"tpu_custom_call\", backend_config=" +
            kEstimateConfig + "\n}\n",
        "m.txt");
    EXPECT_EQ(estimated_work(attention, {.causal = false}).flops.value(), 4.0 * 262144 * 512);
    EXPECT_EQ(estimated_work(attention).hbm.value(), 2 * 2 * 262144);
}

}  // namespace
}  // namespace podsim::workloads::hlo
