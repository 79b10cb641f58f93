// Non-uniform machines: exact times, folding, and refusals.
#include <cmath>
#include <gtest/gtest.h>
#include <set>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/rates.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/simulate/step_support.h"
#include "workloads/bounds/compute_time.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

using samples::make_scenario;
using samples::small_model;
using samples::sum;
using Fault = Perturbation::Kind;
using BadPerturbation = CommandTest;
using IdlePerturbation = CommandTest;

Scenario two_axes() {
    Scenario scenario = make_scenario("v5p", {4, 4, 4}, small_model(3),
                                      {{"fsdp", "x y"}, {"tensor", "z"}}, 32, 1024);
    return scenario;
}

Perturbation at(Fault kind, std::optional<int> x, std::optional<int> y, std::optional<int> z) {
    Perturbation one;
    one.kind = kind;
    one.where.chip = {x, y, z};
    return one;
}

Perturbation slow_chips(double factor, std::optional<int> x) {
    Perturbation one = at(Fault::slow_chips, x, std::nullopt, std::nullopt);
    one.factor = factor;
    return one;
}

// With free links the step is its compute operations one after the other, each rounded up once and,
// slowed, once more.
TEST(Perturb, SlowChipsSlowEveryOperationExactly) {
    Scenario scenario = two_axes();
    scenario.hardware.chip.ici_one_way_book.value = sim::BytesPerSecond::infinity();
    scenario.hardware.chip.ici_latency.value = {};
    scenario.hardware.perturbations = {slow_chips(1.375, std::nullopt)};
    const workloads::StepProgram program =
        workloads::build_step(scenario.step().model, scenario.step().plan);
    std::int64_t expected = 0;
    for (const workloads::Op& op : program.ops) {
        if (const auto* work = std::get_if<workloads::Compute>(&op.work)) {
            const auto ps = sim::round_up(
                workloads::compute_time(*work, ideal_rates(scenario.hardware)).total());
            expected += static_cast<std::int64_t>(std::ceil(static_cast<double>(ps.ps) * 1.375));
        }
    }
    const StepResult result = simulate_step(scenario, Fold::automatic);
    EXPECT_EQ(result.step_time.ps, expected);
    EXPECT_EQ(result.simulated_chips, 1);
}

// One slow chip of a group delays all: with free links, blocking tensor collectives along z and
// gathers along x and y make the step that of the slow chips, wherever they are.
TEST(Perturb, TheSlowestChipHoldsUpTheStep) {
    Scenario everywhere = two_axes();
    everywhere.hardware.chip.ici_one_way_book.value = sim::BytesPerSecond::infinity();
    everywhere.hardware.chip.ici_latency.value = {};
    Scenario one_plane = everywhere;
    everywhere.hardware.perturbations = {slow_chips(2, std::nullopt)};
    one_plane.hardware.perturbations = {slow_chips(2, 3)};
    const StepResult all = simulate_step(everywhere, Fold::automatic);
    const StepResult plane = simulate_step(one_plane, Fold::automatic);
    EXPECT_EQ(plane.step_time.ps, all.step_time.ps);
    EXPECT_EQ(plane.simulated_chips, 4);  // x is kept, y and z are folded
}

// Named positions are kept, everything else folds; folded and unfolded runs are equal to
// the picosecond.
TEST(Perturb, FoldsOnlyAlongAxesOnWhichItIsConstant) {
    struct Row {
        Perturbation one;
        int simulated;
    };
    Perturbation slow_link = at(Fault::slow_link, 1, std::nullopt, 2);
    slow_link.axis = 0;
    slow_link.share = 0.25;
    Perturbation one_way = slow_link;
    one_way.direction = -1;
    Perturbation random = at(Fault::random_chips, std::nullopt, std::nullopt, std::nullopt);
    random.spread = 0.05;
    random.seed = 7;
    Perturbation one_chip = at(Fault::slow_chips, 0, 1, 2);
    one_chip.factor = 1.5;
    // The link between x = 1 and 2 at z = 2, slow in both directions, is its own mirror image
    // along x.
    for (const Row& row : {Row{slow_chips(1.25, 2), 4}, Row{slow_link, 8}, Row{one_way, 16},
                           Row{random, 64}, Row{one_chip, 64}}) {
        Scenario scenario = two_axes();
        const StepResult sound = simulate_step(scenario, Fold::automatic);
        scenario.hardware.perturbations = {row.one};
        const StepResult folded = simulate_step(scenario, Fold::automatic);
        const StepResult whole = simulate_step(scenario, Fold::off);
        EXPECT_EQ(folded.simulated_chips, row.simulated);
        EXPECT_EQ(whole.simulated_chips, 64);
        EXPECT_EQ(folded.step_time, whole.step_time);
        EXPECT_EQ(folded.events * 64, whole.events * static_cast<unsigned>(row.simulated));
        EXPECT_GT(folded.step_time, sound.step_time);

        // Without perturbations the step is the sound one, and the terms add up.
        ASSERT_FALSE(folded.ledger.empty());
        EXPECT_EQ(folded.ledger.front().name, "perturbations");
        EXPECT_EQ(folded.ledger.front().alone, folded.step_time - sound.step_time);
        const std::int64_t bound = sum(folded.gap).ps;
        EXPECT_EQ(folded.step_time.ps - bound, sim::round_down(folded.lower.time).ps);
    }
}

