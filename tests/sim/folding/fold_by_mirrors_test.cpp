#include "sim/folding/fold_by_mirrors.h"

#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <random>

#include "sim/folding/known_images.h"
#include "tests/sim/kernel_support.h"

namespace podsim::sim {
namespace {

/// Returns a mirror that reverses a row of places: port 0, forward, becomes port 1.
Mirror other_end(std::uint32_t places) {
    Mirror mirror{.place = {}, .port = {1, 0}};
    for (std::uint32_t place = 0; place < places; ++place) {
        mirror.place.push_back(places - 1 - place);
    }
    return mirror;
}

/// Returns roles of which each place has its own.
std::vector<std::uint32_t> own_roles(std::uint32_t places) {
    std::vector<std::uint32_t> roles(places);
    std::iota(roles.begin(), roles.end(), 0U);
    return roles;
}

/// A send or its mirror image in a row of places, with the number that both have as rank.
struct Half {
    Send send;
    std::uint32_t number = 0;
    bool image = false;
    std::vector<std::uint32_t> after;  ///< numbers of halves of the same side
};

/// Returns a schedule of sends with their images; `after` names numbers, also across the middle.
Schedule schedule_of_halves(std::vector<Half> halves, std::uint32_t places) {
    std::ranges::stable_sort(halves, {}, [](const Half& half) { return half.send.role; });
    std::vector<Send> sends;
    for (const Half& half : halves) {
        Send send = half.send;
        for (std::uint32_t i = 0; i < halves.size(); ++i) {
            if (halves[i].image == half.image &&
                std::ranges::count(half.after, halves[i].number) > 0) {
                send.after.push_back(i);
            }
        }
        sends.push_back(std::move(send));
    }
    Schedule schedule = schedule_of(sends, places, own_roles(places));
    for (std::size_t i = 0; i < halves.size(); ++i) {
        schedule.transfers[i].rank = halves[i].number;
    }
    return schedule;
}

Schedule random_symmetric_schedule(std::uint32_t places, bool ring, std::mt19937_64& random) {
    std::vector<Half> halves;
    std::vector<std::uint32_t> arrives_at;  ///< [number]
    for (std::uint32_t number = 0; number < 3 * places; ++number) {
        const auto role = static_cast<std::uint32_t>(random() % places);
        int distance = static_cast<int>(random() % 5) - 2;
        int to = static_cast<int>(role) + distance;
        const int count = static_cast<int>(places);
        if (!ring && (to < 0 || to >= count)) {
            distance = -distance;
            to = static_cast<int>(role) + distance;
        }
        to = (to + count) % count;
        Half half{
            .send = {.role = role,
                     .distance = distance,
                     .bytes = distance == 0 ? 0 : 100.0 * static_cast<double>(1 + random() % 5),
                     .phase = static_cast<std::uint32_t>(random() % 2),
                     .to_role = static_cast<std::uint32_t>(to)},
            .number = number,
            .after = {}};
        for (std::uint32_t earlier = 0; earlier < number; ++earlier) {
            if (arrives_at[earlier] == role && random() % 3 == 0) {
                half.after.push_back(earlier);
            }
        }
        arrives_at.push_back(static_cast<std::uint32_t>(to));
        halves.push_back(half);
        half.image = true;
        half.send.role = places - 1 - role;
        half.send.distance = -distance;
        half.send.to_role = places - 1 - half.send.to_role;
        halves.push_back(half);
    }
    return schedule_of_halves(std::move(halves), places);
}

/// Plays both workloads: times are those of representatives, and events are half as many.
void expect_plays_the_same(const Workload& whole, const MirrorFold& folded) {
    const Representatives& of = folded.representatives;
    ASSERT_EQ(2 * of.simulated, whole.machine.places);
    ASSERT_EQ(folded.workload.machine.places, of.simulated);
    const ExecutionResult all = execute(whole);
    const ExecutionResult few = execute(folded.workload);
    EXPECT_EQ(few.end, all.end);
    EXPECT_EQ(2 * few.events, all.events);
    for (std::size_t place = 0; place < whole.machine.places; ++place) {
        EXPECT_EQ(few.end_of_place[of.place[place]], all.end_of_place[place]);
        for (std::size_t port = 0; port < whole.machine.ports; ++port) {
            EXPECT_EQ(
                few.links[folded.workload.machine.link(of.place[place], of.port[place][port])],
                all.links[whole.machine.link(place, port)]);
        }
    }
}

// Random sends and joins with random predecessors, each with its image, form two operations that
// compete, with and without shared memory: a place and its image have the same events.
TEST(FoldByMirrors, PlaysSymmetricWorkloadsOnHalfTheirPlaces) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const std::uint32_t places = 4 + 2 * static_cast<std::uint32_t>(random() % 3);
        const bool ring = random() % 2 == 0;
        Workload workload = workload_of(
            row_of(static_cast<int>(places), ring, {static_cast<std::int64_t>(random() % 50)}),
            {random_symmetric_schedule(places, ring, random),
             random_symmetric_schedule(places, ring, random)},
            {work(static_cast<std::int64_t>(random() % 400)), operation(0), operation(1),
             work(300, 0, {1}), work(200, 1, {2})});
        workload.operations = {
            {.schedule = 0, .priority_class = static_cast<std::uint32_t>(random() % 2)},
            {.schedule = 1}};
        if (random() % 2 == 0) {
            workload.machine.memory_rate = 2'000'000'000'000;
            workload.graphs[0].tasks[3].demand = 1'500'000'000'000;
        }
        const auto folded = fold_by_mirrors(workload, std::vector{other_end(places)});
        ASSERT_TRUE(folded);
        expect_plays_the_same(workload, *folded);
    }
}

