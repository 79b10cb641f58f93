// An AllGather and a ReduceScatter as single ring steps, proven by carrying data over the places
// that the schedules of the steps name.

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <span>

#include "collectives/algorithms/ring_step_schedule.h"
#include "sim/base/error.h"
#include "tests/topology/lattice_support.h"

namespace podsim::collectives {
namespace {

using topology::box;

struct NamedGroup {
    const char* name;
    topology::Lattice slice;
    Group group;
};

std::vector<NamedGroup> named_groups() {
    return {{"ring of 2", box({2, 1, 1}, 7), {{0, 1, 2}}},
            {"ring of 4", box({4, 2, 1}, 7), {{0, 1, 4}}},
            {"ring of 5", box({5, 1, 1}, 7), {{0, 1, 5}}},
            {"line of 2", box({2, 1, 1}, 0), {{0, 1, 2}}},
            {"line of 4", box({2, 4, 1}, 0), {{1, 1, 4}}},
            {"line of 5", box({5, 1, 1}, 0), {{0, 1, 5}}},
            {"line of 6", box({6, 1, 1}, 0), {{0, 1, 6}}},
            {"block of neighbours", box({8, 1, 1}, 7), {{0, 1, 4}}},
            {"strided ring", box({8, 1, 1}, 7), {{0, 2, 4}}},
            {"strided ring of 2", box({8, 1, 1}, 7), {{0, 4, 2}}},
            {"two rings", box({4, 3, 1}, 7), {{0, 1, 4}, {1, 1, 3}}},
            {"ring and block", box({4, 4, 1}, 7), {{0, 1, 2}, {1, 1, 4}}},
            {"three axes", box({4, 3, 2}, 7), {{0, 1, 4}, {1, 1, 3}, {2, 1, 2}}}};
}

class RingSteps : public ::testing::TestWithParam<std::tuple<int, bool>> {
protected:
    void SetUp() override {
        const NamedGroup one = named_groups()[static_cast<std::size_t>(std::get<0>(GetParam()))];
        SCOPED_TRACE(one.name);
        slice_ = one.slice;
        group_ = one.group;
        gather_ = step_gather(slice_, group_, std::get<1>(GetParam()));
    }

    /// Returns, for each place, the destination of its block in a step.
    [[nodiscard]] std::vector<std::size_t> destinations(const SteppedGather::Step& step,
                                                        int sign) const {
        ShiftTable shifts{topology::Places(slice_)};
        const sim::Schedule schedule =
            build_ring_step(slice_, group_, {step.factor, sign * step.direction, sim::Bytes(1)},
                            Motion::gather, {}, shifts)
                .schedule;
        const auto places = static_cast<std::size_t>(slice_.size());
        std::vector<std::size_t> to;
        for (std::size_t place = 0; place < places; ++place) {
            const sim::Role& role = schedule.roles[schedule.role_of_place[place]];
            EXPECT_EQ(role.transfer_count, step.direction == 0 ? 2U : 1U);
            EXPECT_EQ(role.arrivals, role.transfer_count);
            const auto sent =
                std::span(schedule.transfers).subspan(role.first_transfer, role.transfer_count);
            const auto destination = [&](const sim::Transfer& transfer) {
                return shifts.table()[transfer.destination_shift * places + place];
            };
            to.push_back(destination(sent.front()));
            EXPECT_LT(to.back(), places);
            EXPECT_EQ(destination(sent.back()), to.back());
            double bytes = 0;
            for (const sim::Transfer& transfer : sent) {
                bytes += transfer.bytes.value();
            }
            EXPECT_EQ(bytes, 1);
            if (step.direction == 0) {
                EXPECT_EQ(schedule.hops[sent.front().first_hop].port ^ 1U,
                          schedule.hops[sent.back().first_hop].port)
                    << "one half each way";
            }
        }
        EXPECT_EQ(std::set(to.begin(), to.end()).size(), places) << "one block each";
        return to;
    }

