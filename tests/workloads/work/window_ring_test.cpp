// Ring attention to a window: the routes of keys and values against a count of every query and key;
// FLOPs, bytes and HBM of every rank.
#include "workloads/work/window_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <utility>

#include "tests/workloads/step_program_support.h"
#include "workloads/bounds/step_flops.h"
#include "workloads/plan/plan.h"
#include "workloads/plan/ranks.h"
#include "workloads/plan/validate_plan.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::attention_flops;
using samples::Random;
using Way = WindowRing::Way;

/// Returns a plan of 32 tokens of one sequence with context parallelism of 4.
TrainingPlan four_ways(Placement placement) {
    TrainingPlan plan = samples::one_chip();
    plan.ways.context = 4;
    plan.attention.placement = placement;
    plan.overlap.context_steps = samples::ring(4, false);
    return plan;
}

ModelSpec windowed_layer(std::int64_t window) {
    ModelSpec model = samples::one_layer();
    model.window = window;
    return model;
}

using Pieces = std::set<int>;

/// Returns the pieces of a rank.
Pieces own(int rank, int ranks, bool zig_zag) {
    return zig_zag ? Pieces{rank, 2 * ranks - 1 - rank} : Pieces{rank};
}

// For every number of ranks, piece and window, each rank gets the keys that its queries see, query
// by query and key by key, once and nothing else. It computes every pair of pieces that see each
// other once, in the round that brings its keys.
TEST(WindowRing, BringsWhatQueriesSeeOnceAndNothingElse) {
    for (const bool zig_zag : {false, true}) {
        for (int ranks = 2; ranks <= 5; ++ranks) {
            for (int piece = 1; piece <= 4; ++piece) {
                const int pieces = zig_zag ? 2 * ranks : ranks;
                for (int window = 1; window < pieces * piece; ++window) {
                    SCOPED_TRACE(
                        ::testing::PrintToString(std::tuple{zig_zag, ranks, piece, window}));
                    Shard shard;
                    shard.sequence = pieces * piece;
                    shard.context = ranks;
                    shard.plain = !zig_zag;
                    shard.window = window;
                    const WindowRing ring(shard);
                    std::vector<Pieces> needed(static_cast<std::size_t>(ranks));
                    std::set<std::pair<int, int>> pairs;
                    std::map<int, int> owner;
                    for (int rank = 0; rank < ranks; ++rank) {
                        for (const int query : own(rank, ranks, zig_zag)) {
                            owner[query] = rank;
                            for (int at = query * piece; at < (query + 1) * piece; ++at) {
                                for (int key = std::max(0, at - window + 1); key <= at; ++key) {
                                    pairs.insert({query, key / piece});
                                    needed[static_cast<std::size_t>(rank)].insert(key / piece);
                                }
                            }
                        }
                    }
                    // Pieces that every rank received in each direction
                    // in the previous step; at first its own.
                    std::map<std::pair<int, Way>, int> has;
                    for (int rank = 0; rank < ranks; ++rank) {
                        has[{rank, Way::up}] = has[{rank, Way::turned}] = rank;
                        has[{rank, Way::down}] = pieces - 1 - rank;
                    }
                    std::vector<Pieces> got(static_cast<std::size_t>(ranks));
                    std::set<std::pair<int, int>> worked;
                    for (int round = 0; round <= ring.rounds(); ++round) {
                        std::vector<Pieces> came(static_cast<std::size_t>(ranks));
                        std::map<std::pair<int, Way>, int> now;
                        for (const Way way : WindowRing::kWays) {
                            const auto senders =
                                round == 0 ? WindowRing::Senders{} : ring.senders(way, round);
                            for (int rank = senders.first; rank <= senders.last; ++rank) {
                                const int to = rank + (way == Way::up ? 1 : -1);
                                ASSERT_TRUE(to >= 0 && to < ranks);
                                const int sent = has.at({rank, way});
                                now[{to, way}] = sent;
                                came[static_cast<std::size_t>(to)].insert(sent);
                                EXPECT_TRUE(got[static_cast<std::size_t>(to)].insert(sent).second);
                            }
                        }
                        if (round > 0) {
                            has = now;
                        }
                        for (int rank = 0; rank < ranks; ++rank) {
                            Pieces& there = came[static_cast<std::size_t>(rank)];
                            there = round == 0 ? own(rank, ranks, zig_zag) : there;
                            for (const auto& [query, key] : ring.pairs(rank, round)) {
                                EXPECT_EQ(owner[query], rank);
                                EXPECT_TRUE(there.contains(key));
                                EXPECT_TRUE(worked.insert({query, key}).second);
                            }
                        }
                    }
                    EXPECT_EQ(worked, pairs);
                    for (int rank = 0; rank < ranks; ++rank) {
                        Pieces all = got[static_cast<std::size_t>(rank)];
                        const Pieces mine = own(rank, ranks, zig_zag);
                        for (const int one : mine) {
                            EXPECT_FALSE(all.contains(one));
                        }
                        Pieces seen = needed[static_cast<std::size_t>(rank)];
                        for (const int one : mine) {
                            seen.erase(one);
                        }
                        EXPECT_EQ(all, seen);
                    }
                }
            }
        }
    }
}