const Schedule* at(const Workload& workload, std::size_t schedule) {
    return &workload.schedules[schedule];
}

// Schedules that differ only in bytes share images if their own sizes are symmetric; a folded
// schedule has no spare capacity.
TEST(FoldByMirrors, SchedulesThatDifferInBytesAloneShareTheirImages) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        std::mt19937_64 random(seed);
        const Schedule one = random_symmetric_schedule(6, true, random);
        Schedule larger = one;
        for (Transfer& transfer : larger.transfers) {
            transfer.bytes = Bytes(3 * transfer.bytes.value());
        }
        const auto workload_with = [&](const Schedule& other) {
            Workload workload = workload_of(row_of(6, true, {10}), {one, other},
                                            {work(50), operation(0), operation(1)});
            workload.operations = {{.schedule = 0}, {.schedule = 1}};
            return workload;
        };
        const Workload whole = workload_with(larger);
        const auto folded = fold_by_mirrors(whole, std::vector{other_end(6)});
        ASSERT_TRUE(folded);
        expect_plays_the_same(whole, *folded);
        const Schedule& first = *at(folded->workload, 0);
        EXPECT_EQ(first.transfers.capacity() + first.hops.capacity(),
                  first.transfers.size() + first.hops.size());
        larger.transfers.front().bytes = Bytes(larger.transfers.front().bytes.value() + 1);
        EXPECT_FALSE(fold_by_mirrors(workload_with(larger), std::vector{other_end(6)}));
    }
}

// Cached images serve every workload with the kept schedule; others are folded again. A schedule
// that is not its own image stays so.
TEST(FoldByMirrors, KnowsTheSchedulesThatAreKept) {
    std::mt19937_64 random(7);
    const auto kept = std::make_shared<const Schedule>(random_symmetric_schedule(4, true, random));
    const Schedule other = random_symmetric_schedule(4, true, random);
    KnownImages known;
    known.keep(kept);
    const auto folded_with = [&](std::int64_t duration) {
        Workload workload =
            workload_of(row_of(4, true, {10}), {}, {work(duration), operation(0), operation(1)});
        workload.schedules.push_back(kept);
        workload.schedules.push_back(other);
        workload.operations = {{.schedule = 0}, {.schedule = 1}};
        auto folded = fold_by_mirrors(workload, std::vector{other_end(4)}, &known);
        EXPECT_TRUE(folded);
        expect_plays_the_same(workload, *folded);
        return std::move(folded->workload);
    };
    const Workload first = folded_with(50);
    const Workload second = folded_with(70);
    EXPECT_EQ(at(first, 0), at(second, 0));
    EXPECT_NE(at(first, 1), at(second, 1));

    Schedule broken = *kept;
    broken.transfers.front().bytes = Bytes(broken.transfers.front().bytes.value() + 1);
    const auto lopsided = std::make_shared<const Schedule>(std::move(broken));
    known.keep(lopsided);
    for (int time = 0; time < 2; ++time) {
        Workload workload = workload_of(row_of(4, true, {10}), {}, {operation(0)});
        workload.schedules.push_back(lopsided);
        workload.operations = {{}};
        EXPECT_FALSE(fold_by_mirrors(workload, std::vector{other_end(4)}, &known));
    }
}

/// 0 and 3 of four places send over two links each; the place between sends on the second link.
std::vector<Half> two_that_meet() {
    const auto half = [](std::uint32_t role, int distance, std::uint32_t number, double bytes,
                         bool image) {
        const auto to = static_cast<std::uint32_t>(static_cast<int>(role) + distance);
        return Half{.send = {.role = role, .distance = distance, .bytes = bytes, .to_role = to},
                    .number = number,
                    .image = image,
                    .after = {}};
    };
    return {half(0, 2, 0, 100, false), half(3, -2, 0, 100, true), half(1, 1, 1, 400, false),
            half(2, -1, 1, 400, true)};
}

