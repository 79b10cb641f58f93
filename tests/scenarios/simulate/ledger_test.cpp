// Shapley values against averages over all orders of removal, and the gap of steps against runs of
// every subset of shortfalls, lowered by hand. `PODSIM_STEPS=50` and more draw more steps (`make
// properties`).
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "scenarios/src/advise/diagnosis.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/rates.h"
#include "scenarios/src/simulate/simulate.h"
#include "scenarios/src/simulate/step_result.h"
#include "tests/scenarios/simulate/step_support.h"
#include "workloads/bounds/roofline.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

std::vector<LedgerRow> rows_of(std::vector<std::string> names, std::vector<std::int64_t> ps) {
    std::vector<sim::Time> times;
    for (const std::int64_t one : ps) {
        times.push_back({one});
    }
    return ledger_of(names, times);
}

// 10 ps; 6 without a, 7 without b, 1 without both: a saves 4 first and 6 second, b 3 and 5.
TEST(Ledger, IsTheMeanOfBothOrdersOfTwoCauses) {
    const std::vector<LedgerRow> rows = rows_of({"a", "b"}, {10, 6, 7, 1});
    EXPECT_EQ(rows[0].share.ps, 5);
    EXPECT_EQ(rows[1].share.ps, 4);
    EXPECT_EQ(rows[0].alone.ps, 4);
    EXPECT_EQ(rows[1].alone.ps, 3);
    EXPECT_EQ(rows[0].together, "b");
    EXPECT_FALSE(rows[0].agrees());
}

// Neither alone saves anything, both save 5: the odd picosecond goes to the first.
TEST(Ledger, GivesWhatOnlyBothSaveToBoth) {
    const std::vector<LedgerRow> rows = rows_of({"a", "b"}, {10, 10, 10, 5});
    EXPECT_EQ(rows[0].share.ps, 3);
    EXPECT_EQ(rows[1].share.ps, 2);
    EXPECT_FALSE(rows[0].same_sign());
    EXPECT_EQ(shortfall_text(rows[0]),
              "3.000 ps, but nothing is saved by removing it alone: it counts together with b");
}

TEST(Ledger, HasNoPartnerWhereCausesDoNotMeet) {
    const std::vector<LedgerRow> rows = rows_of({"a", "b"}, {10, 6, 7, 3});
    EXPECT_EQ(rows[0].share.ps, 4);
    EXPECT_EQ(rows[1].share.ps, 3);
    EXPECT_TRUE(rows[0].agrees());
    EXPECT_TRUE(rows[0].together.empty());
    EXPECT_EQ(shortfall_text(rows[0]), "4.000 ps, as much if removed alone");
}

TEST(Ledger, OfNoCausesIsEmpty) {
    EXPECT_TRUE(rows_of({}, {10}).empty());
}

/// Returns n! times the mean over all orders.
std::vector<std::int64_t> sums_over_orders(std::size_t count, const std::vector<sim::Time>& times) {
    std::vector<std::int64_t> sums(count, 0);
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    do {
        std::size_t removed = 0;
        for (const std::size_t cause : order) {
            const std::size_t then = removed | std::size_t{1} << cause;
            sums[cause] += times[removed].ps - times[then].ps;
            removed = then;
        }
    } while (std::ranges::next_permutation(order).found);
    return sums;
}

void expect_means(const std::vector<LedgerRow>& rows, const std::vector<sim::Time>& times) {
    const std::vector<std::int64_t> sums = sums_over_orders(rows.size(), times);
    std::int64_t orders = 1;
    for (std::size_t i = 2; i <= rows.size(); ++i) {
        orders *= static_cast<std::int64_t>(i);
    }
    std::int64_t total = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_LT(std::abs(orders * rows[i].share.ps - sums[i]), orders) << rows[i].name;
        total += rows[i].share.ps;
    }
    EXPECT_EQ(total, times.front().ps - times.back().ps);
}