    [[nodiscard]] std::set<std::size_t> members(std::size_t place) const {
        std::set<std::size_t> all{place};
        for (bool grown = true; grown;) {
            grown = false;
            for (const std::size_t member : std::set(all)) {
                for (const AxisFactor& factor : group_) {
                    const topology::Point at = slice_.point(static_cast<int>(member));
                    const int rank =
                        at[static_cast<std::size_t>(factor.axis)] / factor.stride % factor.length;
                    for (int other = 0; other < factor.length; ++other) {
                        const auto there = slice_.canonical(
                            at + topology::along(factor.axis, (other - rank) * factor.stride));
                        grown = all.insert(static_cast<std::size_t>(slice_.index(*there))).second ||
                                grown;
                    }
                }
            }
        }
        return all;
    }

    /// Fraction of V by the member from which it comes.
    using Content = std::map<std::size_t, double>;
    using AxisFactor = topology::AxisFactor;

    static void add(Content& to, const Content& from, double times = 1) {
        for (const auto& [member, share] : from) {
            to[member] += share * times;
        }
    }

    /// Returns what arrives, indexed [step][place].
    [[nodiscard]] std::vector<std::vector<Content>> arrivals() const {
        const auto places = static_cast<std::size_t>(slice_.size());
        std::vector<std::vector<Content>> arrived(gather_.steps.size(),
                                                  std::vector<Content>(places));
        for (std::size_t i = 0; i < gather_.steps.size(); ++i) {
            const SteppedGather::Step& step = gather_.steps[i];
            const std::vector<std::size_t> to = destinations(step, 1);
            // All earlier steps, for a step that carries everything gathered so far.
            std::set<std::uint32_t> before(step.after.begin(), step.after.end());
            for (bool grown = step.own; grown;) {
                grown = false;
                for (const std::uint32_t earlier : std::set(before)) {
                    for (const std::uint32_t more : gather_.steps[earlier].after) {
                        grown = before.insert(more).second || grown;
                    }
                }
            }
            for (std::size_t place = 0; place < places; ++place) {
                Content sent;
                double total = 0;
                for (const std::uint32_t earlier : before) {
                    add(sent, arrived[earlier][place]);
                    total += gather_.steps[earlier].share;
                }
                const double whole = step.share * (half(i) ? 2 : 1);
                if (step.own) {
                    sent[place] += whole - total;
                } else {
                    EXPECT_DOUBLE_EQ(total, whole);
                }
                add(arrived[i][to[place]], sent, half(i) ? 0.5 : 1);
            }
        }
        return arrived;
    }

    /// True if the step brings half of the opposite member's block.
    [[nodiscard]] bool half(std::size_t step) const {
        for (const SteppedGather::Piece& piece : gather_.pieces) {
            if (piece.steps.size() == 2 && (piece.steps[0] == step || piece.steps[1] == step)) {
                return true;
            }
        }
        return false;
    }

