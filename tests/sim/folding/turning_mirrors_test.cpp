// Mirrors that keep places and exchange two ports, alone and together with one that moves places.
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "sim/folding/fold_by_mirrors.h"
#include "tests/sim/kernel_support.h"

namespace podsim::sim {
namespace {

/// Ports 0 and 1 lead along a row of places; 2 and 3, 4 and 5 are two directions from a place to
/// itself, as on folded axes.
constexpr std::size_t kPorts = 6;
constexpr std::uint32_t kJoins = kPorts;

Mirror mirror_of(std::uint32_t places, std::vector<std::uint32_t> ports, bool moves) {
    Mirror mirror{.place = {}, .port = std::move(ports)};
    for (std::uint32_t place = 0; place < places; ++place) {
        mirror.place.push_back(moves ? places - 1 - place : place);
    }
    return mirror;
}

Mirror other_end_of(std::uint32_t places) {
    return mirror_of(places, {1, 0, 2, 3, 4, 5}, true);
}
Mirror other_way(std::uint32_t places) {
    return mirror_of(places, {0, 1, 3, 2, 4, 5}, false);
}
Mirror other_way_behind(std::uint32_t places) {
    return mirror_of(places, {0, 1, 2, 3, 5, 4}, false);
}
/// Does not commute with mirrors that exchange the ports of one axis.
Mirror other_axis(std::uint32_t places) {
    return mirror_of(places, {0, 1, 4, 5, 2, 3}, false);
}

Machine row_with_ways(std::uint32_t places, Time latency) {
    Machine machine = row_of(static_cast<int>(places), true, latency);
    machine.ports = kPorts;
    machine.links.assign(machine.places * kPorts, {.rate = kBytePerPs, .latency = latency});
    return machine;
}

/// A message of a place over one link, or a join.
struct Sent {
    /// Number that its images share: their priority at every link.
    std::uint32_t number = 0;
    std::uint32_t from = 0;
    std::uint32_t port = 0;

