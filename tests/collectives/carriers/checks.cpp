#include "tests/collectives/carriers/checks.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

#include "collectives/catalogue/bounds.h"

namespace podsim::collectives {
namespace {

/// Returns the index of the place in the fold that stands for a chip.
std::size_t place_of(const topology::Lattice& fold, const topology::Point& chip) {
    topology::Point place;
    for (std::size_t axis = 0; axis < topology::kAxes; ++axis) {
        place[axis] = chip[axis] % fold.lengths[axis];
    }
    return static_cast<std::size_t>(fold.index(place));
}

void expect_not_below_bound(const Case& c, const Outcome& run) {
    const double bound = physical_bound(c.call(), c.link.rate).value() * 1e12;
    ASSERT_GE(run.result.end.ps, static_cast<std::int64_t>(std::floor(bound))) << describe(c);
}

}  // namespace

void expect_links_conserve_bytes(const Outcome& run) {
    const sim::Machine& machine = run.workload.machine;
    const sim::Schedule& schedule = run.built.schedule;
    std::vector<double> bytes(machine.links.size());
    std::vector<int> messages(machine.links.size());
    for (std::size_t place = 0; place < machine.places; ++place) {
        const sim::Role& role = schedule.roles[schedule.role_of_place[place]];
        for (std::uint32_t t = 0; t < role.transfer_count; ++t) {
            const sim::Transfer& transfer = schedule.transfers[role.first_transfer + t];
            for (std::uint32_t h = 0; h < transfer.hop_count; ++h) {
                const sim::Hop& hop = schedule.hops[transfer.first_hop + h];
                const std::uint32_t at = machine.shifted(hop.shift, place);
                ASSERT_NE(at, sim::kNoPlace) << "a hop starts beyond the edge";
                bytes[machine.link(at, hop.port)] += transfer.bytes.value();
                ++messages[machine.link(at, hop.port)];
            }
        }
    }
    for (std::size_t server = 0; server < bytes.size(); ++server) {
        const sim::LinkTotals& link = run.result.links[server];
        // The kernel counts each message in units of 1/1024 byte.
        ASSERT_NEAR(link.carried().value(), bytes[server], messages[server] / 1024.0);
        ASSERT_LE(link.busy, run.result.end) << "a link is busy for longer than the run";
        const double least = bytes[server] / machine.links[server].rate.value() * 1e12;
        ASSERT_GE(static_cast<double>(link.busy.ps), least * (1 - 1e-9))
            << "a link is faster than its rate";
    }
}

void expect_kept(const Case& c, const Outcome& run) {
    SCOPED_TRACE(describe(c));
    expect_links_conserve_bytes(run);
    expect_not_below_bound(c, run);
}

topology::Lattice folded(const Case& c) {
    return folded_places(c.call());
}

void expect_fold_is_equal(const Case& c) {
    const topology::Lattice fold = folded(c);
    const Outcome small = run_on(fold, c);
    const Outcome whole = run_on(c.slice, c);
    ASSERT_EQ(c.slice.size() % fold.size(), 0);
    const auto copies = static_cast<std::uint64_t>(c.slice.size() / fold.size());
    ASSERT_EQ(small.result.end.ps, whole.result.end.ps);
    ASSERT_EQ(small.result.events * copies, whole.result.events);
    for (int chip = 0; chip < c.slice.size(); ++chip) {
        const auto at = static_cast<std::size_t>(chip);
        const std::size_t place = place_of(fold, c.slice.point(chip));
        ASSERT_EQ(small.result.end_of_place[place].ps, whole.result.end_of_place[at].ps);
        for (std::size_t port = 0; port < kIciPorts; ++port) {
            const sim::LinkTotals& one = small.result.links[place * kIciPorts + port];
            const sim::LinkTotals& other = whole.result.links[at * kIciPorts + port];
            ASSERT_EQ(one.busy.ps, other.busy.ps);
            ASSERT_EQ(one.carried().value(), other.carried().value());
        }
    }
}

}  // namespace podsim::collectives
