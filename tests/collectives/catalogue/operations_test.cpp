// The rows of the catalogue prove each other: each field of an operation follows from others.
#include "collectives/catalogue/operations.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <optional>
#include <set>
#include <string>

#include "collectives/catalogue/bandwidth.h"
#include "collectives/catalogue/bounds.h"
#include "collectives/catalogue/build_schedule.h"
#include "collectives/catalogue/choose_algorithm.h"
#include "sim/base/error.h"
#include "tests/collectives/carriers/all_reduce_carriers.h"
#include "tests/collectives/carriers/checks.h"
#include "tests/collectives/carriers/collective_support.h"
#include "tests/collectives/carriers/data_carrier.h"
#include "tests/collectives/carriers/pair_bytes.h"
#include "tests/collectives/carriers/piece_carrier.h"

namespace podsim::collectives {
namespace {

class OperationRow : public testing::TestWithParam<OperationInfo> {};

INSTANTIATE_TEST_SUITE_P(Catalogue, OperationRow, testing::ValuesIn(operation_rows()),
                         [](const auto& row) {
                             std::string name(row.param.name);
                             std::erase(name, '-');
                             return name;
                         });

/// Returns a case with the row's operation on the whole slice, with ends that suit it.
Case whole(const OperationInfo& row, const topology::Lattice& slice) {
    Case c;
    c.operation = row.operation;
    c.slice = slice;
    c.group = row.ends == EndsTaken::two_chips ? Group{} : whole_axes(slice);
    c.v = sim::Bytes(48e3 * slice.size());
    c.link = {.rate = sim::BytesPerSecond(9e10), .latency = sim::Seconds(1e-7)};
    c.options.message_cap = sim::Bytes(20e3);
    c.options.hop_bytes = sim::Bytes(9e3);
    c.options.chunks = c.options.alike_chunks = c.options.chunks_in_waves = 2;
    c.ends = {.root = {1, 0, 0}, .to = {0, 1, 0}, .shift = 2};
    return c;
}

template <class Carrier>
void expect_carried(const Case& c) {
    std::optional<Carrier> carrier;
    const Outcome run = run_on(c.slice, c, [&](const CollectiveSchedule& built, sim::Workload&) {
        return &carrier.emplace(c, built);  // the outcome keeps it
    });
    carrier->check_result();
    EXPECT_EQ(carrier->error(), "") << describe(c);
}

/// Carries data through the case's schedule and checks the promise of its operation.
void expect_promise_kept(const OperationInfo& row, const Case& c) {
    if (row.ends != EndsTaken::none) {
        EXPECT_EQ(carry(c), "") << describe(c);
    } else if (row.routed) {
        expect_pairs_exchange(c);
    } else if (c.algorithm == Algorithm::reduce_broadcast) {
        expect_carried<TreeCarrier>(c);
    } else if (c.algorithm == Algorithm::one_shot) {
        expect_carried<OneShotCarrier>(c);
    } else {
        expect_carried<DataCarrier>(c);
    }
}

TEST(OperationRows, StandInOrderUnderNamesOfTheirOwn) {
    std::set<std::string_view> names;
    std::set<std::string_view> summaries;
    std::size_t at = 0;
    for (const OperationInfo& row : operation_rows()) {
        EXPECT_EQ(static_cast<std::size_t>(row.operation), at++);
        EXPECT_EQ(info(row.operation).name, row.name);
        EXPECT_EQ(to_string(row.operation), row.name);
        EXPECT_EQ(parse_operation(row.name), row.operation);
        names.insert(row.name);
        summaries.insert(row.summary);
    }
    EXPECT_EQ(names.size(), operation_rows().size());
    EXPECT_EQ(summaries.size(), operation_rows().size());
    EXPECT_EQ(all_operations().size(), operation_rows().size());
    EXPECT_TRUE(
        std::ranges::equal(all_operations(), operation_rows(), {}, {}, &OperationInfo::operation));
}

TEST(OperationRows, AreFoundByName) {
    try {
        parse_operation("all-gathr");
        FAIL();
    } catch (const sim::InputError& error) {
        EXPECT_STREQ(
            error.what(),
            "unknown operation 'all-gathr'; did you mean 'all-gather'? allowed: all-gather, "
            "reduce-scatter, all-reduce, all-to-all, permute, send, broadcast, gather, scatter");
    }
}

/// Every algorithm that a row names builds a schedule that brings the data to where the operation
/// promises, on rings and on lines. The candidates of `auto` are among these algorithms.
TEST_P(OperationRow, EachAlgorithmCarriesTheData) {
    const OperationInfo& row = GetParam();
    for (const unsigned wrapped : {3U, 1U, 0U}) {
        Case c = whole(row, box({3, 4, 1}, wrapped));
        const std::vector<Algorithm> algorithms = row.algorithms(c.call());
        std::set<Algorithm> once(algorithms.begin(), algorithms.end());
        EXPECT_EQ(once.size(), algorithms.size());
        for (const Algorithm algorithm : algorithms) {
            c.algorithm = algorithm;
            EXPECT_EQ(resolve(c.call()), algorithm);
            expect_promise_kept(row, c);
        }
        const std::vector<Algorithm> candidates = row.candidates(c.call());
        for (const Algorithm candidate : candidates) {
            EXPECT_TRUE(once.contains(candidate)) << to_string(candidate);
        }
        c.algorithm = Algorithm::automatic;
        EXPECT_EQ(resolve(c.call()), candidates.front());
    }
}

/// Any other algorithm is refused, and the message names those that are allowed.
TEST_P(OperationRow, OtherAlgorithmsAreRefused) {
    const OperationInfo& row = GetParam();
    Case c = whole(row, box({3, 4, 1}, 1));
    const std::vector<Algorithm> algorithms = row.algorithms(c.call());
    std::string allowed = "allowed: auto";
    for (const Algorithm algorithm : algorithms) {
        allowed += ", " + std::string(to_string(algorithm));
    }
    for (const AlgorithmInfo& one : all_algorithms()) {
        if (one.algorithm == Algorithm::automatic ||
            std::ranges::find(algorithms, one.algorithm) != algorithms.end()) {
            continue;
        }
        c.algorithm = one.algorithm;
        try {
            resolve(c.call());
            ADD_FAILURE() << one.name;
        } catch (const sim::InputError& error) {
            const bool flat = one.algorithm == Algorithm::flat && row.ends == EndsTaken::none;
            EXPECT_EQ(error.problem(), flat ? "algorithm 'flat' is for several slices"
                                            : "algorithm '" + std::string(one.name) +
                                                  "' does not carry out " + std::string(row.name) +
                                                  " on this group");
            EXPECT_EQ(error.remedy(),
                      flat ? "allowed for one slice: auto and the others" : allowed);
        }
    }
}

/// Closed form, lower bound and physical bound agree with the
/// simulation, for every algorithm on a ring and on a line.
TEST_P(OperationRow, TimesAgree) {
    const OperationInfo& row = GetParam();
    bool any = false;
    for (const unsigned wrapped : {1U, 0U}) {
        Case c = whole(row, box({6, 1, 1}, wrapped));
        c.ends.to = {4, 0, 0};
        for (const Algorithm algorithm : row.algorithms(c.call())) {
            c.algorithm = algorithm;
            const sim::Time simulated = run_on(c.slice, c).result.end;
            EXPECT_LE(lower_bound(c.call(), c.link), simulated) << describe(c);
            EXPECT_LE(physical_bound(c.call(), c.link.rate).value(), simulated.seconds());
            if (const auto exact = closed_form(c.call(), c.options, c.link)) {
                EXPECT_EQ(*exact, simulated) << describe(c);
                any = true;
            }
        }
    }
    EXPECT_EQ(any, row.closed_form != nullptr);
    if (row.load != nullptr) {
        EXPECT_FALSE(row.routed);
    }
}

/// Bus bandwidth is the rate at which a member receives the bytes that it must. Its ratio to the
/// algorithm bandwidth, a factor of n, agrees with least_traffic or end_traffic.
TEST_P(OperationRow, BusBandwidthIsWhatAMemberTakes) {
    const OperationInfo& row = GetParam();
    EXPECT_NE(row.least_traffic == nullptr, row.end_traffic == nullptr);
    for (int n = 2; n <= 7; ++n) {
        Case c = whole(row, box({n, 1, 1}, 1));
        c.ends = {.root = {0, 0, 0}, .to = {1, 0, 0}};
        const double bytes = row.least_traffic != nullptr
                                 ? least_traffic(row.operation, n, c.v).mean.value()
                                 : row.end_traffic(c.call()).bytes.value();
        const Bandwidth both = bandwidth(row.operation, n, c.v, sim::Seconds(2));
        EXPECT_DOUBLE_EQ(both.bus.value() * 2, bytes) << n;
        EXPECT_DOUBLE_EQ(both.algorithm.value() * 2, c.v.value() / (row.counts_one_rank ? n : 1));
    }
}

/// Members are alike if a row takes no ends. Only such rows define an operation between slices, for
/// which the text counts V over DCN as often as an AllGather's time.
TEST_P(OperationRow, MembersAreAlikeOrHaveEnds) {
    const OperationInfo& row = GetParam();
    const bool alike = row.ends == EndsTaken::none;
    EXPECT_EQ(row.least_traffic != nullptr, alike);
    EXPECT_EQ(row.end_traffic == nullptr, alike);
    EXPECT_EQ(row.book_between_slices != nullptr, alike);
    EXPECT_EQ(row.book_gathers > 0, alike);
    EXPECT_TRUE(alike || row.routed);
    EXPECT_EQ(row.carried_by.empty(), !row.routed);
    EXPECT_TRUE(!row.towards_root || row.ends == EndsTaken::root);
    if (alike && !row.routed) {
        // An operation that counts twice the text's AllGather, within the slice and out of it, has
        // twice its mean traffic.
        EXPECT_EQ(row.book_between_slices(3), row.book_gathers);
        EXPECT_DOUBLE_EQ(least_traffic(row.operation, 5, sim::Bytes(1)).mean.value(),
                         row.book_gathers * 4 / 5);
    }
    Case c = whole(row, box({4, 1, 1}, 1));
    CollectiveCall call = c.call();
    call.members = {whole_axes(c.slice), {1, 2}};
    if (alike) {
        EXPECT_EQ(info(row.within_slices).routed, row.routed);
        call.algorithm = Algorithm::automatic;
        EXPECT_NO_THROW(resolve(call));
        return;
    }
    try {
        resolve(call);
        ADD_FAILURE() << "went between slices";
    } catch (const sim::InputError& error) {
        EXPECT_EQ(error.problem(), std::string(row.name) + " between slices is not available");
        EXPECT_EQ(error.remedy(), "use axes within one slice");
    }
}

/// A schedule depends on exactly the ends that its row takes.
TEST_P(OperationRow, TakesTheEndsThatItSays) {
    const OperationInfo& row = GetParam();
    const topology::Lattice line = box({7, 1, 1}, 0);
    const auto time = [&](const Ends& ends) {
        Case c = whole(row, line);
        c.ends = ends;
        return run_on(line, c).result.end;
    };
    // Each variant moves one end along the line, or shifts by more ranks.
    const Ends ends{.root = {1, 0, 0}, .to = {5, 0, 0}, .shift = 1};
    Ends root = ends;
    root.root = {3, 0, 0};
    Ends to = ends;
    to.to = {6, 0, 0};
    Ends shift = ends;
    shift.shift = 3;
    const bool rooted = row.ends == EndsTaken::root || row.ends == EndsTaken::two_chips;
    EXPECT_EQ(time(root) != time(ends), rooted);
    EXPECT_EQ(time(to) != time(ends), row.ends == EndsTaken::two_chips);
    EXPECT_EQ(time(shift) != time(ends), row.ends == EndsTaken::shift);
}

/// The first message goes towards the root or from it, as the row states.
TEST_P(OperationRow, GoesTowardsItsRootOrFromIt) {
    const OperationInfo& row = GetParam();
    if (row.ends != EndsTaken::root) {
        return;
    }
    const Case c = whole(row, box({3, 1, 1}, 0));
    const Outcome run = run_on(c.slice, c);
    const sim::Role& root = run.built.schedule.roles[run.built.schedule.role_of_place[1]];
    EXPECT_EQ(root.arrivals > 0, row.towards_root);
    EXPECT_EQ(root.transfer_count == 0, row.towards_root);
}

/// Routed operations refuse dead links on their axes; rings and lines avoid them.
TEST_P(OperationRow, OnlyWhatIsNotRoutedGoesRoundDeadLinks) {
    const OperationInfo& row = GetParam();
    Case c = whole(row, box({4, 4, 1}, 3));
    c.group = whole_axes(c.slice);
    c.options.dead_links = topology::DeadLinks(topology::Places(c.slice));
    c.options.dead_links.add(5, 0);
    ShiftTable shifts(c.slice);
    if (!row.routed) {
        EXPECT_NO_THROW(build_schedule(c.call(), c.options, shifts));
        return;
    }
    try {
        build_schedule(c.call(), c.options, shifts);
        ADD_FAILURE() << "went round a dead link";
    } catch (const sim::InputError& error) {
        EXPECT_EQ(
            error.problem(),
            std::string(row.name) + " cannot run: it does not go round the dead links of its axes");
        EXPECT_EQ(error.remedy(), "use another mesh, or leave the links of those axes alive");
    }
    // An operation on axes other than the dead link's runs.
    if (row.ends != EndsTaken::two_chips) {
        c.group = {{1, 1, 4}};
        EXPECT_NO_THROW(build_schedule(c.call(), c.options, shifts));
    }
}

/// The places of a row fold if its members are alike, and the folded run equals that of the whole.
/// A shift by 12 moves every member one along x; a shift by 2 carries over from y to x.
TEST_P(OperationRow, FoldsAsItSays) {
    const OperationInfo& row = GetParam();
    Case c = whole(row, box({4, 6, 2}, 3));
    c.ends.shift = 12;
    expect_fold_is_equal(c);
    const bool folds = row.ends == EndsTaken::none || row.ends == EndsTaken::shift;
    // Rings fold to one chip; the line keeps all its chips.
    EXPECT_EQ(row.places(c.call()).size(), folds ? 2 : 48);
    EXPECT_EQ(folded_places(c.call()), row.places(c.call()));
    c.ends.shift = 2;
    EXPECT_EQ(row.places(c.call()).size(), row.ends == EndsTaken::none ? 2 : 48);
    c.group = {{0, 1, 4}};
    if (row.ends == EndsTaken::root) {
        EXPECT_EQ(row.places(c.call()).size(), 4);  // unused axes fold
    }
}

}  // namespace
}  // namespace podsim::collectives