    friend auto operator<=>(const Sent&, const Sent&) = default;
};

Sent image_of(Sent sent, const Mirror& mirror) {
    sent.from = mirror.place[sent.from];
    sent.port = sent.port == kJoins ? kJoins : mirror.port[sent.port];
    return sent;
}

/// The predecessors of each message, with the images of all these relations.
using After = std::map<Sent, std::set<Sent>>;
void add_images(After& after, const std::vector<Mirror>& mirrors) {
    for (std::size_t before = 0, now = 1; before != now;) {
        before = now;
        const After known = after;
        for (const auto& [sent, firsts] : known) {
            for (const Mirror& mirror : mirrors) {
                std::set<Sent>& of_image = after[image_of(sent, mirror)];
                for (const Sent& first : firsts) {
                    of_image.insert(image_of(first, mirror));
                }
            }
        }
        now = 0;
        for (const auto& [_, firsts] : after) {
            now += 1 + firsts.size();
        }
    }
}

int distance_of(const Sent& sent) {
    return sent.port == 0 ? 1 : sent.port == 1 ? -1 : 0;
}

/// Returns random messages with all their images, and random predecessors with the images of those.
Schedule random_schedule(std::uint32_t places, const std::vector<Mirror>& mirrors,
                         std::mt19937_64& random) {
    After after;
    std::vector<Transfer> like;  // [number]
    const auto arrives_at = [&](const Sent& sent) {
        return (sent.from +
                static_cast<std::uint32_t>(static_cast<int>(places) + distance_of(sent))) %
               places;
    };
    for (std::uint32_t number = 0; number < 3 * places; ++number) {
        const Sent sent{number, static_cast<std::uint32_t>(random() % places),
                        static_cast<std::uint32_t>(random() % (kPorts + 1))};
        std::set<Sent> before;
        for (const auto& [one, _] : after) {
            if (arrives_at(one) == sent.from && random() % 6 == 0) {
                before.insert(one);
            }
        }
        after[sent] = std::move(before);
        add_images(after, mirrors);
        Transfer& transfer = like.emplace_back();
        transfer.phase = static_cast<std::uint32_t>(random() % 2);
        transfer.reads = static_cast<std::uint8_t>(random() % 3);
        transfer.writes = static_cast<std::uint8_t>(random() % 3);
        transfer.bytes = Bytes(100.0 * static_cast<double>(1 + random() % 5) * kHairLess);
    }
    std::vector<Sent> all;
    for (const auto& [sent, _] : after) {
        all.push_back(sent);
    }
    std::ranges::shuffle(all, random);
    std::ranges::stable_sort(all, {}, &Sent::from);
    Schedule schedule;
    schedule.roles.resize(places);
    for (std::uint32_t place = 0; place < places; ++place) {
        schedule.role_of_place.push_back(place);
    }
    for (const Sent& sent : all) {
        Transfer transfer = like[sent.number];
        transfer.rank = sent.number + 1000 * (kPorts - sent.port);
        transfer.needs = 1 + static_cast<std::uint32_t>(after[sent].size());
        transfer.first_hop = static_cast<std::uint32_t>(schedule.hops.size());
        transfer.destination_shift = shift(distance_of(sent));
        if (sent.port != kJoins) {
            transfer.hop_count = 1;
            schedule.hops.push_back({shift(0), sent.port});
            ++schedule
                  .roles[(static_cast<std::uint32_t>(static_cast<int>(sent.from + places) +
                                                     distance_of(sent))) %
                         places]
                  .arrivals;
        }
        transfer.first_successor = static_cast<std::uint32_t>(schedule.successors.size());
        for (std::uint32_t later = 0; later < all.size(); ++later) {
            if (after[all[later]].contains(sent)) {
                schedule.successors.push_back(later);
                ++transfer.successor_count;
            }
        }
        Role& role = schedule.roles[sent.from];
        role.first_transfer = role.transfer_count == 0
                                  ? static_cast<std::uint32_t>(schedule.transfers.size())
                                  : role.first_transfer;
        ++role.transfer_count;
        schedule.transfers.push_back(transfer);
    }
    return schedule;
}

Workload random_workload(std::uint32_t places, const std::vector<Mirror>& mirrors,
                         std::mt19937_64& random) {
    Workload workload = workload_of(
        row_with_ways(places, {static_cast<std::int64_t>(random() % 50)}),
        {random_schedule(places, mirrors, random), random_schedule(places, mirrors, random)},
        {work(static_cast<std::int64_t>(random() % 400)), operation(0), operation(1),
         work(300, 0, {1}), work(200, 1, {2})});
    workload.operations = {
        {.schedule = 0, .priority_class = static_cast<std::uint32_t>(random() % 2)},
        {.schedule = 1}};
    workload.machine.rule = random() % 2 == 0 ? LatencyRule::additive : LatencyRule::floor;
    if (random() % 3 != 0) {
        workload.machine.memory_rate =
            static_cast<std::int64_t>(1 + random() % 6) * 1'000'000'000'000;
        workload.graphs[0].tasks[3].demand = 1'500'000'000'000;
    }
    return workload;
}

/// Checks that all links and places of the workload equal their representatives, and that events
/// are in proportion. Returns how many were left out.
std::uint64_t copies_where_alike(const Workload& whole, const MirrorFold& folded) {
    const Representatives& of = folded.representatives;
    const ExecutionResult all = execute(whole);
    const ExecutionResult few = execute(folded.workload);
    EXPECT_EQ(few.end, all.end);
    EXPECT_EQ(few.events * whole.machine.places, all.events * of.simulated);
    for (std::size_t place = 0; place < whole.machine.places; ++place) {
        EXPECT_EQ(few.end_of_place[of.place[place]], all.end_of_place[place]);
        for (std::size_t port = 0; port < kPorts; ++port) {
            EXPECT_EQ(
                few.links[folded.workload.machine.link(of.place[place], of.port[place][port])],
                all.links[whole.machine.link(place, port)]);
        }
    }
    return few.events - few.played_events;
}

/// Returns the number of messages over the given ports.
std::uint64_t over(const Workload& whole, std::uint32_t first, std::uint32_t last) {
    std::uint64_t hops = 0;
    for (const Schedule& schedule : whole.schedules) {
        for (const Hop& hop : schedule.hops) {
            hops += hop.port >= first && hop.port <= last ? 1 : 0;
        }
    }
    return hops;
}

// Random messages over exchanged links and others compete for links, for memory and with another
// operation, and wait for each other and for one or several images. A link and its image carry the
// same. One of two directions is played, and one of four on two axes.
TEST(TurningMirrors, OneOfTwoWaysStandsForBoth) {
    std::uint64_t left_out = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const std::uint32_t places = 2 + 2 * static_cast<std::uint32_t>(random() % 2);
        const Mirror end = other_end_of(places);
        const Mirror way = other_way(places);
        const Workload workload = random_workload(places, {end, way}, random);
        const std::uint64_t hops = over(workload, 2, 3);

        const auto turned = fold_by_mirrors(workload, std::vector{way});
        ASSERT_EQ(turned.has_value(), hops > 0);
        if (turned) {
            ASSERT_EQ(turned->representatives.simulated, places);
            EXPECT_EQ(copies_where_alike(workload, *turned), hops / 2);
        }
        for (const auto& mirrors : {std::vector{end, way}, std::vector{way, end}}) {
            const auto both = fold_by_mirrors(workload, mirrors);
            ASSERT_TRUE(both);
            ASSERT_EQ(both->representatives.simulated, places / 2);
            EXPECT_EQ(copies_where_alike(workload, *both), hops / 4);
        }
        left_out += hops / 4;
    }
    EXPECT_GT(left_out, 1000);
}

TEST(TurningMirrors, OneOfFourWaysOnTwoAxesStandsForAll) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const std::uint32_t places = 2 + 2 * static_cast<std::uint32_t>(random() % 2);
        const Mirror end = other_end_of(places);
        const Mirror way = other_way(places);
        const Mirror behind = other_way_behind(places);
        const Mirror axis = other_axis(places);
        const Workload workload = random_workload(places, {end, way, behind, axis}, random);
        const std::uint64_t hops = over(workload, 2, 5);
        for (const auto& mirrors :
             {std::vector{end, way, behind, axis}, std::vector{axis, way, behind, end},
              std::vector{way, axis, end}, std::vector{axis, way, end}}) {
            const auto folded = fold_by_mirrors(workload, mirrors);
            ASSERT_TRUE(folded);
            ASSERT_EQ(folded->representatives.simulated, places / 2);
            EXPECT_EQ(copies_where_alike(workload, *folded), hops / 2 / 4 * 3);
        }
        const auto exchanged = fold_by_mirrors(workload, std::vector{axis, end});
        ASSERT_TRUE(exchanged);
        EXPECT_EQ(copies_where_alike(workload, *exchanged), hops / 2 / 2);
    }
}

