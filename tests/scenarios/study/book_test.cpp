// The reference text's worked numbers: the suite of scenarios/book, the formulas of `expect:`,
// and refusals.
#include <set>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/scenario/formulas.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/schema.h"
#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using Book = CommandTest;

TEST_F(Book, EveryScenarioHolds) {
    const Outcome outcome =
        podsim({"compare", source_folder() + "/scenarios/book", "--json", path("r.json")});
    EXPECT_EQ(outcome.status, 0) << outcome.out;
    std::ifstream file(path("r.json"));
    const Json json = Json::parse(file);
    EXPECT_GE(json["scenarios"].size(), 170U);
    for (const Json& scenario : json["scenarios"]) {
        EXPECT_FALSE(scenario["expectations"].empty()) << scenario["scenario"];
        for (const Json& expectation : scenario["expectations"]) {
            EXPECT_NE(expectation["source"], "") << scenario["scenario"];
            EXPECT_NE(expectation["analytic"].is_null(), expectation["simulated"].is_null());
        }
    }
}

// The simulated time is the text's time plus the named terms, to the picosecond of the
// rounded ends.
TEST_F(Book, TheGapToTheTextAddsUp) {
    for (const char* const name :
         {"popquiz-allgather-v5e", "popquiz-allgather-tiny", "ex3.2-allgather-x",
          "ex3.2-allgather-xy", "ex3.2-allreduce-z", "ex3.3-latency", "ex2.5-p2p"}) {
        const Json json = Json::parse(
            podsim({"run", source_folder() + "/scenarios/book/" + name + ".yaml", "--json", "-"})
                .out);
        double sum = 0;
        for (const auto& [term, seconds] : json["gap_to_book_s"].items()) {
            sum += seconds.get<double>();
        }
        const double step = json["step_time_s"];
        EXPECT_NEAR(sum, step - json["analytic"]["book_s"].get<double>(), 1.1e-12) << name;
    }
}

// V = 2 MiB over a ring of 4 at 45 GB/s in each direction: the text takes V / 90 GB/s, a chip
// receives 3/4 of it.
TEST_F(Book, TheGapToTheTextIsWhatAChipNeedNotReceiveAndLatency) {
    const Json json =
        Json::parse(podsim({"run",
                            write("hardware: {chip: v4p, slice: 4x4x4, profile: ideal}\n"
                                  "program: {stages: [{do: all-gather, axes: x, bytes: 2 MiB}]}\n"),
                            "--json", "-"})
                        .out);
    const double whole = 2097152 / 9e10;
    EXPECT_NEAR(json["analytic"]["book_s"], whole, 1e-15);
    EXPECT_NEAR(json["gap_to_book_s"]["(n-1)/n"], -whole / 4, 1.1e-12);
    EXPECT_EQ(json["gap_to_book_s"]["text's latency"], 0);
    EXPECT_NEAR(json["gap_to_book_s"]["latency"], 2e-6, 1e-12);
}

constexpr const char* kFormulaScenario =
    "hardware: {chip: v5p, slice: 4x4x8, slices: 2, profile: ideal}\n"
    "model: {layers: 3, d_model: 512, d_ff: 1280, heads: 8, kv_heads: 4, head_dim: 64, vocabulary: "
    "1000}\n"
    "batch: {tokens: 256Ki, sequence: 1024}\n"
    "mesh: {data: slice, fsdp: x z, tensor: y}\n"
    "report: {tokens: 1G, mfu: 50 %}\n";

