// The links that a run waits for, from totals made by hand.
#include "scenarios/src/simulate/limiting_links.h"

#include <gtest/gtest.h>

#include "collectives/paths/ports.h"
#include "tests/scenarios/simulate/small_machine.h"

namespace podsim::scenarios {
namespace {

using samples::machine_of;

/// A run of 1000 ps at those positions, with all links held for `busy`.
class HandMadeRun {
public:
    HandMadeRun(const Layout& layout, std::size_t ports, std::int64_t busy) : ports_(ports) {
        run_.end = sim::Time{1000};
        run_.links.resize(static_cast<std::size_t>(layout.places.size()) * ports);
        for (sim::LinkTotals& link : run_.links) {
            link.busy = sim::Time{busy};
        }
    }
    void hold(int place, std::size_t port, std::int64_t busy) {
        run_.links[static_cast<std::size_t>(place) * ports_ + port].busy = sim::Time{busy};
    }
    [[nodiscard]] const sim::ExecutionResult& result() const { return run_; }

private:
    std::size_t ports_;
    sim::ExecutionResult run_;
};

// All of x's links are within a hundredth of the busiest; y's are held less. A ring of 4 and 2
// lines of 4: 8 x 2 links.
TEST(LimitingLinks, OfAClassThatIsBusyEverywhereHaveNoPlace) {
    const IdealHardware hardware = machine_of({4, 2, 1}, topology::Wraparound::every_axis);
    const collectives::Members all{{{0, 1, 4}, {1, 1, 2}}, {}};
    const Layout layout = lay_out(hardware, Fold::off, {all}, all);
    HandMadeRun run(layout, collectives::kIciPorts, 891);
    for (int place = 0; place < 8; ++place) {
        run.hold(place, collectives::port_of(1, 1), 880);
        run.hold(place, collectives::port_of(1, -1), 880);
    }
    run.hold(3, collectives::port_of(0, 1), 900);
    const auto limiting = limiting_links(hardware, layout, run.result());
    ASSERT_EQ(limiting.size(), 1U);
    EXPECT_EQ(limiting[0].name, "ici_x");
    EXPECT_EQ(limiting[0].place, "");
    EXPECT_EQ(limiting[0].links, 16);
    EXPECT_EQ(limiting[0].of, 16);
    EXPECT_DOUBLE_EQ(limiting[0].busy_fraction, 0.9);
    EXPECT_EQ(busiest_time(run.result()).ps, 900);
}

// One link of a line of 4 by 2 lines: +x from 1 to 2, at y=1. Lines have 3 links in each direction,
// 12 in total.
TEST(LimitingLinks, NameThePlaceOfOne) {
    const IdealHardware hardware = machine_of({4, 2, 1}, topology::Wraparound::never);
    const Layout layout = lay_out(hardware, Fold::off, {{{{0, 1, 4}, {1, 1, 2}}, {}}});
    HandMadeRun run(layout, collectives::kIciPorts, 0);
    run.hold(layout.places.index({1, 1, 0}, 0), collectives::port_of(0, 1), 500);
    auto limiting = limiting_links(hardware, layout, run.result());
    ASSERT_EQ(limiting.size(), 1U);
    EXPECT_EQ(limiting[0].place, "+x, from x=1 to x=2 at y=1");
    EXPECT_EQ(limiting[0].links, 1);
    EXPECT_EQ(limiting[0].of, 12);
    EXPECT_DOUBLE_EQ(limiting[0].busy_fraction, 0.5);
    // The same link of both lines: no y is named.
    run.hold(layout.places.index({1, 0, 0}, 0), collectives::port_of(0, 1), 496);
    limiting = limiting_links(hardware, layout, run.result());
    EXPECT_EQ(limiting[0].place, "+x, from x=1 to x=2");
    EXPECT_EQ(limiting[0].links, 2);
    // The same in the downward direction.
    HandMadeRun down(layout, collectives::kIciPorts, 0);
    down.hold(layout.places.index({1, 1, 0}, 0), collectives::port_of(0, -1), 500);
    EXPECT_EQ(limiting_links(hardware, layout, down.result())[0].place,
              "-x, from x=1 to x=0 at y=1");
}

// A folded ring stands for all its links: one representative, 4 x 2 chips, one unused axis.
TEST(LimitingLinks, OfAFoldedRunCountForTheWholeSlice) {
    const IdealHardware hardware = machine_of({4, 2, 1}, topology::Wraparound::every_axis, 3);
    const Layout layout = lay_out(hardware, Fold::automatic, {{{{0, 1, 4}}, {}}});
    ASSERT_EQ(layout.places.size(), 1);
    HandMadeRun run(layout, collectives::kIciPorts, 0);
    run.hold(0, collectives::port_of(0, 1), 700);
    auto limiting = limiting_links(hardware, layout, run.result());
    ASSERT_EQ(limiting.size(), 1U);
    EXPECT_EQ(limiting[0].place, "+x");
    EXPECT_EQ(limiting[0].links, 24);
    EXPECT_EQ(limiting[0].of, 48);
    run.hold(0, collectives::port_of(0, -1), 694);
    limiting = limiting_links(hardware, layout, run.result());
    EXPECT_EQ(limiting[0].place, "");
    EXPECT_EQ(limiting[0].links, 48);
}

// PCIe of 16 chips, DCN of 2 hosts; a chip that does not stand for its host has no DCN link.
TEST(LimitingLinks, OfHostsAreSomeOrAll) {
    const IdealHardware hardware = machine_of({4, 2, 1}, topology::Wraparound::never, 2);
    const Layout layout = lay_out(hardware, Fold::off, {{{}, {1, 2}}}, {{}, {1, 2}});
    HandMadeRun run(layout, collectives::kAllPorts, 0);
    run.hold(0, collectives::kPcieToHost, 800);
    run.hold(1, collectives::kPcieToChip, 100);
    run.hold(0, collectives::kDcnOut, 800);
    run.hold(layout.places.index({0, 0, 0}, 1), collectives::kDcnIn, 799);
    const auto limiting = limiting_links(hardware, layout, run.result());
    ASSERT_EQ(limiting.size(), 2U);
    EXPECT_EQ(limiting[0].name, "pcie");
    EXPECT_EQ(limiting[0].place, "some");
    EXPECT_EQ(limiting[0].links, 1);
    EXPECT_EQ(limiting[0].of, 2);
    EXPECT_DOUBLE_EQ(limiting[0].busy_fraction, 0.8);
    EXPECT_EQ(limiting[1].name, "dcn");
    EXPECT_EQ(limiting[1].place, "");
    EXPECT_EQ(limiting[1].links, 2);
    EXPECT_EQ(limiting[1].of, 2);
}

TEST(LimitingLinks, OfARunOfNoTimeAreNone) {
    const IdealHardware hardware = machine_of({4, 2, 1}, topology::Wraparound::never);
    const Layout layout = lay_out(hardware, Fold::off, {{{{0, 1, 4}}, {}}});
    sim::ExecutionResult run;
    run.links.resize(8 * collectives::kIciPorts);
    EXPECT_TRUE(limiting_links(hardware, layout, run).empty());
}

}  // namespace
}  // namespace podsim::scenarios