// One-way ring of 4 without latency, one message a block of b = V / 4, and one link at half its
// rate. The chip behind it must receive all three blocks of the others over it, one after the
// other, 2 b / r each. The first is its neighbour's own; the next two are already waiting there.
TEST(Perturb, ARingWaitsForItsSlowLink) {
    CollectiveRequest request;
    request.hardware = hardware_from_options({.chip = "v5p", .slice = "4x4x4"});
    request.hardware.chip.ici_latency.value = {};
    request.operation = collectives::Operation::all_gather;
    request.algorithm = collectives::Algorithm::one_way;
    request.members = parse_members("y", request.hardware.slice);
    request.bytes = sim::Bytes(3.6e6);
    Perturbation slow = at(Fault::slow_link, std::nullopt, 2, std::nullopt);
    slow.axis = 1;
    slow.share = 0.5;
    request.hardware.perturbations = {slow};
    const CollectiveResult result = simulate_collective(request, Fold::automatic);
    EXPECT_EQ(result.simulated.ps, 3 * 20'000'000);
    EXPECT_EQ(result.simulated_chips, 4);
    ASSERT_EQ(result.limiting.size(), 1U);
    EXPECT_EQ(result.limiting[0].name, "ici_y");
    EXPECT_EQ(result.limiting[0].place, "+y, from y=2 to y=3");
    // The link back is equally slow, but a one-way ring does not use it.
    request.hardware.perturbations[0].direction = -1;
    EXPECT_EQ(simulate_collective(request, Fold::automatic).simulated.ps, 3 * 10'000'000);
}

// Two slices exchange halves of each chip's array over hosts whose DCN is the bottleneck (four
// chips of 15 GB/s share 25 GB/s). A host at half its rate doubles that time; only its slice and
// axes are kept.
TEST(Perturb, ASlowHostSlowsTheExchangeBetweenSlices) {
    CollectiveRequest request;
    request.hardware = hardware_from_options({.chip = "v5p", .slice = "4x4x4"});
    request.hardware.slices = 2;
    request.hardware.message_cap = sim::Bytes(64e3);  // fill and drain are short
    request.operation = collectives::Operation::all_gather;
    request.members.across = {1, 2};
    request.bytes = sim::Bytes(40e6);
    const CollectiveResult sound = simulate_collective(request, Fold::automatic);
    const double dcn = 4 * 20e6 / 25e9;
    EXPECT_NEAR(sound.simulated.seconds(), dcn, 0.02 * dcn);
    EXPECT_EQ(sound.simulated_chips, 4);
    Perturbation slow = at(Fault::slow_host, 0, 2, std::nullopt);
    slow.where.slice = 1;
    slow.share = 0.5;
    request.hardware.perturbations = {slow};
    const CollectiveResult one = simulate_collective(request, Fold::automatic);
    EXPECT_NEAR(one.simulated.seconds(), 2 * dcn, 0.04 * dcn);
    EXPECT_EQ(one.simulated_chips, 2 * 4 * 4);
    EXPECT_EQ(one.simulated, simulate_collective(request, Fold::off).simulated);
    // DCN alone gives the same: PCIe at half its rate carries 7.5 GB/s a chip, still more than its
    // fraction of DCN.
    request.hardware.perturbations[0].kind = Fault::slow_dcn;
    EXPECT_NEAR(simulate_collective(request, Fold::automatic).simulated.seconds(), 2 * dcn,
                0.04 * dcn);
}

// |g| of a normal distribution has the mean sqrt(2 / pi) = 0.798 and the mean square 1. The sum of
// twelve uniform numbers has the same variance and slightly thinner tails: mean |g| 0.802.
TEST(Perturb, RandomFactorsAreThoseOfTheSeed) {
    Perturbation one = at(Fault::random_chips, std::nullopt, std::nullopt, std::nullopt);
    one.spread = 0.01;
    one.seed = 3;
    double total = 0;
    double squares = 0;
    std::set<double> values;
    for (int x = 0; x < 40; ++x) {
        for (int y = 0; y < 40; ++y) {
            for (int z = 0; z < 40; ++z) {
                const double factor = random_factor(one, {x, y, z}, 0);
                EXPECT_GE(factor, 1);
                EXPECT_LE(factor, 1.06);
                total += (factor - 1) / 0.01;
                squares += (factor - 1) / 0.01 * (factor - 1) / 0.01;
                values.insert(factor);
            }
        }
    }
    EXPECT_NEAR(total / 64000, 0.802, 0.008);
    EXPECT_NEAR(squares / 64000, 1.0, 0.02);
    EXPECT_EQ(values.size(), 64000U);
    EXPECT_EQ(random_factor(one, {1, 2, 3}, 0), random_factor(one, {1, 2, 3}, 0));
    EXPECT_NE(random_factor(one, {1, 2, 3}, 0), random_factor(one, {1, 2, 3}, 1));
    Perturbation other = one;
    other.seed = 4;
    EXPECT_NE(random_factor(one, {1, 2, 3}, 0), random_factor(other, {1, 2, 3}, 0));
}

