// On rings and lines with dead links every member still receives its data, nothing crosses a dead
// link, and a ring with one dead link takes exactly as long as a line.
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "tests/collectives/carriers/collective_support.h"
#include "tests/collectives/carriers/data_carrier.h"

namespace podsim::collectives {
namespace {

Case make_on_whole_slice(Operation operation, const topology::Lattice& slice, Algorithm algorithm) {
    Case c;
    c.operation = operation;
    c.slice = slice;
    c.group = whole_axes(slice);
    c.algorithm = algorithm;
    c.v = sim::Bytes(1.92e6);
    c.options.message_cap = sim::Bytes(50e3);
    c.link = {.rate = sim::BytesPerSecond(90e9), .latency = sim::Seconds(1e-6)};
    return c;
}

void kill(Case& c, const topology::Point& chip, int axis) {
    if (c.options.dead_links.axes() == 0) {
        c.options.dead_links = topology::DeadLinks(c.slice);
    }
    c.options.dead_links.add(c.slice.index(chip), axis);
}

/// Runs the case with carried data and checks that its dead links carry nothing.
sim::Time run_checked(const Case& c) {
    std::unique_ptr<DataCarrier> carrier;
    const Outcome run =
        run_on(c.slice, c, [&](const CollectiveSchedule& built, sim::Workload&) -> sim::Observer* {
            carrier = std::make_unique<DataCarrier>(c, built);
            return carrier.get();
        });
    carrier->check_result();
    EXPECT_EQ(carrier->error(), "") << describe(c);
    for (int place = 0; place < c.slice.size(); ++place) {
        for (int axis = 0; axis < topology::kAxes; ++axis) {
            for (const int direction : {1, -1}) {
                if (c.options.dead_links.blocked(place, axis, direction)) {
                    EXPECT_EQ(run.result
                                  .links[static_cast<std::size_t>(place) * kIciPorts +
                                         port_of(axis, direction)]
                                  .carried_units,
                              0);
                }
            }
        }
    }
    return run.result.end;
}

TEST(DeadLinksTest, ARingWithADeadLinkIsALine) {
    for (const Operation operation : gathering_operations()) {
        for (int length = 3; length <= 6; ++length) {
            const sim::Time line = run_checked([&] {
                Case c = make_on_whole_slice(operation, box({length, 1, 1}, 0), Algorithm::two_way);
                c.options.dead_links = topology::DeadLinks(c.slice);
                return c;
            }());
            for (int at = 0; at < length; ++at) {
                Case c = make_on_whole_slice(operation, box({length, 1, 1}, 1), Algorithm::two_way);
                kill(c, {at, 0, 0}, 0);
                EXPECT_EQ(run_checked(c), line) << describe(c) << " dead at " << at;
            }
        }
    }
}

TEST(DeadLinksTest, EveryMemberGetsItsDataAroundRandomDeadLinks) {
    Random random(17);
    int run = 0;
    for (int trial = 0; trial < 150; ++trial) {
        const topology::Lattice slice =
            box({random.between(1, 4), random.between(2, 4), random.between(1, 3)},
                static_cast<unsigned>(random.below(8)));
        if (whole_axes(slice).empty()) {
            continue;
        }
        Case c = make_on_whole_slice(random.pick(gathering_operations()), slice,
                                     random.coin() ? Algorithm::weighted : Algorithm::two_way);
        if (random.coin()) {
            c.group = random_group(random, slice);
        }
        const int links = random.between(1, 3);
        for (int i = 0; i < links; ++i) {
            const int axis = random.below(3);
            if (slice.length(axis) > 1) {
                kill(c, slice.point(random.below(slice.size())), axis);
            }
        }
        if (c.group.empty() || c.options.dead_links.axes() == 0) {
            continue;
        }
        try {
            run_checked(c);
            ++run;
        } catch (const sim::InputError& error) {
            EXPECT_NE(error.problem().find("cannot run"), std::string::npos) << error.problem();
        }
    }
    EXPECT_GT(run, 60);
}

TEST(DeadLinksTest, SaysWhatCannotRun) {
    const auto problem = [](const Case& c) {
        try {
            run_on(c.slice, c);
        } catch (const sim::InputError& error) {
            return error.problem();
        }
        return std::string("nothing");
    };
    Case line = make_on_whole_slice(Operation::all_gather, box({4, 1, 1}, 0), Algorithm::two_way);
    kill(line, {1, 0, 0}, 0);
    EXPECT_EQ(
        problem(line),
        "a collective cannot run: the link along x at chip 1,0,0 is dead, and so are the ways "
        "round it");
    Case exchange =
        make_on_whole_slice(Operation::all_to_all, box({4, 1, 1}, 1), Algorithm::automatic);
    kill(exchange, {1, 0, 0}, 0);
    EXPECT_EQ(problem(exchange),
              "all-to-all cannot run: it does not go round the dead links of its axes");
}

// Chips of one slice also exchange over ICI. An exchange
// of single chips between slices does not use ICI.
TEST(DeadLinksTest, AnExchangeBetweenSlicesDoesNotGoRoundThem) {
    const topology::Lattice ring = box({4, 1, 1}, 1);
    const Case c = make_on_whole_slice(Operation::all_to_all, ring, Algorithm::automatic);
    ScheduleOptions options = c.options;
    options.dead_links = topology::DeadLinks({ring, 2});
    options.dead_links.add(topology::Places(ring, 2).index({1, 0, 0}, 1), 0);
    CollectiveCall call = c.call();
    call.members.across = {1, 2};
    ShiftTable shifts(ring);
    try {
        build_schedule(call, options, shifts);
        ADD_FAILURE() << "went over a dead link";
    } catch (const sim::InputError& error) {
        EXPECT_EQ(error.problem(),
                  "all-to-all cannot run: it does not go round the dead links of its axes");
    }
    call.members.group.clear();
    EXPECT_NO_THROW(build_schedule(call, options, shifts));
    // Rings within the slices avoid dead links as usual.
    call.members.group = c.group;
    call.operation = Operation::all_gather;
    EXPECT_NO_THROW(build_schedule(call, options, shifts));
}

}  // namespace
}  // namespace podsim::collectives