    topology::Lattice slice_;
    Group group_;
    SteppedGather gather_;
};

TEST_P(RingSteps, EveryMemberGetsEveryBlockOnce) {
    const auto places = static_cast<std::size_t>(slice_.size());
    const double block = 1.0 / group_size(group_);
    const auto arrived = arrivals();
    for (std::size_t place = 0; place < places; ++place) {
        Content all{{place, block}};
        for (const std::vector<Content>& step : arrived) {
            add(all, step[place]);
        }
        const std::set<std::size_t> expected = members(place);
        ASSERT_EQ(all.size(), expected.size());
        for (const auto& [member, share] : all) {
            EXPECT_TRUE(expected.contains(member));
            EXPECT_NEAR(share, block, 1e-12);
        }
    }
    double total = 0;
    for (const SteppedGather::Piece& piece : gather_.pieces) {
        double steps = 0;
        for (const std::uint32_t step : piece.steps) {
            steps += gather_.steps[step].share;
        }
        EXPECT_NEAR(piece.share, piece.steps.empty() ? block : steps, 1e-12);
        total += piece.share;
    }
    EXPECT_NEAR(total, 1, 1e-12);
}

// The i-th piece in one direction of a single factor
// is the block of the member that source() names.
TEST_P(RingSteps, PiecesComeFromTheMembersNamed) {
    if (group_.size() > 1) {
        EXPECT_TRUE(gather_.ring.empty());
        return;
    }
    if (std::get<1>(GetParam())) {
        return;
    }
    const topology::AxisFactor& factor = group_.front();
    const auto member = [&](std::size_t place) {
        return slice_.point(static_cast<int>(place))[static_cast<std::size_t>(factor.axis)] /
               factor.stride % factor.length;
    };
    const auto arrived = arrivals();
    for (std::size_t place = 0; place < static_cast<std::size_t>(slice_.size()); ++place) {
        EXPECT_EQ(gather_.source(member(place), 0), member(place));
        for (std::size_t piece = 1; piece < gather_.pieces.size(); ++piece) {
            ASSERT_EQ(gather_.pieces[piece].steps.size(), 1U);
            const Content& came = arrived[gather_.pieces[piece].steps.front()][place];
            ASSERT_EQ(came.size(), 1U);
            EXPECT_EQ(gather_.source(member(place), piece), member(came.begin()->first));
        }
    }
}

// Reversed, a step carries what its sender adds for the rows that the gather brought it, and all
// contributions to them that have arrived. Every contribution must reach its home once.
TEST_P(RingSteps, ReversedEveryContributionArrivesOnce) {
    const auto places = static_cast<std::size_t>(slice_.size());
    const double block = 1.0 / group_size(group_);
    const auto rows = arrivals();
    using Sums = std::map<std::pair<std::size_t, std::size_t>, double>;  // home, contributor
    std::vector<std::vector<Sums>> sums(gather_.steps.size(), std::vector<Sums>(places));
    for (std::size_t i = gather_.steps.size(); i-- > 0;) {
        const std::vector<std::size_t> back = destinations(gather_.steps[i], -1);
        const std::vector<std::size_t> to = destinations(gather_.steps[i], 1);
        for (std::size_t place = 0; place < places; ++place) {
            EXPECT_EQ(to[back[place]], place) << "the way that the gather came";
            Sums sent;
            for (const auto& [home, share] : rows[i][place]) {
                sent[{home, place}] += share;
            }
            for (std::size_t next = i + 1; next < gather_.steps.size(); ++next) {
                const auto& after = gather_.steps[next].after;
                if (std::ranges::find(after, i) == after.end()) {
                    continue;
                }
                for (const auto& [who, share] : sums[next][place]) {
                    // Only homes whose rows this step brought are sent.
                    if (rows[i][place].contains(who.first)) {
                        sent[who] += half(i) ? share / 2 : share;
                    }
                }
            }
            for (const auto& [who, share] : sent) {
                sums[i][back[place]][who] += share;
            }
        }
    }
    for (std::size_t place = 0; place < places; ++place) {
        Sums home{{{place, place}, block}};
        for (std::size_t i = 0; i < gather_.steps.size(); ++i) {
            for (const auto& [who, share] : sums[i][place]) {
                if (gather_.steps[i].own && who.first == place) {
                    home[who] += share;
                }
            }
        }
        ASSERT_EQ(home.size(), members(place).size());
        for (const auto& [who, share] : home) {
            EXPECT_EQ(who.first, place);
            EXPECT_NEAR(share, block, 1e-12);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Groups, RingSteps,
    ::testing::Combine(::testing::Range(0, static_cast<int>(named_groups().size())),
                       ::testing::Bool()));

// Two members of a ring are neighbours in both directions: they take one step, whose halves begin
// together. A line has one direction, and on a longer ring the halves of the last step come from
// different neighbours.
TEST(RingSteps, OfARingOfTwoGoBothWaysAtOnce) {
    const SteppedGather two = step_gather(box({8, 4, 1}, 7), {{0, 4, 2}, {1, 1, 4}}, true);
    for (const SteppedGather::Step& step : two.steps) {
        EXPECT_EQ(step.direction == 0, step.factor == 0);
    }
    const SteppedGather alone = step_gather(box({8, 1, 1}, 7), {{0, 4, 2}}, true);
    EXPECT_EQ(alone.steps, (std::vector<SteppedGather::Step>{{0, 0, 0.5, {}, true}}));
    EXPECT_EQ(alone.pieces, (std::vector<SteppedGather::Piece>{{0.5, {}}, {0.5, {0}}}));
    EXPECT_EQ(step_gather(box({8, 1, 1}, 7), {{0, 4, 2}}, false).steps.front().direction, 1);
    EXPECT_EQ(step_gather(box({8, 1, 1}, 7), {{0, 2, 2}}, true).steps.front().direction, 1);
}

// In the order 0 2 4 5 3 1 every link of the line carries one block in each direction.
TEST(RingByTwos, LoadsEveryLinkOnceEachWay) {
    for (const int length : {2, 3, 4, 5, 8, 9}) {
        const topology::Lattice line = box({length, 1, 1}, 0);
        for (const int direction : {1, -1}) {
            ShiftTable shifts{topology::Places(line)};
            const sim::Schedule schedule =
                build_ring_step(line, {{0, 1, length}}, {0, direction, sim::Bytes(1)},
                                Motion::gather, {}, shifts)
                    .schedule;
            std::map<std::pair<std::uint32_t, std::uint32_t>, int> load;  // place, port
            for (std::size_t place = 0; place < static_cast<std::size_t>(length); ++place) {
                const sim::Transfer& transfer =
                    schedule
                        .transfers[schedule.roles[schedule.role_of_place[place]].first_transfer];
                EXPECT_LE(transfer.hop_count, 2U);
                for (std::uint32_t hop = 0; hop < transfer.hop_count; ++hop) {
                    const sim::Hop& one = schedule.hops[transfer.first_hop + hop];
                    ++load[{shifts.table()[one.shift * static_cast<std::size_t>(length) + place],
                            one.port}];
                }
            }
            EXPECT_EQ(load.size(), static_cast<std::size_t>(2 * (length - 1)));
            for (const auto& [link, count] : load) {
                EXPECT_EQ(count, 1);
            }
        }
    }
}

std::string message(const std::function<void()>& action) {
    try {
        action();
    } catch (const sim::InputError& error) {
        return error.what();
    }
    return "no error";
}

// Members 1 and 2 of 4 send to 0 and 1, or to 2 and 3, over the links of their stride; none sends
// round the end. Groups are a ring, a block of neighbours, a strided ring and a line.
TEST(RingSteps, SomeMembersSendToTheirNeighbours) {
    for (const NamedGroup& one : {NamedGroup{"ring", box({4, 2, 1}, 7), {{0, 1, 4}}},
                                  NamedGroup{"block", box({8, 1, 1}, 7), {{0, 1, 4}}},
                                  NamedGroup{"strided", box({8, 1, 1}, 7), {{0, 2, 4}}},
                                  NamedGroup{"line", box({2, 4, 1}, 0), {{1, 1, 4}}}}) {
        SCOPED_TRACE(one.name);
        const topology::AxisFactor& factor = one.group.front();
        for (const int direction : {1, -1}) {
            ShiftTable shifts{topology::Places(one.slice)};
            const sim::Schedule schedule =
                build_ring_step(one.slice, one.group,
                                {0, direction, sim::Bytes(1), std::pair{1, 2}}, Motion::gather, {},
                                shifts)
                    .schedule;
            const auto places = static_cast<std::size_t>(one.slice.size());
            for (std::size_t place = 0; place < places; ++place) {
                const topology::Point at = one.slice.point(static_cast<int>(place));
                const int member = at[static_cast<std::size_t>(factor.axis)] / factor.stride % 4;
                const sim::Role& role = schedule.roles[schedule.role_of_place[place]];
                EXPECT_EQ(role.transfer_count, member == 1 || member == 2 ? 1U : 0U);
                EXPECT_EQ(role.arrivals,
                          member - direction == 1 || member - direction == 2 ? 1U : 0U);
                if (role.transfer_count == 1) {
                    const sim::Transfer& transfer = schedule.transfers[role.first_transfer];
                    const auto to = *one.slice.canonical(
                        at + topology::along(factor.axis, direction * factor.stride));
                    EXPECT_EQ(shifts.table()[transfer.destination_shift * places + place],
                              static_cast<std::uint32_t>(one.slice.index(to)));
                }
            }
        }
    }
}

TEST(RingSteps, AreRefusedOnAWholeTwistedSlice) {
    topology::Lattice twisted = box({2, 2, 4}, 7);
    twisted.wrap_shift[0] = {0, 0, 2};
    twisted.wrap_shift[1] = {0, 0, 2};
    EXPECT_EQ(message([&] {
                  step_gather(twisted, {{0, 1, 2}, {1, 1, 2}, {2, 1, 4}}, true);
              }),
              "single ring steps over the whole of a twisted slice are not available; "
              "write blocking, or use part of the slice's axes");
}

}  // namespace
}  // namespace podsim::collectives
