// AllReduce on lines by reduction to the middle and broadcast back: data, time and bound.
#include "collectives/algorithms/reduce_broadcast.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "tests/collectives/carriers/collective_support.h"
#include "topology/mesh/fold.h"

namespace podsim::collectives {
namespace {

/// Moves sets of contributors (bit = chip) for every message.
/// Partial sums must be disjoint and results complete.
class ReduceBroadcastCarrier : public sim::Observer {
public:
    ReduceBroadcastCarrier(const CollectiveSchedule& built, std::size_t places) : built_(built) {
        const std::uint32_t messages = built.payloads.front().unit;
        held_.assign(messages, std::vector<std::uint64_t>(places));
        done_ = held_;
        for (auto& message : held_) {
            for (std::size_t place = 0; place < places; ++place) {
                message[place] = std::uint64_t{1} << place;
            }
        }
    }

    void transfer_fired(sim::OperationId, sim::PlaceId source, std::uint32_t transfer,
                        sim::Time) override {
        const Payload& payload = built_.payloads[transfer];
        const auto& from =
            payload.motion == Motion::gather && done_[payload.low][source.index()] != 0 ? done_
                                                                                        : held_;
        on_the_way_[{source.value, transfer}] = from[payload.low][source.index()];
    }

    void transfer_arrived(sim::OperationId, sim::PlaceId source, sim::PlaceId destination,
                          std::uint32_t transfer, sim::Time) override {
        const Payload& payload = built_.payloads[transfer];
        const std::uint64_t set = on_the_way_.at({source.value, transfer});
        auto& into = payload.motion == Motion::reduce ? held_ : done_;
        EXPECT_EQ(into[payload.low][destination.index()] & set, 0U) << "counted twice";
        into[payload.low][destination.index()] |= set;
    }

    /// Returns the contributors of a message's result at a chip.
    [[nodiscard]] std::uint64_t result(std::size_t message, std::size_t place) const {
        const std::uint64_t result = done_[message][place];
        return result != 0 ? result : held_[message][place];
    }
    [[nodiscard]] std::size_t messages() const { return held_.size(); }

private:
    const CollectiveSchedule& built_;
    std::vector<std::vector<std::uint64_t>> held_;  ///< [message][chip]
    std::vector<std::vector<std::uint64_t>> done_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> on_the_way_;
};

Case line_case(int length, double bytes) {
    Case c;
    c.operation = Operation::all_reduce;
    c.slice = box({length, 1, 1}, 0);
    c.group = whole_axes(c.slice);
    c.algorithm = Algorithm::reduce_broadcast;
    c.v = sim::Bytes(bytes);
    c.link = {.rate = sim::BytesPerSecond(1e9), .latency = sim::Seconds(1e-6)};
    return c;
}

TEST(ReduceBroadcast, EveryMemberHoldsEveryContributionOnce) {
    for (int length = 2; length <= 9; ++length) {
        for (const double bytes : {100.0, 9000.0, 3e6}) {
            SCOPED_TRACE(length);
            Case c = line_case(length, bytes);
            std::unique_ptr<ReduceBroadcastCarrier> carrier;
            run_on(c.slice, c, [&](const CollectiveSchedule& built, sim::Workload&) {
                carrier = std::make_unique<ReduceBroadcastCarrier>(
                    built, static_cast<std::size_t>(length));
                return carrier.get();
            });
            const std::uint64_t all = (std::uint64_t{1} << length) - 1;
            for (std::size_t message = 0; message < carrier->messages(); ++message) {
                for (int chip = 0; chip < length; ++chip) {
                    EXPECT_EQ(carrier->result(message, static_cast<std::size_t>(chip)), all);
                }
            }
        }
    }
}

TEST(ReduceBroadcast, EqualsItsClosedForm) {
    for (int length = 2; length <= 12; ++length) {
        for (const double bytes : {100.0, 9000.0, 1e6, 3e7}) {
            for (const double latency : {0.0, 1e-9, 1e-6, 1e-3}) {
                for (const auto rule : {sim::LatencyRule::additive, sim::LatencyRule::floor}) {
                    Case c = line_case(length, bytes);
                    c.link.latency = sim::Seconds(latency);
                    c.link.rule = rule;
                    SCOPED_TRACE(describe(c));
                    const auto expected = closed_form(c.call(), c.options, c.link);
                    ASSERT_TRUE(expected.has_value());
                    EXPECT_EQ(run_on(c.slice, c).result.end, *expected);
                }
            }
        }
    }
}

// 4 chips in a line with 3e7 bytes at 1 GB/s: 192 messages of 156.25 us
// take (191 + 2 x 2) x 156.25 us and four hops of 1 us. In ReduceScatter
// then AllGather the end links carry 3/4 V in one direction, twice.
TEST(ReduceBroadcast, IsHalfAgainAsFastAsReduceScatterAndAllGather) {
    Case c = line_case(4, 3e7);
    const sim::Time pipelined = run_on(c.slice, c).result.end;
    EXPECT_EQ(pipelined.ps, (191 + 4) * 156'250'000LL + 4 * 1'000'000LL);
    c.algorithm = Algorithm::two_way;
    const sim::Time in_two = run_on(c.slice, c).result.end;
    EXPECT_NEAR(in_two.seconds() / pipelined.seconds(), 1.5, 0.05);
    const sim::Seconds bound = physical_bound(c.call(), c.link.rate);
    EXPECT_EQ(bound.value(), 0.03);  // V / r
    EXPECT_GE(bound.value() / pipelined.seconds(), 0.98);
}

TEST(ReduceBroadcast, BlocksOfAnAxisFoldToOneBlock) {
    Case c = line_case(8, 1e6);
    c.slice = box({8, 3, 1}, 3);
    c.group = {{.axis = 0, .stride = 1, .length = 4}};
    const std::vector<Group> groups{c.group};
    const topology::Lattice folded = topology::fold(c.slice, groups);
    EXPECT_EQ(folded.size(), 4);
    const Outcome few = run_on(folded, c);
    const Outcome all = run_on(c.slice, c);
    EXPECT_EQ(few.result.end, all.result.end);
    EXPECT_EQ(few.result.events * 6, all.result.events);
}

}  // namespace
}  // namespace podsim::collectives