// Every formula from its exact inputs: D 512, F 1280, L 3; N 256 chips, 2^18 tokens; alpha 2550; X
// 32 on 2 axes of a slice, Y 4 on one.
TEST_F(Book, FormulasOfAScenario) {
    const Scenario scenario = load_scenario(write(kFormulaScenario));
    const auto value = [&](std::string_view name) { return find_formula(name)->value(scenario); };
    const double mlp = 3.0 * 3 * 512 * 1280;
    const double attention = 3.0 * 512 * 64 * (2 * 8 + 2 * 4);
    const double vocabulary = 2.0 * 1000 * 512;
    const double norms = 7.0 * 512;
    const double all = mlp + attention + vocabulary + norms;
    EXPECT_EQ(value("parameters_mlp"), mlp);
    EXPECT_EQ(value("parameters_attention"), attention);
    EXPECT_EQ(value("parameters_vocabulary"), vocabulary);
    EXPECT_EQ(value("parameters"), all);
    EXPECT_EQ(value("flops_per_token"), 6 * all);
    EXPECT_EQ(value("training_flops"), 6 * all * 1e9);
    EXPECT_DOUBLE_EQ(value("training_days"), 6 * all * 1e9 / (256 * 4.59e14 * 0.5) / 86400);
    const double checkpoints = 2.0 * 4 * 3 * 262144 * 512;
    EXPECT_EQ(value("book_memory_parameters"), 2 * all);
    EXPECT_EQ(value("book_memory_optimizer"), 8 * all);
    EXPECT_EQ(value("book_memory_checkpoints"), checkpoints);
    EXPECT_EQ(value("book_memory_checkpoints_wide"), checkpoints / 512 * 1280);
    EXPECT_EQ(value("book_memory"), 10 * all + checkpoints);
    EXPECT_DOUBLE_EQ(value("book_memory_chips"),
                     (10 * all + checkpoints) / (96.0 * 1024 * 1024 * 1024));
    EXPECT_EQ(value("book_memory_per_chip"), (10 * all + checkpoints) / 256);
    EXPECT_EQ(value("tokens_per_chip"), 1024);
    EXPECT_EQ(value("tokens_per_slice"), 131072);
    EXPECT_EQ(value("least_tokens_per_chip"), 1275);
    EXPECT_DOUBLE_EQ(value("most_tensor_ways"), 1280 / 2550.0);
    EXPECT_DOUBLE_EQ(value("least_tokens_per_chip_mixed"), 4 * 2550.0 * 2550 / (2 * 1280));
    EXPECT_DOUBLE_EQ(value("least_tokens_per_chip_concurrent"), 2550.0 * 2550 / (2 * 1280));
    EXPECT_DOUBLE_EQ(value("optimal_fsdp_ways"), std::sqrt(131072.0 * 2 * 128 / 1280));
    EXPECT_DOUBLE_EQ(value("communication_to_compute"), 2550 * (32 / (131072.0 * 2) + 4 / 1280.0));
    EXPECT_EQ(value("least_tokens_per_slice"), 73440);
    // A host has 2 x 2 of them, a chip two cores.
    EXPECT_EQ(value("hosts"), 64);
    EXPECT_EQ(value("cores"), 512);
    EXPECT_EQ(value("peak_flops"), 256 * 4.59e14);
    EXPECT_EQ(value("memory_of_all"), 256 * (96.0 * 1024 * 1024 * 1024));
}

TEST_F(Book, CheckpointsAndPriceAreThoseOfTheReport) {
    const std::string text(kFormulaScenario);
    const Scenario scenario = load_scenario(
        write(text.substr(0, text.rfind('}')) + ", checkpoints: 12, price: 3 USD/chip-hour}\n"));
    const auto value = [&](std::string_view name) { return find_formula(name)->value(scenario); };
    EXPECT_EQ(value("book_memory_checkpoints"), 2.0 * 12 * 3 * 262144 * 512);
    EXPECT_EQ(value("flops_per_usd"), 4.59e14 * 1200);
}