TEST(Ledger, EqualsTheMeanOverAllOrdersOfUpToSixCauses) {
    std::mt19937_64 random(7);
    for (std::size_t count = 1; count <= kMostCauses; ++count) {
        for (int draw = 0; draw < 20; ++draw) {
            std::vector<sim::Time> times(std::size_t{1} << count);
            for (sim::Time& time : times) {
                time.ps = std::uniform_int_distribution<std::int64_t>(0, 1'000'000'007)(random);
            }
            std::vector<std::string> names;
            for (std::size_t i = 0; i < count; ++i) {
                names.push_back(std::to_string(i));
            }
            expect_means(ledger_of(names, times), times);
        }
    }
}

int steps_to_draw(int seeded) {
    const char* const asked = std::getenv("PODSIM_STEPS");
    return asked != nullptr ? std::atoi(asked) : seeded;
}

/// Returns a step of any kind with every shortfall except that of slices.
Scenario short_of_everything(std::mt19937_64& random) {
    Scenario scenario = samples::random_scenario(random);
    const auto between = [&](double least, double most) {
        return std::uniform_real_distribution<double>(least, most)(random);
    };
    topology::Efficiency& efficiency = scenario.hardware.efficiency;
    efficiency.mxu = between(0.4, 0.95);
    efficiency.attention = between(0.2, 0.9);
    efficiency.hbm = between(0.6, 0.95);
    efficiency.ici = between(0.5, 0.95);
    efficiency.launch_s = between(0, 5e-6);
    efficiency.kernel_s = between(0, 2e-6);
    scenario.hardware.chip.collective_launch.value = sim::Seconds(between(0, 3e-6));
    return scenario;
}

/// A shortfall of the machine, removed from the hardware or from the lowered step.
struct ByHand {
    std::string name;
    std::function<void(IdealHardware&)> of_hardware;
    std::function<void(sim::Workload&)> of_step;
};

std::vector<ByHand> by_hand() {
    return {
        {"kernels below peak",
         [](IdealHardware& h) { h.efficiency.mxu = h.efficiency.attention = h.efficiency.hbm = 1; },
         {}},
        {"links below their rate", [](IdealHardware& h) { h.efficiency.ici = 1; }, {}},
        {"launch",
         [](IdealHardware& h) {
             h.efficiency.launch_s = h.efficiency.kernel_s = 0;
             h.chip.collective_launch.value = sim::Seconds(0);
         },
         {}},
        {"latency",
         {},
         [](sim::Workload& w) {
             for (sim::LinkSpec& link : w.machine.links) {
                 link.latency = {};
             }
         }},
        {"HBM shared with collectives", {}, [](sim::Workload& w) { w.machine.memory_rate = 0; }}};
}

sim::Time end_without(const Scenario& scenario, const workloads::StepPrograms& programs,
                      std::size_t causes) {
    IdealHardware hardware = scenario.hardware;
    const std::vector<ByHand> all = by_hand();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if ((causes >> i & 1U) != 0 && all[i].of_hardware) {
            all[i].of_hardware(hardware);
        }
    }
    sim::Workload workload =
        lower_step(programs, AchievedHardware(hardware), scenario.step().mesh, Fold::automatic)
            .workload;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if ((causes >> i & 1U) != 0 && all[i].of_step) {
            all[i].of_step(workload);
        }
    }
    return sim::execute(workload, nullptr, false).end;
}

TEST(LedgerOfSteps, EachTermEqualsABruteForceOverAllSubsets) {
    std::mt19937_64 random(20261129);
    const std::vector<ByHand> causes = by_hand();
    for (int draw = 0; draw < steps_to_draw(6); ++draw) {
        SCOPED_TRACE(draw);
        const Scenario scenario = short_of_everything(random);
        const StepResult result = simulate_step(scenario, Fold::automatic);
        const workloads::StepPrograms& programs = *result.reported_chip.programs;
        std::vector<sim::Time> times;
        for (std::size_t set = 0; set < std::size_t{1} << causes.size(); ++set) {
            times.push_back(end_without(scenario, programs, set));
        }
        ASSERT_EQ(result.ledger.size(), causes.size());
        for (std::size_t i = 0; i < causes.size(); ++i) {
            EXPECT_EQ(result.ledger[i].name, causes[i].name);
            EXPECT_EQ(result.ledger[i].alone, times[0] - times[std::size_t{1} << i]);
            EXPECT_EQ(result.gap[i].name, causes[i].name);
            EXPECT_EQ(result.gap[i].time, result.ledger[i].share);
        }
        expect_means(result.ledger, times);
    }
}

TEST(LedgerOfSteps, TermsAddUpWithoutAResidual) {
    std::mt19937_64 random(4711);
    for (int draw = 0; draw < steps_to_draw(20); ++draw) {
        SCOPED_TRACE(draw);
        const Scenario scenario = short_of_everything(random);
        const StepResult result = simulate_step(scenario, Fold::automatic);
        std::int64_t total = sim::round_down(result.lower.time).ps;
        for (const Share& term : result.gap) {
            EXPECT_NE(term.name, "other");
            total += term.time.ps;
        }
        EXPECT_EQ(total, result.step_time.ps);
        // The verdict never leads with a cause that saves nothing alone.
        const std::vector<std::string> verdict = diagnosis(result);
        for (const LedgerRow& row : result.ledger) {
            if (row.alone.ps <= 0) {
                EXPECT_EQ(verdict.at(1).find("most of all for " + row.name), std::string::npos);
            }
        }
    }
}

// Seven shortfalls at once are six causes: the host's overhead joins the launch cost.
TEST(LedgerOfSteps, MergesWhatIsBeyondSixCauses) {
    std::mt19937_64 random(3);
    Scenario scenario = short_of_everything(random);
    scenario.hardware.efficiency.host_s = 1e-4;
    scenario.hardware.perturbations.push_back({.where = {}, .factor = 1.1});
    EXPECT_LE(simulate_step(scenario, Fold::automatic).ledger.size(), kMostCauses);
}

}  // namespace
}  // namespace podsim::scenarios