Workload symmetric() {
    Workload workload = workload_of(row_of(4, false, {10}),
                                    {schedule_of_halves(two_that_meet(), 4)}, {operation(0)});
    workload.operations = {{}};
    return workload;
}

bool folds(const Workload& workload) {
    return fold_by_mirrors(workload, std::vector{other_end(4)}).has_value();
}

/// Returns the workload with another schedule.
Workload with(Workload workload, const Schedule& schedule) {
    workload.schedules = {schedule};
    return workload;
}

TEST(FoldByMirrors, RefusesWhatIsNotItsOwnImage) {
    const Workload sound = symmetric();
    ASSERT_TRUE(folds(sound));
    expect_plays_the_same(sound, *fold_by_mirrors(sound, std::vector{other_end(4)}));

    Workload slow_link = sound;
    slow_link.machine.links[slow_link.machine.link(1, 0)].rate = BytesPerSecond(5e11);
    EXPECT_FALSE(folds(slow_link));
    // The directions of the middle link are images of each other.
    slow_link.machine.links[slow_link.machine.link(2, 1)].rate = BytesPerSecond(5e11);
    EXPECT_TRUE(folds(slow_link));

    Workload slow_place = sound;
    slow_place.machine.slowdown = {1, 1, 1.5, 1};
    EXPECT_FALSE(folds(slow_place));

    Workload programs = sound;
    programs.graphs.push_back(programs.graphs.front());
    programs.graph_of_place = {0, 0, 0, 1};
    EXPECT_FALSE(folds(programs));
    programs.graph_of_place = {1, 0, 0, 1};
    EXPECT_TRUE(folds(programs));

    Workload hosts = sound;
    hosts.machine.index_at_shared = {0, 1, 0, 1};
    EXPECT_FALSE(folds(hosts));

    const auto change = [&](auto edit) {
        Schedule schedule = sound.schedules[0];
        edit(schedule);
        return with(sound, schedule);
    };
    EXPECT_FALSE(folds(change([](Schedule& one) { one.transfers[0].bytes = Bytes(101); })));
    EXPECT_FALSE(folds(change([](Schedule& one) { one.transfers[0].phase = 1; })));
    EXPECT_FALSE(folds(change([](Schedule& one) { one.transfers[0].writes = 2; })));
    EXPECT_FALSE(folds(change([](Schedule& one) { one.hops[0].port = 1; })));
    EXPECT_FALSE(folds(change([](Schedule& one) { one.role_of_place.clear(); })));
    EXPECT_FALSE(folds(change([](Schedule& one) { one.role_of_place[0] = kAbsent; })));
}

// Two messages that meet at a link go in the opposite order at its image: there the longer one goes
// first, and places 1 and 2 end at different times. Ranks may differ if their order is the same.
TEST(FoldByMirrors, RefusesAnotherOrderAtALink) {
    Workload workload = symmetric();
    Schedule schedule = workload.schedules[0];
    // By role the sends are 0 -> 2, 1 -> 2, 2 -> 1, 3 -> 1, with ranks 0, 1 and their images 1, 0.
    const std::vector<std::uint64_t> same_order{4, 7, 9, 5};
    const std::vector<std::uint64_t> opposite{4, 7, 5, 9};
    for (std::size_t i = 0; i < 4; ++i) {
        schedule.transfers[i].rank = same_order[i];
    }
    ASSERT_TRUE(folds(with(workload, schedule)));
    expect_plays_the_same(with(workload, schedule),
                          *fold_by_mirrors(with(workload, schedule), std::vector{other_end(4)}));
    for (std::size_t i = 0; i < 4; ++i) {
        schedule.transfers[i].rank = opposite[i];
    }
    EXPECT_FALSE(folds(with(workload, schedule)));
}