// On 4x4x8 at 512Ki tokens of a slice, F = 8192: B M_X / (2 alpha) = 2^20 / 5100,
// B M_X N / F = 2^14.
TEST_F(Book, WaysThatStayComputeBound) {
    const Scenario scenario = load_scenario(
        write("hardware: {chip: v5p, slice: 4x4x8, profile: ideal}\n"
              "model: {layers: 3, d_model: 512, d_ff: 8192, heads: 8, vocabulary: 1000}\n"
              "batch: {tokens: 512Ki, sequence: 1024}\n"
              "mesh: {fsdp: x z, tensor: y}\n"));
    const double middle = 1048576 / 5100.0;
    const double half = std::sqrt(middle * middle - 16384);
    EXPECT_DOUBLE_EQ(find_formula("least_fsdp_ways")->value(scenario), middle - half);
    EXPECT_DOUBLE_EQ(find_formula("most_fsdp_ways")->value(scenario), middle + half);
}

// int8[2, 128] x int8[128, 64] and back, with fp32 in between: 2 x 2 x 2 x 128 x 64 FLOPs and
// 2 x (128 x 64 + 4 x 2 x (128 + 64)) bytes.
TEST_F(Book, IntensitiesOfAProgram) {
    const std::string text =
        "hardware: {chip: v5e, slice: 4x2, profile: ideal}\n"
        "program:\n"
        "  stages:\n"
        "    - {do: matmul, m: 2, k: 128, n: 64, weights: int8, activations: fp32, dtype: int8}\n"
        "    - {do: matmul, m: 2, k: 64, n: 128, weights: int8, activations: fp32, dtype: int8}\n";
    const std::string expect =
        "expect:\n"
        "  hosts: {of: 1, within: 0 %}\n"
        "  arithmetic_intensity: {of: 3.368421052631579, within: 0.0001 %}\n"
        "  critical_intensity: {of: 486.4197530864197, within: 0.0001 %}\n";
    const Outcome outcome = podsim({"run", write(text + expect), "--json", "-"});
    EXPECT_EQ(outcome.status, 0) << outcome.err << outcome.out;
    const Json verdicts = Json::parse(outcome.out)["expectations"];
    EXPECT_EQ(verdicts[1]["analytic"], 65536 / 19456.0);
    EXPECT_TRUE(verdicts[1]["simulated"].is_null());
    expect_refused(text + "    - {do: read-hbm, bytes: 1 MB}\n" + expect,
                   "s.yaml:9:25: expect.arithmetic_intensity: the scenario is no program of "
                   "matmuls of one dtype; write program: {stages: [{do: matmul, ...}]}\n"
                   "s.yaml:10:23: expect.critical_intensity: the scenario is no program of "
                   "matmuls of one dtype; write program: {stages: [{do: matmul, ...}]}");
}

TEST_F(Book, RoundedParametersAreCountedWith) {
    const std::string text(kFormulaScenario);
    const Scenario scenario =
        load_scenario(write(text.substr(0, text.rfind('}')) + ", parameters: 70G}\n"));
    EXPECT_EQ(find_formula("flops_per_token")->value(scenario), 4.2e11);
    EXPECT_EQ(find_formula("book_memory_optimizer")->value(scenario), 560e9);
    EXPECT_LT(find_formula("parameters")->value(scenario), 1e9);
}

TEST(Formulas, TheSchemaHasEachOnce) {
    std::set<std::string> names;
    for (const std::string& name : keys_of("expect")) {
        names.insert(name);
    }
    for (const Formula& formula : all_formulas()) {
        const std::string name(formula.quantity.name);
        EXPECT_TRUE(names.contains(name)) << name;
        EXPECT_EQ(find_formula(name), &formula);
    }
    EXPECT_FALSE(find_quantity("step_time").analytic);
    EXPECT_TRUE(find_quantity("book").analytic);
    EXPECT_TRUE(find_quantity("roofline_lower").analytic);
}

