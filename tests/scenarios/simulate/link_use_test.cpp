// The use of links by class, from the totals of a run made by hand.
#include "scenarios/src/simulate/link_use.h"

#include <gtest/gtest.h>

#include "collectives/paths/ports.h"
#include "tests/scenarios/simulate/small_machine.h"

namespace podsim::scenarios {
namespace {

using samples::machine_of;

/// Members are distinct, so none stands for another.
const collectives::Members kTensorAlongX{{{0, 1, 4}}, {}};

/// Returns a run of 1000 ps in which nothing is sent.
sim::ExecutionResult idle_run(const Layout& layout, std::size_t ports) {
    sim::ExecutionResult run;
    run.end = sim::Time{1000};
    run.links.resize(static_cast<std::size_t>(layout.places.size()) * ports);
    return run;
}

void use(sim::ExecutionResult& run, std::size_t ports, int place, std::size_t port,
         std::int64_t busy, std::int64_t bytes) {
    sim::LinkTotals& link = run.links[static_cast<std::size_t>(place) * ports + port];
    link.busy = sim::Time{busy};
    link.carried_units = 1024 * bytes;
}

// A line of 4 chips has 6 links, 3 in each direction; a ring of 4 has 8.
TEST(LinkUse, CountsTheLinksThatLinesHave) {
    for (const bool ring : {false, true}) {
        const IdealHardware hardware = machine_of(
            {4, 1, 1}, ring ? topology::Wraparound::every_axis : topology::Wraparound::never);
        const Layout layout = lay_out(hardware, Fold::off, {{{{0, 1, 4}}, {}}}, kTensorAlongX);
        sim::ExecutionResult run = idle_run(layout, collectives::kIciPorts);
        use(run, collectives::kIciPorts, 0, collectives::port_of(0, 1), 600, 1200);
        use(run, collectives::kIciPorts, 2, collectives::port_of(0, -1), 120, 2400);
        const std::vector<LinkUse> uses = link_use(hardware, layout, run);
        ASSERT_EQ(uses.size(), 1U);  // y and z have no links
        const double links = ring ? 8 : 6;
        EXPECT_EQ(uses[0].name, "ici_x");
        EXPECT_DOUBLE_EQ(uses[0].busy_fraction, 0.72 / links);
        EXPECT_DOUBLE_EQ(uses[0].bytes.value(), 3600 / links);
        EXPECT_DOUBLE_EQ(uses[0].busiest_fraction, 0.6);
        EXPECT_DOUBLE_EQ(uses[0].busiest_bytes.value(), 2400);
    }
}

// A run that takes no time holds nothing.
TEST(LinkUse, OfARunWithoutLengthIsNothing) {
    const IdealHardware hardware = machine_of({4, 1, 1}, topology::Wraparound::never);
    const Layout layout = lay_out(hardware, Fold::off, {{{{0, 1, 4}}, {}}}, kTensorAlongX);
    sim::ExecutionResult run = idle_run(layout, collectives::kIciPorts);
    run.end = sim::Time{};
    const std::vector<LinkUse> uses = link_use(hardware, layout, run);
    ASSERT_EQ(uses.size(), 1U);
    EXPECT_EQ(uses[0].busy_fraction, 0);
    EXPECT_EQ(uses[0].busiest_fraction, 0);
}

// Axes are classes of their own; an unwrapped axis beside a wrapped one.
TEST(LinkUse, KeepsAxesApart) {
    const IdealHardware hardware = machine_of({2, 4, 1}, topology::Wraparound::never);
    const Layout layout = lay_out(hardware, Fold::off, {{{{0, 1, 2}, {1, 1, 4}}, {}}});
    sim::ExecutionResult run = idle_run(layout, collectives::kIciPorts);
    use(run, collectives::kIciPorts, 1, collectives::port_of(1, 1), 1000, 5000);
    const std::vector<LinkUse> uses = link_use(hardware, layout, run);
    ASSERT_EQ(uses.size(), 2U);
    EXPECT_EQ(uses[0].name, "ici_x");
    EXPECT_EQ(uses[0].busy_fraction, 0);
    EXPECT_EQ(uses[0].busiest_fraction, 0);
    EXPECT_EQ(uses[1].name, "ici_y");
    EXPECT_DOUBLE_EQ(uses[1].busy_fraction, 1.0 / 12);  // 2 lines of 6 links
    EXPECT_DOUBLE_EQ(uses[1].bytes.value(), 5000.0 / 12);
}

// A host of 4 x 2 chips in each of two slices: PCIe in each direction per chip, DCN in each
// direction per host.
TEST(LinkUse, CountsHostsAndTheirChips) {
    const IdealHardware hardware = machine_of({4, 2, 1}, topology::Wraparound::never, 2);
    ASSERT_EQ(hardware.chip.host_shape.value, (topology::Point{4, 2, 1}));
    const Layout layout = lay_out(hardware, Fold::off, {{{}, {1, 2}}}, {{}, {1, 2}});
    const std::size_t ports = collectives::kAllPorts;
    sim::ExecutionResult run = idle_run(layout, ports);
    use(run, ports, 3, collectives::kPcieToHost, 320, 640);
    use(run, ports, 0, collectives::kDcnOut, 400, 800);
    use(run, ports, 0, collectives::kDcnIn, 200, 100);
    // No host begins at this chip, so its ports have no link.
    use(run, ports, 1, collectives::kDcnIn, 900, 900);
    const std::vector<LinkUse> uses = link_use(hardware, layout, run);
    ASSERT_EQ(uses.size(), 4U);
    EXPECT_EQ(uses[2].name, "pcie");
    EXPECT_DOUBLE_EQ(uses[2].busy_fraction, 0.32 / 32);  // 16 chips
    EXPECT_DOUBLE_EQ(uses[2].busiest_fraction, 0.32);
    EXPECT_EQ(uses[3].name, "dcn");
    EXPECT_DOUBLE_EQ(uses[3].busy_fraction, 0.6 / 4);  // 2 hosts
    EXPECT_DOUBLE_EQ(uses[3].bytes.value(), 900.0 / 4);
    EXPECT_DOUBLE_EQ(uses[3].busiest_fraction, 0.4);
    EXPECT_DOUBLE_EQ(uses[3].busiest_bytes.value(), 800);
}

TEST(LinkUse, OfARunOfNoTimeIsNone) {
    const IdealHardware hardware = machine_of({4, 1, 1}, topology::Wraparound::never);
    const Layout layout = lay_out(hardware, Fold::off, {{{{0, 1, 4}}, {}}});
    sim::ExecutionResult run = idle_run(layout, collectives::kIciPorts);
    run.end = {};
    EXPECT_EQ(link_use(hardware, layout, run)[0].busy_fraction, 0);
}

}  // namespace
}  // namespace podsim::scenarios