// 0 -> 1 and 2 -> 3 never meet: their images may have the opposite order. 0 -> 1 -> 2 -> 3 meets
// both, and the order stays free as long as each link has one order.
TEST(FoldByMirrors, TheOrderOfThoseThatNeverMeetDoesNotCount) {
    const auto hop = [](std::uint32_t role, int distance, std::uint32_t number, bool image) {
        return Half{
            .send = {.role = role,
                     .distance = distance,
                     .bytes = 100,
                     .to_role = static_cast<std::uint32_t>(static_cast<int>(role) + distance)},
            .number = number,
            .image = image,
            .after = {}};
    };
    std::vector<Half> halves{hop(0, 1, 0, false), hop(3, -1, 0, true), hop(2, 1, 1, false),
                             hop(1, -1, 1, true)};
    const auto ranked = [&](const std::vector<std::uint64_t>& ranks) {
        Schedule schedule = schedule_of_halves(halves, 4);
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            schedule.transfers[i].rank = ranks[i];
        }
        return with(symmetric(), schedule);
    };
    // By role the sends are 0 -> 1, 1 -> 0, 2 -> 3, 3 -> 2.
    const Workload apart = ranked({5, 1, 6, 7});
    ASSERT_TRUE(folds(apart));
    expect_plays_the_same(apart, *fold_by_mirrors(apart, std::vector{other_end(4)}));

    halves.push_back(hop(0, 3, 2, false));
    halves.push_back(hop(3, -3, 2, true));
    // By role 0 -> 1, 0 -> 3, 1 -> 0, 2 -> 3, 3 -> 2, 3 -> 0; 0 -> 3 is last, then before 0 -> 1.
    const Workload behind = ranked({5, 8, 1, 6, 7, 9});
    ASSERT_TRUE(folds(behind));
    expect_plays_the_same(behind, *fold_by_mirrors(behind, std::vector{other_end(4)}));
    EXPECT_FALSE(folds(ranked({5, 4, 1, 6, 7, 9})));
}

// Successors of an image must be images: 2 -> 3 follows 0 -> 2, but 1 -> 0 follows nothing.
TEST(FoldByMirrors, RefusesOtherSuccessors) {
    std::vector<Half> halves = two_that_meet();
    halves.push_back(
        {.send = {.role = 2, .distance = 1, .bytes = 50, .to_role = 3}, .number = 2, .after = {0}});
    halves.push_back({.send = {.role = 1, .distance = -1, .bytes = 50, .to_role = 0},
                      .number = 2,
                      .image = true,
                      .after = {0}});
    Workload workload = symmetric();
    const Workload chained = with(workload, schedule_of_halves(halves, 4));
    ASSERT_TRUE(folds(chained));
    expect_plays_the_same(chained, *fold_by_mirrors(chained, std::vector{other_end(4)}));
    halves.back().after = {};
    EXPECT_FALSE(folds(with(workload, schedule_of_halves(halves, 4))));

    // Each has as many successors, but the image's are exchanged.
    const auto follow = [&](double bytes, std::uint32_t number, std::uint32_t after,
                            std::uint32_t image_after) {
        Half half{.send = {.role = 2, .distance = 1, .bytes = bytes, .to_role = 3},
                  .number = number,
                  .after = {after}};
        halves.push_back(half);
        half.send = {.role = 1, .distance = -1, .bytes = bytes, .to_role = 0};
        half.image = true;
        half.after = {image_after};
        halves.push_back(half);
    };
    halves = two_that_meet();
    follow(50, 2, 0, 0);
    follow(60, 3, 1, 1);
    ASSERT_TRUE(folds(with(workload, schedule_of_halves(halves, 4))));
    halves = two_that_meet();
    follow(50, 2, 0, 1);
    follow(60, 3, 1, 0);
    EXPECT_FALSE(folds(with(workload, schedule_of_halves(halves, 4))));
}

// A schedule without places serves two placements, each its own image: 0 to 1 and 3 to 2.
TEST(FoldByMirrors, FoldsSchedulesThatArePlacedByTheirOperations) {
    // Role 0 sends one place to the right, role 2 one to the left; 1 and 3 receive.
    std::vector<Send> sends{{.role = 0, .distance = 1, .bytes = 100, .to_role = 1},
                            {.role = 2, .distance = -1, .bytes = 100, .to_role = 3}};
    Schedule outside_in = schedule_of(sends, 4, {});
    outside_in.transfers[1].rank = 0;
    Workload workload = workload_of(row_of(4, false, {10}), {outside_in},
                                    {operation(0), work(70, 0, {0}), operation(1)});
    workload.placements = {{0, 1, 3, 2}, {3, 2, 0, 1}};
    workload.operations = {{.schedule = 0, .placement = 0}, {.schedule = 0, .placement = 1}};
    ASSERT_TRUE(folds(workload));
    expect_plays_the_same(workload, *fold_by_mirrors(workload, std::vector{other_end(4)}));
    // This placement sends only to the right.
    workload.placements[0] = {0, 1, 0, 1};
    EXPECT_FALSE(folds(workload));
}

// A place that is its own image would serve a message and its image at once.
TEST(FoldByMirrors, RefusesAFixedPlace) {
    Workload workload = workload_of(row_of(3, false, {10}), {schedule_of_halves({}, 3)}, {work(5)});
    EXPECT_FALSE(fold_by_mirrors(workload, std::vector{other_end(3)}));
}

}  // namespace
}  // namespace podsim::sim