TEST_F(Book, AFormulaThatFailsIsStatus1AndNotCalledSimulated) {
    const Outcome outcome = podsim(
        {"run",
         write(std::string(kGood) + "expect: {least_tokens_per_chip: {of: 800, within: 6.2 %}}\n"),
         "--json", "-"});
    EXPECT_EQ(outcome.status, 1);
    const Json verdict = Json::parse(outcome.out)["expectations"][0];
    EXPECT_EQ(verdict["analytic"], 850);
    EXPECT_TRUE(verdict["simulated"].is_null());
    EXPECT_EQ(verdict["error"], 0.0625);
}

TEST_F(Book, SaysWhatIsWrong) {
    const std::string good(kGood);
    const auto expecting = [&](const std::string& quantity, const std::string& of) {
        return good + "expect: {" + quantity + ": {of: " + of + ", within: 1 %}}\n";
    };
    expect_refused(expecting("training_flops", "1"),
                   "s.yaml:5:26: expect.training_flops: the scenario has no token budget; write "
                   "report.tokens, such as 15T");
    expect_refused(
        "report: {tokens: 1T}\n" + expecting("training_days", "1"),
        "s.yaml:6:25: expect.training_days: the scenario states no MFU; write report.mfu, "
        "such as 40 %");
    expect_refused(
        expecting("optimal_fsdp_ways", "1"),
        "s.yaml:5:29: expect.optimal_fsdp_ways: the mesh has no tensor parallelism; write "
        "mesh.tensor");
    expect_refused(expecting("flops_per_usd", "1"),
                   "s.yaml:5:25: expect.flops_per_usd: the scenario has no price; write "
                   "report.price, such as 4.20 USD/chip-hour");
    expect_refused(expecting("critical_intensity", "1"),
                   "s.yaml:5:30: expect.critical_intensity: the scenario is no program of matmuls "
                   "of one dtype; write program: {stages: [{do: matmul, ...}]}");
    expect_refused(
        kFormulaScenario + std::string("expect: {most_fsdp_ways: {of: 1, within: 1 %}}\n"),
        "s.yaml:6:26: expect.most_fsdp_ways: no ways of FSDP keep this batch "
        "compute-bound; write more batch.tokens");
    expect_refused("report: {checkpoints: 0}\n" + good,
                   "s.yaml:1:23: report.checkpoints: the count is zero; leave it out for no "
                   "estimate");
    expect_refused(expecting("least_tokens_per_slice", "1"),
                   "s.yaml:5:34: expect.least_tokens_per_slice: there is a single slice; write "
                   "hardware.slices");
    expect_refused(
        expecting("book_memory", "1"),
        "s.yaml:5:28: expect.book_memory.of: '1' has no unit; write a size such as 64 MiB; "
        "units: B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB");
    expect_refused(
        expecting("tokens_per_chip", "468 tokens"),
        "s.yaml:5:32: expect.tokens_per_chip.of: '468 tokens' has the unknown unit 'tokens'; "
        "write a number such as 13.9 or 70.4G; units: k, M, G, T, Ki, Mi, Gi, Ti");
    expect_refused("report: {mfu: 140 %}\n" + good,
                   "s.yaml:1:15: report.mfu: '140 %' is not above 0 % and at most 100 %; write a "
                   "percentage such as 40 %");
    expect_refused(
        "report: {parameters: 0}\n" + good,
        "s.yaml:1:22: report.parameters: the count is zero; leave it out for no estimate");
    const Outcome unknown = podsim({"run", write(expecting("training_day", "1"))});
    EXPECT_EQ(unknown.status, 2);
    EXPECT_EQ(
        plain(unknown.err).substr(0, 83),
        "s.yaml:5:10: unknown expect key 'training_day'; did you mean 'training_days'? allow");
    expect_refused(
        "hardware: {chip: v5e, slice: 4x4}\n"
        "program: {pieces: 2, stages: [{do: all-gather, axes: x, bytes: 1 MB}]}\n"
        "expect: {book: {of: 1 us, within: 1 %}}\n",
        "s.yaml:3:16: expect.book: the reference text has no time of this program; expect it of "
        "one collective, in one piece");
}

}  // namespace
}  // namespace podsim::scenarios
