// The effect of a profile on a machine; ideal and achieved machines are distinct types.
#include "scenarios/src/scenario/hardware.h"

#include <gtest/gtest.h>
#include <type_traits>

#include "scenarios/src/simulate/rates.h"

namespace podsim::scenarios {
namespace {

static_assert(!std::is_convertible_v<IdealHardware, AchievedHardware>);
static_assert(!std::is_constructible_v<IdealHardware, const AchievedHardware&>);
static_assert(!std::is_assignable_v<IdealHardware&, const AchievedHardware&>);
static_assert(!std::is_assignable_v<AchievedHardware&, const IdealHardware&>);
static_assert(!std::is_default_constructible_v<AchievedHardware>);
static_assert(!std::is_default_constructible_v<Hardware>);
static_assert(!std::is_invocable_v<decltype(ideal_rates), const AchievedHardware&>);
static_assert(!std::is_invocable_v<decltype(achieved_rates), const IdealHardware&>);

/// Returns v5p at its catalogue rates, with these factors.
IdealHardware machine_with(const topology::Efficiency& efficiency) {
    IdealHardware hardware;
    hardware.chip = topology::find_chip("v5p");
    hardware.shape = {4, 4, 4};
    hardware.slice = topology::make_slice(hardware.chip, hardware.shape, false);
    hardware.slices = 3;
    hardware.efficiency = efficiency;
    return hardware;
}

// The factors are distinct powers of two, so that products are exact and no factor can stand
// for another.
TEST(AchievedHardware, EachFactorIsAppliedToItsRateAlone) {
    topology::Efficiency efficiency;
    efficiency.hbm = 0.5;
    efficiency.ici = 0.25;
    efficiency.dcn = 0.125;
    efficiency.launch_s = 0x1p-20;
    const IdealHardware ideal = machine_with(efficiency);
    const AchievedHardware achieved(ideal);
    EXPECT_EQ(achieved.chip.hbm_bandwidth.value, ideal.chip.hbm_bandwidth.value * 0.5);
    EXPECT_EQ(achieved.chip.ici_one_way_book.value, ideal.chip.ici_one_way_book.value * 0.25);
    EXPECT_EQ(achieved.chip.ici_one_way_vendor.value, ideal.chip.ici_one_way_vendor.value * 0.25);
    EXPECT_EQ(achieved.chip.dcn_per_host.value, ideal.chip.dcn_per_host.value * 0.125);
    EXPECT_EQ(achieved.chip.collective_launch.value,
              ideal.chip.collective_launch.value + sim::Seconds(0x1p-20));
    EXPECT_EQ(achieved.chip.pcie_one_way.value, ideal.chip.pcie_one_way.value);
    EXPECT_EQ(achieved.chip.bf16_flops.value, ideal.chip.bf16_flops.value);
    EXPECT_EQ(achieved.chip.int8_ops.value, ideal.chip.int8_ops.value);
    EXPECT_EQ(achieved.chip.vpu_flops.value, ideal.chip.vpu_flops.value);
    EXPECT_EQ(achieved.chip.ici_latency.value, ideal.chip.ici_latency.value);
    EXPECT_EQ(achieved.chip.pcie_latency.value, ideal.chip.pcie_latency.value);
    EXPECT_EQ(achieved.chip.dcn_latency.value, ideal.chip.dcn_latency.value);
    EXPECT_EQ(achieved.efficiency, efficiency);
    EXPECT_EQ(achieved.shape, ideal.shape);
    EXPECT_EQ(achieved.chips(), 192);
}

TEST(AchievedHardware, OfTheIdealProfileIsTheMachineItself) {
    const IdealHardware ideal = machine_with({});
    const AchievedHardware achieved(ideal);
    EXPECT_EQ(achieved.chip.hbm_bandwidth.value, ideal.chip.hbm_bandwidth.value);
    EXPECT_EQ(achieved.chip.ici_one_way_book.value, ideal.chip.ici_one_way_book.value);
    EXPECT_EQ(achieved.chip.dcn_per_host.value, ideal.chip.dcn_per_host.value);
    EXPECT_EQ(achieved.chip.collective_launch.value, ideal.chip.collective_launch.value);
}

TEST(MachineRates, AreThoseOfTheMachineTheyAreOf) {
    topology::Efficiency efficiency;
    efficiency.hbm = 0.5;
    efficiency.ici = 0.25;
    efficiency.dcn = 0.125;
    efficiency.mxu = 0.75;
    const IdealHardware ideal = machine_with(efficiency);
    const workloads::MachineRates estimates = ideal_rates(ideal);
    const workloads::MachineRates reached = achieved_rates(AchievedHardware(ideal));
    EXPECT_EQ(estimates.efficiency, topology::Efficiency{});
    EXPECT_EQ(reached.efficiency, efficiency);
    EXPECT_EQ(estimates.hbm, ideal.chip.hbm_bandwidth.value);
    EXPECT_EQ(reached.hbm, estimates.hbm * 0.5);
    EXPECT_EQ(estimates.ici_one_way, ideal.chip.ici_one_way_book.value);
    EXPECT_EQ(reached.ici_one_way, estimates.ici_one_way * 0.25);
    EXPECT_EQ(reached.between_slices.dcn, estimates.between_slices.dcn * 0.125);
    EXPECT_EQ(reached.between_slices.pcie, estimates.between_slices.pcie);
    EXPECT_EQ(estimates.between_slices.hosts, 16);
    EXPECT_EQ(estimates.flops, ideal.chip.bf16_flops.value);
    EXPECT_EQ(estimates.int8, ideal.chip.int8_ops.value);
    EXPECT_EQ(estimates.fp8, ideal.chip.fp8_flops.value);
    EXPECT_EQ(estimates.vpu, ideal.chip.vpu_flops.value);
    EXPECT_EQ(estimates.mxu_dimension, 128);
    EXPECT_EQ(estimates.chips_per_slice, 64);
}

}  // namespace
}  // namespace podsim::scenarios