/// Returns a workload at one place: messages from it to itself over the given ports, in this order.
Workload at_one_place(const std::vector<std::vector<std::uint32_t>>& ports) {
    Schedule schedule;
    schedule.roles = {{.first_transfer = 0,
                       .transfer_count = static_cast<std::uint32_t>(ports.size()),
                       .arrivals = static_cast<std::uint32_t>(ports.size())}};
    schedule.role_of_place = {0};
    for (const std::vector<std::uint32_t>& over : ports) {
        Transfer transfer;
        transfer.first_hop = static_cast<std::uint32_t>(schedule.hops.size());
        transfer.hop_count = static_cast<std::uint32_t>(over.size());
        transfer.destination_shift = shift(0);
        transfer.rank = schedule.transfers.size();
        transfer.bytes = Bytes(100);
        for (const std::uint32_t port : over) {
            schedule.hops.push_back({shift(0), port});
        }
        schedule.transfers.push_back(transfer);
    }
    return workload_of(row_with_ways(1, {10}), {schedule}, {operation(0)});
}

/// Replaces all schedules of the workload.
void put_schedule(Workload& workload, const Schedule& schedule) {
    workload.schedules = Schedules();
    workload.schedules.push_back(schedule);
}

bool turns(const Workload& workload) {
    return fold_by_mirrors(workload, std::vector{other_way(1)}).has_value();
}

TEST(TurningMirrors, TakesMessagesWhoseLinksAreAllExchangedOrNone) {
    EXPECT_TRUE(turns(at_one_place({{2}, {3}, {0}})));
    EXPECT_TRUE(turns(at_one_place({{2, 2}, {3, 3}})));
    EXPECT_FALSE(turns(at_one_place({{2}, {0}})));        // nothing over port 3
    EXPECT_FALSE(turns(at_one_place({{2, 0}, {3, 0}})));  // both would wait for port 0
    EXPECT_FALSE(turns(at_one_place({{0}, {1}})));        // nothing is exchanged
}

// A and B go over port 0, each followed by one message over port 2 or 3. The mirror exchanges A and
// B, but port 0 serves one of them first.
TEST(TurningMirrors, RefusesImagesThatShareALink) {
    Workload workload = at_one_place({{0}, {0}, {2}, {3}});
    Schedule schedule = workload.schedules[0];
    schedule.successors = {2, 3};
    for (const std::uint32_t i : {0U, 1U}) {
        schedule.transfers[i].first_successor = i;
        schedule.transfers[i].successor_count = 1;
        schedule.transfers[2 + i].needs = 2;
    }
    put_schedule(workload, schedule);
    EXPECT_FALSE(turns(workload));
    const ExecutionResult played = execute(workload);
    EXPECT_EQ(played.links[2].busy, played.links[3].busy);
    EXPECT_EQ(played.end, (Time{100 + 100 + 10 + 100 + 10}));
}

