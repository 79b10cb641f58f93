// Kernels and messages that share a chip's HBM: steps derived by hand.
#include <algorithm>
#include <gtest/gtest.h>
#include <limits>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/simulate/simulate.h"
#include "sim/memory/shared_server.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

using samples::ceil_ps;

constexpr std::int64_t kHbm = 810'000'000'000;  ///< v5e, bytes a second
constexpr std::int64_t kIci = 45'000'000'000;

/// Pairs of neighbours send each other half of `gathered` bytes, then all chips read `read`, in two
/// segments: the second gather runs beside the first read.
ProgramResult decode_like(HbmRule hbm, double gathered, double read) {
    IdealHardware hardware = hardware_from_options({.chip = "v5e", .slice = "2x2"});
    hardware.message_cap = sim::Bytes(1e9);
    hardware.hbm = hbm;
    Program program;
    program.pieces = 2;
    StageCollective gather;
    gather.operation = collectives::Operation::all_gather;
    gather.members = {{{0, 1, 2}}, {}};
    gather.bytes = sim::Bytes(2 * gathered);
    program.stages.push_back({"gather", gather});
    StageCompute reading;
    reading.work.hbm = sim::Bytes(2 * read);
    program.stages.push_back({"read", reading});
    return simulate_program(hardware, program, Fold::automatic);
}

// On v5e a read of 81 MB takes 100 us at 810 GB/s. The gather of the next segment, 2 x 2.25 MB a
// chip, runs beside it for 50 us. The read sees 49 of them, since it begins a latency after the
// first segment has left the link. Meanwhile the chip sends at 45 GB/s, which is read, and receives
// at 45 GB/s, which is written. Both get what they ask for, as each is below a third of 810. The
// read gets 720 in these 49 us and 810 after: it is late by 90 / 810 of 49 us, 5.44 us.
TEST(SharedHbm, ADecodeLikeStepIsLaterByWhatItsBytesDemand) {
    const ProgramResult alone = decode_like(HbmRule::separate, 4.5e6, 81e6);
    const ProgramResult shared = decode_like(HbmRule::shared, 4.5e6, 81e6);
    const std::int64_t hold = ceil_ps(2.25e6 / 45e9);
    const std::int64_t latency = 1'000'000;
    const std::int64_t read = ceil_ps(81e6 / 810e9);
    EXPECT_EQ(alone.time.ps, hold + latency + 2 * read);
    const sim::Work demand = std::llround(81e6 / (static_cast<double>(read) / 1e12));
    const sim::Work left = demand * read - sim::Work{kHbm - 2 * kIci} * (hold - latency);
    const auto rest = static_cast<std::int64_t>((left + demand - 1) / demand);
    EXPECT_EQ(shared.time.ps, 2 * hold + rest + read);
    EXPECT_EQ(shared.time.ps - alone.time.ps, 5'444'445);
}

// A gather of a twentieth of the read's bytes or more delays the read by a ninth of their overlap.
TEST(SharedHbm, GathersOfAnySizeCostWhatTheyMove) {
    for (const double gathered : {4.05e6, 6e6, 8e6}) {
        const std::int64_t late = decode_like(HbmRule::shared, gathered, 81e6).time.ps -
                                  decode_like(HbmRule::separate, gathered, 81e6).time.ps;
        EXPECT_NEAR(static_cast<double>(late), (gathered / 2 / 45e9 - 1e-6) / 9 * 1e12, 2)
            << gathered;
    }
}

// v5p: all six links in and out, 1.08 of 2.8 TB/s, fit; with sums 0.54 + 4 x 0.54 = 2.7 do, too. On
// v5e sums over four links ask for 0.18 + 0.72 = 0.9 of 0.81 TB/s, copies for 0.36.
TEST(SharedHbm, LoneCollectivesThatFitTakeWhatTheyTakeAlone) {
    const auto time = [](const std::string& chip, const std::string& slice,
                         collectives::Operation operation, HbmRule hbm) {
        CollectiveRequest request;
        request.hardware = hardware_from_options({.chip = chip, .slice = slice});
        request.hardware.hbm = hbm;
        request.operation = operation;
        for (int axis = 0; axis < topology::kAxes; ++axis) {
            if (const int length = request.hardware.slice.length(axis); length > 1) {
                request.members.group.push_back({axis, 1, length});
            }
        }
        request.bytes = sim::Bytes(256e6);
        return simulate_collective(request, Fold::automatic);
    };
    using collectives::Operation;
    for (const Operation operation : {Operation::all_gather, Operation::reduce_scatter,
                                      Operation::all_reduce, Operation::all_to_all}) {
        const auto shared = time("v5p", "4x4x4", operation, HbmRule::shared);
        EXPECT_EQ(shared.simulated, time("v5p", "4x4x4", operation, HbmRule::separate).simulated);
    }
    EXPECT_EQ(time("v5e", "16x16", Operation::all_gather, HbmRule::shared).simulated,
              time("v5e", "16x16", Operation::all_gather, HbmRule::separate).simulated);
    const CollectiveResult slow = time("v5e", "16x16", Operation::reduce_scatter, HbmRule::shared);
    const CollectiveResult fast =
        time("v5e", "16x16", Operation::reduce_scatter, HbmRule::separate);
    EXPECT_GT(slow.simulated, fast.simulated);
    // The delay of the sums is a term of the gap, which adds up.
    std::int64_t terms = 0;
    std::int64_t memory = 0;
    for (const Share& term : slow.gap) {
        terms += term.time.ps;
        memory += term.name == "HBM" ? term.time.ps : 0;
    }
    EXPECT_EQ(terms, slow.simulated.ps - sim::round_down(slow.physical_bound).ps);
    EXPECT_GT(memory, 0);
}