// The dot products of all ranks are those of whole
// sequences, S W - W^2 / 2 pairs each, to the last FLOP.
TEST(WindowRing, FlopsOfAllRanksAreThoseOfTheWholeWindow) {
    int windows = 0;
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        ModelSpec model = samples::random_any_model(random);
        TrainingPlan plan = samples::random_any_plan(random, false, model);
        plan.attention.causal = true;
        plan.ways.context = 1 << random.from(1, 3);
        plan.batch.sequence =
            std::int64_t{2} * plan.ways.context * plan.ways.tensor * random.from(1, 16);
        plan.batch.tokens =
            plan.batch.sequence * plan.ways.data * plan.ways.fsdp * plan.ways.expert;
        model.window = random.from(1, static_cast<int>(plan.batch.sequence) - 1);
        samples::name_tensors(random, model, plan);
        TrainingPlan whole = plan;
        whole.ways.context = 1;
        plan.overlap.context_steps = samples::ring(plan.ways.context, false);
        const StepProgram alone = build_step(model, whole);
        for (const Placement placement : {Placement::zig_zag, Placement::plain}) {
            plan.attention.placement = placement;
            validate(plan, model);
            const StepPrograms ranks = build_stages(model, plan);
            ASSERT_EQ(ranks.programs.size(), static_cast<std::size_t>(plan.ways.context));
            ++windows;
            for (const Pass pass : {Pass::forward, Pass::recompute, Pass::backward}) {
                double sum = 0;
                for (const StepProgram& program : ranks.programs) {
                    sum += attention_flops(program, pass);
                }
                EXPECT_EQ(sum, attention_flops(alone, pass));
            }
            for (const StepProgram& program : ranks.programs) {
                samples::expect_buffers_in_order(program);
            }
        }
    }
    EXPECT_EQ(windows, 300);
}

// S = 32, W = 12. In plain order, with pieces of 8, the ranks have as many pairs as with gathered
// keys. In zig-zag order, with pieces of 4, they are 8, 24, 40 and then 48 each (queries before 12
// see 0 to 11 keys); rank r has the pieces r and 7 - r.
TEST(WindowRing, RankHasItsShare) {
    const std::map<Placement, std::vector<double>> pairs{
        {Placement::plain, {32, 88, 96, 96}}, {Placement::zig_zag, {8 + 48, 24 + 48, 40 + 48, 96}}};
    for (const auto& [placement, of_rank] : pairs) {
        for (int rank = 0; rank < 4; ++rank) {
            const StepProgram program =
                build_step(windowed_layer(12), four_ways(placement), {.context = rank});
            EXPECT_EQ(attention_flops(program, Pass::forward),
                      64 * of_rank[static_cast<std::size_t>(rank)]);
            EXPECT_EQ(attention_flops(program, Pass::backward),
                      2 * 64 * of_rank[static_cast<std::size_t>(rank)]);
        }
    }
}