// Three equal axes are exchanged and mirrored unless an entry distinguishes them; one that changes
// nothing does not.
TEST_F(IdlePerturbation, IsAsIfItWereNotWritten) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 4x4x4, slices: 2}\nmodel: llama-3-8b\n"
        "batch: {tokens: 512Ki, sequence: 4096}\nmesh: {fsdp: x y z, data: slice}\n");
    const auto run = [&](const std::string& entries) {
        return simulate_step(
            load_scenario(file, std::vector<std::string>{"perturb=[" + entries + "]"}),
            Fold::automatic);
    };
    const StepResult without = run("");
    for (const std::string entry :
         {"{kind: slow_chips, x: 1, factor: 1}", "{kind: slow_chips, y: 0, slice: 1, factor: 1.0x}",
          "{kind: random_chips, spread: 0 %, seed: 3}",
          "{kind: slow_link, x: 1, y: 2, z: 3, link: +x, rate: 100 %}",
          "{kind: slow_host, x: 0, slice: 0, rate: 100 %}", "{kind: slow_dcn, z: 1, rate: 100 %}",
          "{kind: slow_dcn, rate: 100 %}, {kind: slow_chips, z: 1, factor: 1}"}) {
        const StepResult with = run(entry);
        EXPECT_EQ(with.step_time, without.step_time) << entry;
        EXPECT_EQ(with.simulated_chips, without.simulated_chips) << entry;
        EXPECT_EQ(with.events, without.events) << entry;
        EXPECT_EQ(with.gap.size(), without.gap.size()) << entry;
    }
    EXPECT_GT(run("{kind: slow_chips, x: 1, factor: 1.001}").simulated_chips,
              without.simulated_chips);
    EXPECT_GT(run("{kind: dead_link, x: 1, link: x}").simulated_chips, without.simulated_chips);
}

TEST_F(BadPerturbation, MayNotBeWhereThereIsNoChipOrLinkThoughItChangesNothing) {
    const std::string good = kGood;
    expect_refused(good + "perturb: [{kind: slow_chips, x: 7, factor: 1}]\n",
                   "s.yaml:5:33: perturb.x: '7' is out of range; allowed: 0 to 3");
    expect_refused(
        good_but("4x4x4", "4x4x1") + "perturb: [{kind: slow_link, link: z, rate: 100 %}]\n",
        "s.yaml:5:35: perturb.link: axis z of this slice has no links; name an axis "
        "longer than 1");
}

TEST_F(BadPerturbation, SaysWhatIsWrong) {
    const auto with = [](const std::string& item) {
        return std::string(kGood) + "perturb: [" + item + "]\n";
    };
    expect_refused(with("{kind: slow_lnk}"),
                   "s.yaml:5:18: unknown perturb.kind 'slow_lnk'; did you mean 'slow_link'? "
                   "allowed: slow_chips, random_chips, slow_link, dead_link, slow_host, slow_dcn");
    expect_refused(with("5"),
                   "s.yaml:5:11: an entry of 'perturb' is text; write perturb: [{kind: slow_chips, "
                   "x: 3, factor: 1.1}]");
    expect_refused(with("{kind: slow_chips, x: 9, factor: 2}"),
                   "s.yaml:5:33: perturb.x: '9' is out of range; allowed: 0 to 3");
    expect_refused(with("{kind: slow_chips}"),
                   "s.yaml:5:11: missing key 'perturb.factor'; write factor: 1.1 (slow_chips: "
                   "compute takes so many times as long)");
    expect_refused(with("{kind: slow_chips, factor: 0.9}"),
                   "s.yaml:5:38: perturb.factor: '0.9' is below 1; write a ratio of 1 or more such "
                   "as 2 or 1.5x; units: x");
    expect_refused(with("{kind: slow_link, link: x, rate: 0 %}"),
                   "s.yaml:5:44: perturb.rate: '0 %' is not above 0 % and at most 100 %; write the "
                   "share of the rate that is left, such as 50 %");
    expect_refused(with("{kind: slow_link, link: w, rate: 50 %}"),
                   "s.yaml:5:35: perturb.link: 'w' is not a link; write an axis (x: both ways), or "
                   "+x or -x");
    expect_refused(with("{kind: slow_link, link: x, rate: 50 %, factor: 2}"),
                   "s.yaml:5:58: perturb.factor: slow_link has no such key; it has link, rate; and "
                   "x, y, z, slice");
    expect_refused(with("{kind: dead_link, link: +x}"),
                   "s.yaml:5:35: perturb.link: a dead link is dead both ways; write the axis "
                   "alone, such as x");
    expect_refused(
        with("{kind: slow_chips, xx: 1, factor: 2}"),
        "s.yaml:5:30: unknown perturb key 'xx'; did you mean 'x'? allowed: kind, x, y, z, "
        "slice, factor, spread, seed, link, rate");
}

}  // namespace
}  // namespace podsim::scenarios
