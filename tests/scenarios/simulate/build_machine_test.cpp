// The machine of a run: the simulated chips, and the links between them.
#include "scenarios/src/simulate/build_machine.h"

#include <gtest/gtest.h>

#include "collectives/paths/ports.h"
#include "scenarios/src/simulate/layout.h"

namespace podsim::scenarios {
namespace {

IdealHardware machine(const std::string& chip, topology::Point shape, int slices = 1) {
    IdealHardware hardware;
    hardware.chip = topology::find_chip(chip);
    hardware.shape = shape;
    hardware.slice = topology::make_slice(hardware.chip, shape, false);
    hardware.slices = slices;
    return hardware;
}

const collectives::Members kAlongX{{{0, 1, 4}}, {}};

// Rings and axes without traffic fold to one position, lines do not. Slices without traffic between
// them are simulated once.
TEST(Layout, KeepsOnePlaceForChipsThatDoTheSame) {
    const Layout ring = lay_out(machine("v5p", {4, 4, 4}, 3), Fold::automatic, {kAlongX});
    EXPECT_EQ(ring.places.size(), 1);
    EXPECT_EQ(ring.folded.size(), 1);
    EXPECT_EQ(ring.host_box, (topology::Point{1, 1, 1}));
    const Layout line = lay_out(machine("v5e", {4, 4, 1}), Fold::automatic, {kAlongX});
    EXPECT_EQ(line.places.chips.lengths, (topology::Point{4, 1, 1}));
}

TEST(Layout, UnfoldedHasEveryChipAndKnowsItsRepresentatives) {
    const IdealHardware hardware = machine("v5e", {4, 4, 1}, 3);
    const Layout off = lay_out(hardware, Fold::off, {kAlongX});
    EXPECT_EQ(off.places.size(), 48);
    EXPECT_EQ(off.folded.size(), 4);
    for (int chip = 0; chip < 4; ++chip) {
        EXPECT_EQ(off.place_of(chip),
                  static_cast<std::size_t>(off.places.index(off.folded.point(chip), 0)));
    }
}

TEST(Layout, KeepsAxesAndSlicesAlongWhichChipsDiffer) {
    IdealHardware hardware = machine("v5p", {4, 4, 4}, 3);
    Perturbation slow;
    slow.kind = Perturbation::Kind::slow_chips;
    slow.where.chip[1] = 2;
    hardware.perturbations = {slow};
    EXPECT_EQ(lay_out(hardware, Fold::automatic, {kAlongX}).places.size(), 4);
    hardware.perturbations.front().where.slice = 1;
    EXPECT_EQ(lay_out(hardware, Fold::automatic, {kAlongX}).places.size(), 12);
    hardware.perturbations.clear();
    // Members of other slices do other work.
    EXPECT_EQ(lay_out(hardware, Fold::automatic, {kAlongX}, {{}, {1, 3}}).places.size(), 3);
    EXPECT_EQ(lay_out(hardware, Fold::automatic, {kAlongX}, {{{2, 1, 4}}, {}}).places.size(), 4);
}

// Hosts of 2 x 2 chips (v5p) stay whole if traffic between slices uses them, even if slices do
// the same.
TEST(Layout, KeepsWholeHostsForTrafficBetweenSlices) {
    const Layout layout =
        lay_out(machine("v5p", {4, 4, 4}, 3), Fold::automatic, {{{{0, 1, 4}}, {1, 3}}});
    EXPECT_EQ(layout.host_box, (topology::Point{2, 2, 1}));
    EXPECT_EQ(layout.places.size(), 4);
}

TEST(BuildMachine, HasTheRatesAndLatenciesOfTheHardware) {
    IdealHardware ideal = machine("v5p", {4, 4, 4}, 2);
    ideal.oversubscription = 4;
    ideal.latency = LatencyRule::floor;
    ideal.efficiency.ici = 0.5;
    ideal.efficiency.dcn = 0.25;
    ideal.chip.ici_latency.value = sim::Seconds(1e-6);
    ideal.chip.pcie_latency.value = sim::Seconds(2e-6);
    ideal.chip.dcn_latency.value = sim::Seconds(3e-6);
    const AchievedHardware hardware(ideal);
    const Layout layout = lay_out(hardware, Fold::off, {{{{0, 1, 4}}, {1, 2}}});
    collectives::ShiftTable shifts = layout.shifts();
    const sim::Machine inside = build_machine(hardware, shifts, shifts.uses_hosts());
    EXPECT_EQ(inside.places, 128U);
    EXPECT_EQ(inside.ports, collectives::kIciPorts);
    EXPECT_EQ(inside.rule, LatencyRule::floor);
    EXPECT_EQ(inside.links.size(), 128 * collectives::kIciPorts);
    EXPECT_FALSE(inside.isolated_operations);
    EXPECT_TRUE(inside.slowdown.empty());
    for (const sim::LinkSpec& link : inside.links) {
        EXPECT_EQ(link.rate, ideal.chip.ici_one_way_book.value * 0.5);
        EXPECT_EQ(link.latency.ps, 1'000'000);
    }
    std::vector<sim::Hop> hops;
    shifts.add_host_route(collectives::HostDirection::to_host, hops);
    const sim::Machine hosts = build_machine(hardware, shifts, shifts.uses_hosts());
    EXPECT_EQ(hosts.ports, collectives::kAllPorts);
    for (const std::size_t place : {std::size_t{0}, std::size_t{127}}) {
        const auto link = [&](std::size_t port) { return hosts.links[hosts.link(place, port)]; };
        EXPECT_EQ(link(5).rate, ideal.chip.ici_one_way_book.value * 0.5);
        for (const std::size_t port : {collectives::kPcieToHost, collectives::kPcieToChip}) {
            EXPECT_EQ(link(port).rate, ideal.chip.pcie_one_way.value);
            EXPECT_EQ(link(port).latency.ps, 2'000'000);
        }
        // A host's fraction of the fabric; the network's latency is that of the link into it.
        EXPECT_EQ(link(collectives::kDcnOut).rate, ideal.chip.dcn_per_host.value * 0.25 / 4);
        EXPECT_EQ(link(collectives::kDcnIn).rate, ideal.chip.dcn_per_host.value * 0.25 / 4);
        EXPECT_EQ(link(collectives::kDcnOut).latency.ps, 3'000'000);
        EXPECT_EQ(link(collectives::kDcnIn).latency.ps, 0);
    }
}

TEST(BuildMachine, SchedulesAreBuiltForItsLinks) {
    IdealHardware ideal = machine("v5p", {4, 4, 4});
    ideal.ici_rates = topology::IciRates::vendor;
    ideal.efficiency.ici = 0.5;
    ideal.message_cap = sim::Bytes(8192);
    const AchievedHardware hardware(ideal);
    const collectives::LinkModel link = link_model(hardware);
    EXPECT_EQ(link.rate, ideal.chip.ici_one_way_vendor.value * 0.5);
    EXPECT_EQ(link.latency, ideal.chip.ici_latency.value);
    EXPECT_EQ(link.rule, LatencyRule::additive);
    const Layout layout = lay_out(hardware, Fold::automatic, {kAlongX});
    const collectives::ScheduleOptions options = schedule_options(hardware, layout);
    EXPECT_EQ(options.message_cap, sim::Bytes(8192));
    EXPECT_DOUBLE_EQ(options.hop_bytes.value(), link.rate.value() * link.latency.value());
    EXPECT_FALSE(options.payloads);
    EXPECT_EQ(options.dead_links.axes(), 0U);
    const collectives::SliceLinks links = slice_links(hardware);
    EXPECT_EQ(links.hosts, 16);
    EXPECT_EQ(links.pcie, ideal.chip.pcie_one_way.value);
    EXPECT_EQ(links.pcie_latency, ideal.chip.pcie_latency.value);
    EXPECT_EQ(links.dcn_latency, ideal.chip.dcn_latency.value);
}

}  // namespace
}  // namespace podsim::scenarios