/// Returns the bytes that all members send over the context axis in one pass.
double sent(const StepProgram& program, Pass pass) {
    double sum = 0;
    for (const Op& op : program.ops) {
        const auto* one = std::get_if<Collective>(&op.work);
        if (one != nullptr && one->step && op.pass == pass) {
            const auto& [first, last] = *one->step->senders;
            sum += one->step->bytes.value() * (last - first + 1);
            EXPECT_DOUBLE_EQ(one->bytes.value() * 3, one->step->bytes.value() * (last - first + 1));
        }
    }
    return sum;
}

// A key and a value of 2 heads of 4 + 4, 2 bytes each, take 32 bytes a token. In plain order pieces
// of 8 reach 2 back: 3 + 2 of them move. In zig-zag order pieces of 4 reach 3 back: first ones 3 +
// 2 + 1, second ones 3 + 2 + 1, and behind the middle, where 5 and 6 see the last rank's first
// piece (3), 2. Backward keys and values move once more, and so do their gradients. A window of all
// but one key reaches everything: plain 3 + 2 + 1 of 8.
TEST(WindowRing, BytesAreThoseOfThePiecesThatAreSeen) {
    const auto of = [](Placement placement, std::int64_t window) {
        return build_step(windowed_layer(window), four_ways(placement), {.context = 1});
    };
    EXPECT_EQ(sent(of(Placement::plain, 12), Pass::forward), 5 * 8 * 32);
    EXPECT_EQ(sent(of(Placement::plain, 12), Pass::backward), 2 * 5 * 8 * 32);
    EXPECT_EQ(sent(of(Placement::zig_zag, 12), Pass::forward), (6 + 6 + 2) * 4 * 32);
    EXPECT_EQ(sent(of(Placement::zig_zag, 12), Pass::backward), 2 * (6 + 6 + 2) * 4 * 32);
    EXPECT_EQ(sent(of(Placement::plain, 31), Pass::forward), 6 * 8 * 32);
    // A window of one key moves nothing. A window one longer than a piece reaches one piece back (9
    // - 1 = 8), a longer one two.
    EXPECT_EQ(sent(of(Placement::plain, 1), Pass::forward), 0);
    EXPECT_EQ(sent(of(Placement::plain, 9), Pass::forward), 3 * 8 * 32);
    EXPECT_EQ(sent(of(Placement::plain, 10), Pass::forward), 5 * 8 * 32);
}

// In plain order the HBM of a rank's parts is that of its attention to gathered keys. In addition
// each part reads the rank's queries (forward 8 x 4 x (4 + 4) elements with outputs), and later
// parts read the outputs so far, 8 x 4 x 4.
TEST(WindowRing, ReadsTheKeysOfItsWindow) {
    const double own = 2 * 8 * 4 * 8;
    const double again = 2 * 8 * 4 * 4;
    for (const double vmem : {1e9, 0.0}) {
        for (int rank = 0; rank < 4; ++rank) {
            Shard shard =
                make_shard(windowed_layer(12), four_ways(Placement::plain), {.context = rank});
            shard.vmem = vmem;
            const WindowRing ring(shard);
            double forward = 0;
            double backward = 0;
            int parts = 0;
            for (int round = 0; round <= ring.rounds(); ++round) {
                const auto pairs = ring.pairs(rank, round);
                if (!pairs.empty()) {
                    forward += attention_forward_part(shard, pairs, round == 0).hbm.value();
                    backward += attention_backward_part(shard, pairs, round == 0).hbm.value();
                    ++parts;
                }
            }
            EXPECT_EQ(parts, std::min(rank, 2) + 1);
            EXPECT_EQ(forward,
                      attention_forward(shard, true).hbm.value() + (parts - 1) * (own + again));
            // Gathered keys have zeros written for blocks that
            // no query sees; here such blocks cost nothing.
            const double unseen = 2 * 32 * 2 * 8 * (4 - parts) / 4;
            EXPECT_EQ(backward, attention_backward(shard, true).hbm.value() - unseen +
                                    (parts - 1) * (2 * own + again));
        }
    }
}

