// Several collectives in flight at once, on separate links and on the same ones.
#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/collectives/carriers/collective_support.h"
#include "topology/mesh/fold.h"

namespace podsim::collectives {
namespace {

/// A collective with its start and its priority class.
struct Flight {
    Case c;
    std::uint32_t priority_class = 0;
    sim::Time starts{};
};

/// The end of each flight over all places, and the use of the links.
struct Flown {
    std::vector<sim::Time> ends;
    sim::ExecutionResult result;
};

class EndWatch : public sim::Observer {
public:
    explicit EndWatch(std::vector<sim::Time>& ends) : ends_(ends) {}
    void task_ended(sim::PlaceId, sim::TaskId task, sim::Time, sim::Time now) override {
        ends_[task.index()] = std::max(ends_[task.index()], now);
    }

private:
    std::vector<sim::Time>& ends_;
};

/// Runs all flights on the same places, over links as the first flight has them.
Flown fly(const topology::Lattice& places, const std::vector<Flight>& flights) {
    sim::Workload workload;
    ShiftTable shifts(places);
    sim::TaskGraph& graph = workload.graphs.emplace_back();
    for (const Flight& flight : flights) {
        const Case& c = flight.c;
        workload.operations.push_back(
            {static_cast<std::uint32_t>(workload.schedules.size()), flight.priority_class});
        workload.schedules.push_back(build_schedule(c.call(), c.options, shifts).schedule);
        sim::Task task;
        task.operation = static_cast<std::uint32_t>(graph.tasks.size());
        task.duration = flight.starts;
        graph.tasks.push_back(task);
    }
    const LinkModel& link = flights.front().c.link;
    sim::Machine& machine = workload.machine;
    machine.places = static_cast<std::size_t>(places.size());
    machine.ports = kIciPorts;
    machine.rule = link.rule;
    machine.links.assign(machine.places * machine.ports,
                         {.rate = link.rate, .latency = sim::round_up(link.latency)});
    machine.shifts = shifts.table();
    workload.graph_of_place.assign(machine.places, 0);
    Flown flown;
    flown.ends.resize(flights.size());
    EndWatch ends(flown.ends);
    flown.result = sim::execute(workload, &ends);
    return flown;
}

/// Returns a case over links of 1 GB/s, where 1 kB takes 1 us.
Case make_in_flight(Operation operation, const topology::Lattice& slice, const Group& group,
                    double v, double cap, double latency) {
    Case c;
    c.operation = operation;
    c.slice = slice;
    c.group = group;
    c.v = sim::Bytes(v);
    c.options.message_cap = sim::Bytes(cap);
    c.link = {.rate = sim::BytesPerSecond(1e9), .latency = sim::Seconds(latency)};
    return c;
}

TEST(ConcurrentTest, DisjointAxesDoNotDisturbEachOther) {
    for (const unsigned wrapped : {7U, 0U, 5U}) {
        const topology::Lattice slice = box({4, 6, 3}, wrapped);
        std::vector<Flight> flights;
        std::vector<std::int64_t> lone;
        for (const unsigned axis : {0U, 1U, 2U}) {
            const Operation operation = gathering_operations()[axis];
            flights.push_back({make_in_flight(operation, slice, whole_axes(slice, 1U << axis),
                                              1e5 * (axis + 1), 3e3, 1e-6),
                               axis});
            lone.push_back(fly(slice, {flights.back()}).ends[0].ps);
        }
        const Flown together = fly(slice, flights);
        for (std::size_t i = 0; i < lone.size(); ++i) {
            EXPECT_EQ(together.ends[i].ps, lone[i]);
        }
        EXPECT_EQ(together.result.end.ps, *std::ranges::max_element(lone));
    }
}

/// On a ring of 5 a flight has two steps of a block of 8 messages of 1 us in each direction: 16 us
/// and 3 us of latency. The links never rest (8 >= 1 + 3), so the urgent flight leaves no gap to
/// the other, whose two steps begin after 16 us.
TEST(ConcurrentTest, TheUrgentOneFirstOnTheSameRing) {
    const topology::Lattice slice = box({5, 1, 1}, 1);
    const auto flight = [&](Operation operation, std::uint32_t priority_class, double starts) {
        return Flight{make_in_flight(operation, slice, whole_axes(slice), 40e3, 1e3, 3e-6),
                      priority_class, sim::round_up(sim::Seconds(starts))};
    };
    const Operation gather = Operation::all_gather;
    EXPECT_EQ(fly(slice, {flight(gather, 0, 0)}).ends[0].ps, 19'000'000);
    for (const Operation other : {Operation::all_gather, Operation::reduce_scatter}) {
        // Within a class the earlier operation has priority.
        for (const std::uint32_t priority_class : {0U, 1U}) {
            const Flown both = fly(slice, {flight(other, 0, 0), flight(gather, priority_class, 0)});
            EXPECT_EQ(both.ends[0].ps, 19'000'000);
            EXPECT_EQ(both.ends[1].ps, 35'000'000);
        }
        // A later operation of a more urgent class still goes first.
        const Flown turned = fly(slice, {flight(other, 1, 0), flight(gather, 0, 0)});
        EXPECT_EQ(turned.ends[1].ps, 19'000'000);
        EXPECT_EQ(turned.ends[0].ps, 35'000'000);
        // The urgent flight starts at 2.5 us. It waits until 3 us for the message on the link, and
        // for nothing after that.
        const Flown late = fly(slice, {flight(other, 1, 0), flight(gather, 0, 2.5e-6)});
        EXPECT_EQ(late.ends[1].ps, 3'000'000 + 19'000'000);
        EXPECT_EQ(late.ends[0].ps, 35'000'000);
        for (const std::size_t port : {0U, 1U}) {
            EXPECT_EQ(late.result.links[port].busy.ps, 32'000'000);
        }
    }
}

/// AllReduce on x runs beside AllGather on x and y, which share x only. The less urgent flight ends
/// no earlier than alone, and no later than both one after the other.
TEST(ConcurrentTest, SharedAxesLieBetweenAloneAndOneAfterTheOther) {
    const topology::Lattice slice = box({4, 4, 1}, 3);
    const Flight one{
        make_in_flight(Operation::all_reduce, slice, whole_axes(slice, 1), 1e6, 1e4, 1e-6)};
    const Flight two{
        make_in_flight(Operation::all_gather, slice, whole_axes(slice), 1e6, 1e4, 1e-6), 1};
    const sim::Time alone_one = fly(slice, {one}).ends[0];
    const sim::Time alone_two = fly(slice, {two}).ends[0];
    const Flown both = fly(slice, {one, two});
    EXPECT_GE(both.ends[0].ps, alone_one.ps);
    EXPECT_GT(both.ends[1].ps, alone_two.ps);
    EXPECT_LT(both.result.end.ps, alone_one.ps + alone_two.ps);
    const sim::LinkTotals& x = both.result.links[0];
    const sim::LinkTotals& y = both.result.links[2];
    EXPECT_LE(x.busy.ps, both.result.end.ps);
    EXPECT_GT(x.carried().value(), y.carried().value());
}

/// Strided groups run beside blocks on a ring of 16, without latency. x/4 has four groups of 4 at a
/// stride of 4, with blocks of 8 kB. They lie on the same links: each carries 4 (1 + 1/2) blocks in
/// each direction, 48 us without rest. x%4 has lines of 4 with blocks of 2 kB; the link into the
/// end of a line carries 3 of them, 6 us.
TEST(ConcurrentTest, StridedGroupsBesideBlocks) {
    const topology::Lattice slice = box({16, 1, 1}, 1);
    const Case strided = make_in_flight(Operation::all_gather, slice, {{0, 4, 4}}, 32e3, 1e9, 0);
    const Case blocks = make_in_flight(Operation::all_gather, slice, {{0, 1, 4}}, 8e3, 1e9, 0);
    EXPECT_EQ(fly(slice, {{strided}}).ends[0].ps, 48'000'000);
    EXPECT_EQ(fly(slice, {{blocks}}).ends[0].ps, 6'000'000);
    // Urgent strides hold all links until they end; the blocks follow.
    const Flown strides_first = fly(slice, {{strided}, {blocks, 1}});
    EXPECT_EQ(strides_first.ends[0].ps, 48'000'000);
    EXPECT_EQ(strides_first.ends[1].ps, 54'000'000);
    // Urgent blocks get their links first, one message after the other.
    const Flown blocks_first = fly(slice, {{strided, 1}, {blocks}});
    EXPECT_EQ(blocks_first.ends[1].ps, 6'000'000);
    EXPECT_GE(blocks_first.ends[0].ps, 54'000'000);
    for (const Flown* flown : {&strides_first, &blocks_first}) {
        // Blocks load the links +x into chips 1, 2, 3 and 4 of a block of 4.
        for (std::size_t chip = 0; chip < 16; ++chip) {
            const double of_blocks = chip % 4 == 3 ? 0 : 2e3 * static_cast<double>(chip % 4 + 1);
            EXPECT_EQ(flown->result.links[chip * kIciPorts].carried().value(), 48e3 + of_blocks);
        }
    }
    // Both together fold to one block.
    const topology::Lattice fold = topology::fold(slice, std::array{strided.group, blocks.group});
    EXPECT_EQ(fold.size(), 4);
    EXPECT_EQ(fly(fold, {{strided}, {blocks, 1}}).ends[1].ps, 54'000'000);
    EXPECT_EQ(fly(fold, {{strided, 1}, {blocks}}).ends[0].ps, blocks_first.ends[0].ps);
}

/// Random pairs of collectives run on one slice, with different groups and starts. The fold of both
/// has the times of the whole slice.
TEST(ConcurrentTest, FoldedIsUnfolded) {
    int folded = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        Random random(seed);
        Flight one{random_case(random, 8, 48)};
        Flight two{random_case(random, 8, 48)};
        two.c.slice = one.c.slice;
        two.c.group = random_group(random, two.c.slice);
        for (Flight* flight : {&one, &two}) {
            flight->c.algorithm = Algorithm::automatic;
            flight->priority_class = static_cast<std::uint32_t>(random.below(2));
            flight->starts = {random.below(3) * 1'500'000};
        }
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(one.c) + " beside " +
                     describe(two.c));
        const topology::Lattice& slice = one.c.slice;
        const topology::Lattice fold = topology::fold(slice, std::array{one.c.group, two.c.group});
        folded += fold.size() < slice.size() ? 1 : 0;
        const Flown small = fly(fold, {one, two});
        const Flown whole = fly(slice, {one, two});
        ASSERT_EQ(small.ends[0].ps, whole.ends[0].ps);
        ASSERT_EQ(small.ends[1].ps, whole.ends[1].ps);
        ASSERT_EQ(small.result.events * static_cast<std::uint64_t>(slice.size() / fold.size()),
                  whole.result.events);
    }
    EXPECT_GT(folded, 40);
}

}  // namespace
}  // namespace podsim::collectives