// A message waits for two that leave over the exchanged ports. It then waits for the one that is
// left, whose successor is notified only once.
TEST(TurningMirrors, WhatNeedsBothNeedsOne) {
    Workload workload = at_one_place({{2}, {3}, {0}});
    Schedule schedule = workload.schedules[0];
    schedule.successors = {2, 2};
    schedule.transfers[0].successor_count = 1;
    schedule.transfers[1].first_successor = 1;
    schedule.transfers[1].successor_count = 1;
    schedule.transfers[2].needs = 3;
    put_schedule(workload, schedule);
    const auto folded = fold_by_mirrors(workload, std::vector{other_way(1)});
    ASSERT_TRUE(folded);
    const Schedule& left = folded->workload.schedules[0];
    ASSERT_EQ(left.transfers.size(), 2U);
    EXPECT_EQ(left.transfers[0].copies, 2);
    EXPECT_EQ(left.transfers[1].copies, 1);
    EXPECT_EQ(left.transfers[1].needs, 2U);
    EXPECT_EQ(left.roles[0].arrivals, 2U);
    EXPECT_EQ(copies_where_alike(workload, *folded), 1U);
}

// A predecessor of two images leads to one of them, which needs it once.
TEST(TurningMirrors, WhatLeadsToBothLeadsToOne) {
    Workload workload = at_one_place({{0}, {2}, {3}});
    Schedule schedule = workload.schedules[0];
    schedule.successors = {1, 2};
    schedule.transfers[0].successor_count = 2;
    schedule.transfers[1].needs = 2;
    schedule.transfers[2].needs = 2;
    put_schedule(workload, schedule);
    const auto folded = fold_by_mirrors(workload, std::vector{other_way(1)});
    ASSERT_TRUE(folded);
    const Schedule& left = folded->workload.schedules[0];
    ASSERT_EQ(left.transfers.size(), 2U);
    EXPECT_EQ(left.successors, std::vector<std::uint32_t>{1});
    EXPECT_EQ(left.transfers[1].needs, 2U);
    EXPECT_EQ(copies_where_alike(workload, *folded), 1U);
}

// Two links that each read and write a byte a picosecond are too much for a memory of three: 100
// bytes take 4/3 as long, although the single played one would fit.
TEST(TurningMirrors, MemoriesServeCopies) {
    Workload workload = at_one_place({{2}, {3}});
    workload.machine.memory_rate = 3'000'000'000'000;
    const auto folded = fold_by_mirrors(workload, std::vector{other_way(1)});
    ASSERT_TRUE(folded);
    EXPECT_EQ(copies_where_alike(workload, *folded), 1U);
    EXPECT_EQ(execute(folded->workload).end, (Time{134 + 10}));
}

// Places 0 and 1 of one role receive from 2 and 3, of two roles, and need one of them each. The
// needs of a role are counted at one of its places.
TEST(TurningMirrors, NeedsAreThoseOfOnePlace) {
    Schedule schedule = schedule_of({{.role = 0, .distance = 0, .bytes = 100, .after = {2}},
                                     {.role = 0, .distance = 0, .bytes = 100, .after = {2}},
                                     {.role = 1, .distance = 2, .bytes = 100},
                                     {.role = 2, .distance = 2, .bytes = 200}},
                                    3, {0, 0, 1, 2});
    for (const std::uint32_t port : {2U, 3U}) {
        schedule.transfers[port - 2].first_hop = static_cast<std::uint32_t>(schedule.hops.size());
        schedule.transfers[port - 2].hop_count = 1;
        schedule.hops.push_back({shift(0), port});
    }
    schedule.successors = {0, 1};
    schedule.transfers[3].first_successor = 0;
    schedule.transfers[3].successor_count = 2;
    schedule.roles[0].arrivals = 3;
    const Workload workload = workload_of(row_with_ways(4, {10}), {schedule}, {operation(0)});
    const auto folded = fold_by_mirrors(workload, std::vector{other_way(4)});
    ASSERT_TRUE(folded);
    EXPECT_EQ(folded->workload.schedules[0].transfers[0].needs, 2U);
    EXPECT_EQ(copies_where_alike(workload, *folded), 2U);
}

}  // namespace
}  // namespace podsim::sim