/// Two chips of two slices add up `bytes` in four segments while each reads 100 GB; a host's
/// fraction of the fabric is 6.25 GB/s.
ProgramResult between_slices(HbmRule hbm, double pcie, double bytes) {
    IdealHardware hardware = hardware_from_options({.chip = "v5e", .slice = "1x1"});
    hardware.slices = 2;
    hardware.oversubscription = 4;
    hardware.chip.pcie_one_way.value = sim::BytesPerSecond(pcie);
    hardware.hbm = hbm;
    Program program;
    program.pieces = 4;
    StageCollective reduce;
    reduce.operation = collectives::Operation::all_reduce;
    reduce.members = {{}, {1, 2}};
    reduce.bytes = sim::Bytes(bytes);
    program.stages.push_back({"reduce", reduce});
    StageCompute reading;
    reading.work.hbm = sim::Bytes(200e9);
    program.stages.push_back({"read", reading});
    return simulate_program(hardware, program, Fold::automatic);
}

// Messages cross PCIe at the rate of the fabric before it, however fast PCIe is. A chip therefore
// moves the same bytes in the same time. The reads are late by at most 7 (n - 1) V / n bytes, 7/2
// of 0.5 GB, at 810 GB/s.
TEST(SharedHbm, FastLinksBehindSlowOnesBringNoMoreBytes) {
    constexpr double kBytes = 0.5e9;
    const ProgramResult alone = between_slices(HbmRule::separate, 7e9, kBytes);
    const double slowest = between_slices(HbmRule::shared, 7e9, kBytes).time.seconds();
    for (const double pcie : {15e9, 64e9, 1e13, std::numeric_limits<double>::infinity()}) {
        EXPECT_NEAR(between_slices(HbmRule::separate, pcie, kBytes).time.seconds(),
                    alone.time.seconds(), 1e-3);
        const double shared = between_slices(HbmRule::shared, pcie, kBytes).time.seconds();
        EXPECT_NEAR(shared, slowest, 1e-3) << pcie;
        EXPECT_LE(shared, alone.time.seconds() + 7 * kBytes / 2 / 810e9) << pcie;
    }
}

// With infinite HBM nothing is shared; otherwise the ledger has the cost of sharing.
TEST(SharedHbm, IsATermOfTheGap) {
    Scenario scenario = samples::make_scenario("v5e", {4, 4, 1}, samples::small_model(4),
                                               {{"fsdp", "x"}, {"tensor", "y"}}, 16, 512);
    scenario.hardware.hbm = HbmRule::separate;
    const sim::Time alone = simulate_step(scenario, Fold::automatic).step_time;
    scenario.hardware.hbm = HbmRule::shared;
    const StepResult shared = simulate_step(scenario, Fold::automatic);
    ASSERT_GT(shared.step_time, alone);
    const auto term =
        std::ranges::find(shared.ledger, "HBM shared with collectives", &LedgerRow::name);
    ASSERT_NE(term, shared.ledger.end());
    EXPECT_EQ(term->alone, shared.step_time - alone);
    // No chip is slow: the HBM causes all delays.
    EXPECT_EQ(std::ranges::count(shared.critical_path, "slow chips", &Share::name), 0);
    EXPECT_EQ(std::ranges::count(shared.critical_path, "HBM", &Share::name), 1);
    scenario.hardware.chip.hbm_bandwidth.value = sim::BytesPerSecond::infinity();
    const sim::Time infinite = simulate_step(scenario, Fold::automatic).step_time;
    scenario.hardware.hbm = HbmRule::separate;
    EXPECT_EQ(simulate_step(scenario, Fold::automatic).step_time, infinite);
}

}  // namespace
}  // namespace podsim::scenarios