// The farthest block is the first whose gradients return,
// one rank a step, and each rank on the route adds its own.
TEST(WindowRing, GradientsComeBackFromTheFarthestRank) {
    const StepProgram program =
        build_step(windowed_layer(12), four_ways(Placement::plain), {.context = 3});
    EXPECT_THAT(samples::edges(program, "forward", "attention 1/3", "out"),
                ::testing::ElementsAre(
                    "attention 1/3: qkv,", "gather keys and values up step 1: qkv,",
                    "attention 2/3: attention 1/3, gather keys and values up step 1,",
                    "gather keys and values up step 2: gather keys and values up step 1,",
                    "attention 3/3: attention 2/3, gather keys and values up step 2,",
                    "out: attention 3/3,"));
    EXPECT_THAT(
        samples::edges(program, "backward", "attention gradient 1/3", "qkv input gradient"),
        ::testing::ElementsAre(
            "attention gradient 1/3: out weight gradient,",
            "gather keys and values up step 1: out weight gradient,",
            "gather keys and values up step 2: gather keys and values up step 1,",
            "attention gradient 3/3: attention gradient 1/3, gather keys and values up step 2,",
            "scatter attention gradient up step 2: attention gradient 3/3,",
            "attention gradient 2/3: gather keys and values up step 1, attention gradient 3/3,",
            "scatter attention gradient up step 1: scatter attention gradient up step 2, attention "
            "gradient 2/3,",
            "qkv input gradient: attention gradient 2/3, scatter attention gradient up step 1,"));
    const auto& back = std::get<Collective>(
        program
            .ops[samples::find_op(program, "layer 0 backward scatter attention gradient up step 2")]
            .work);
    EXPECT_EQ(back.step, (collectives::RingStep{0, -1, sim::Bytes(8 * 32), std::pair{2, 3}}));
}

// Pieces of 8 keys and values take 32 bytes each. Forward, a rank holds the one that is read and
// the one that arrives; backward also a sum for each of two rounds. They are held until the last
// part has read them and the last sum has returned.
TEST(WindowRing, PiecesAreHeldUntilTheLastPartHasReadThem) {
    const StepProgram program =
        build_step(windowed_layer(12), four_ways(Placement::plain), {.context = 3});
    const auto freed_after = [&](const std::string& first, double bytes) {
        std::vector<std::string> names;
        for (const Buffer& buffer : program.buffers) {
            if (buffer.memory_class == MemoryClass::buffers && buffer.bytes == sim::Bytes(bytes) &&
                buffer.allocated_at == samples::find_op(program, first)) {
                for (const OpIndex op : buffer.freed_after) {
                    names.push_back(program.ops[op].name);
                }
            }
        }
        return names;
    };
    EXPECT_THAT(
        freed_after("layer 0 forward attention 1/3", 2 * 8 * 32),
        ::testing::UnorderedElementsAre("layer 0 forward attention 3/3",
                                        "layer 0 forward gather keys and values up step 2"));
    EXPECT_THAT(
        freed_after("layer 0 backward attention gradient 1/3", 4 * 8 * 32),
        ::testing::UnorderedElementsAre("layer 0 backward attention gradient 2/3",
                                        "layer 0 backward gather keys and values up step 2",
                                        "layer 0 backward scatter attention gradient up step 1"));
}

// Layers that see all keys go round the whole ring, beside those that do not; a window of the whole
// sequence counts as none.
TEST(WindowRing, GlobalLayersGoRound) {
    ModelSpec model = windowed_layer(12);
    model.layers = 2;
    model.global_every = 2;
    const StepProgram program = build_step(model, four_ways(Placement::zig_zag), {.context = 2});
    const auto steps = [&](const std::string& layer) {
        int count = 0;
        for (const Op& op : program.ops) {
            const auto* one = std::get_if<Collective>(&op.work);
            count += one != nullptr && one->step && op.name.starts_with(layer + " forward") ? 1 : 0;
        }
        return count;
    };
    EXPECT_EQ(steps("layer 0"), 3 + 3 + 2);  // up, down, turned
    EXPECT_EQ(steps("layer 1"), 3);
    EXPECT_FALSE(uneven_context(four_ways(Placement::zig_zag), windowed_layer(32)));
    EXPECT_TRUE(uneven_context(four_ways(Placement::zig_zag), windowed_layer(31)));
}

}  // namespace
}  // namespace podsim::workloads
