// Refusals of a search, with the positions in their messages.
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "scenarios/src/search/search_spec.h"
#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;

using SearchUsage = CommandTest;

TEST_F(SearchUsage, RefusesWhatItCannotSearch) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 2x2x4}\nmodel: llama-3-8b\n"
        "batch: {tokens: 64Ki, sequence: 4096}\n");
    const auto expect = [&](const std::vector<std::string>& more, const std::string& message) {
        std::vector<std::string> args{"search", file};
        args.insert(args.end(), more.begin(), more.end());
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 2);
        EXPECT_EQ(outcome.err, message + '\n');
    };
    expect({"--over", "mesh,remt"},
           "--over: unknown name of what a search goes over 'remt'; did you mean 'remat'? allowed: "
           "mesh, slice, remat, prefetch, overlap, weights, schedule, microbatches");
    expect({"--set", "search.objective=cost"},
           "--set search.objective=cost: a cost is asked for, but no price is known; write report: "
           "{tokens: 15T, price: 4.20 USD/chip-hour}");
    expect({"--set", "search.objective=chips"},
           "--set search.objective=chips: the fewest chips are asked for, but not for what; write "
           "search: {deadline: 2 s}");
    expect(
        {"--over", "remat", "--vary", "training.remat=full"},
        "--vary: 'training.remat' is varied twice; leave it out of --over, or give all its values "
        "in one --vary");
    expect({"--over", "mesh", "--vary", "mesh={fsdp: x y z}"},
           "--vary: 'mesh' is varied twice; leave mesh out of --over, or out of --vary");
    expect({"--over", "mesh", "--vary", "search.deadline=1 s,2 s"},
           "--vary: 'search.deadline' is what a search is asked for, and does not vary; give its "
           "value with --set, and search once for each");
    expect({"--set", "search.mesh.tensr=any"},
           "--set search.mesh.tensr=any: unknown search.mesh key 'tensr'; did you mean 'tensor'? "
           "allowed: data, fsdp, context, tensor, tensor_transpose, cache, pipeline, expert");
    expect({"--vary", "batch.tokns=1Mi"},
           "--vary batch.tokns=1Mi: unknown batch key 'tokns'; did you mean 'tokens'? allowed: "
           "tokens, sequence");
    expect({"--set", "search.mesh={tensor: 0}"},
           "--set search.mesh={tensor: 0}: search.mesh.tensor: 0 ways; write sizes from 1 to "
           "100000");
    expect({"--over", "mesh", "--set", "mesh={fsdp: x y z}"},
           "--set mesh={fsdp: x y z}: the search goes over the mesh, so that this one is lost; "
           "leave out this --set, or name with --over what varies, without mesh");
    expect({"--over", "mesh", "--set", "mesh_mapping=jax"},
           "--set mesh_mapping=jax: it maps sizes to axes, and a search for the mesh tries all "
           "axes; leave it out, or name with --over what varies, without mesh");
    expect({"--over", "mesh", "--vary", "mesh_mapping=jax,podsim"},
           "--vary: 'mesh_mapping' maps sizes to axes, and a search for the mesh tries all axes; "
           "leave mesh out of --over, or do not vary it");
}

// `mesh: auto` is a question that a run does not answer.
TEST_F(SearchUsage, FindsTheMeshThatIsAuto) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 2x2x4}\n"
        "model: {base: llama-3-8b, layers: 2}\n"
        "batch: {tokens: 64Ki, sequence: 4096}\nmesh: auto\n");
    EXPECT_EQ(podsim({"run", file}).err,
              file +
                  ":4:7: 'mesh' is auto, which is for a search to find; podsim search FILE finds "
                  "the best; to run one, write mesh: {fsdp: x y, tensor: z}\n");
    const Outcome outcome = podsim({"search", file, "--json", "-", "--no-explain"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out);
    // 3 rows of 2, two of which are 6 in any order; 9 of 4.
    EXPECT_EQ(json["counts"]["enumerated"], 54);
}

// The help and the document have the values of each name of --over.
TEST_F(SearchUsage, HelpAndDocumentHaveTheUsualValues) {
    const std::string help = podsim({"search", "--help"}).out;
    std::ifstream file(source_folder() + "/docs/search.md");
    const std::string document((std::istreambuf_iterator<char>(file)), {});
    EXPECT_THAT(help, HasSubstr("\n  slice         hardware.slice           those that the "
                                "catalogue offers,\n"
                                "                                         a quarter to twice the "
                                "chips\n"));
    EXPECT_THAT(help, HasSubstr("\n  microbatches  training.microbatches    1, 2, 4, 8, 16\n"));
    std::string on_one_line;
    std::istringstream words(help);
    for (std::string word; words >> word;) {
        on_one_line += word + ' ';
    }
    for (const OverName& each : over_names()) {
        for (const std::string& value : each.values) {
            EXPECT_THAT(on_one_line, HasSubstr(value)) << each.name;
        }
        EXPECT_THAT(document, HasSubstr(fmt::format("| `{}` | `{}` | {} |", each.name, each.key,
                                                    fmt::join(each.values, ", "))));
    }
    EXPECT_THAT(help, HasSubstr("else mesh,\nremat, prefetch, overlap; of a step of inference "
                                "mesh, prefetch."));
}

// A refusal has the words and the line of the section, or those of the option that replaces it.
TEST_F(SearchUsage, SaysWhereItWasAsked) {
    const std::string step =
        "hardware: {chip: v5p, slice: 2x2x4}\nmodel: llama-3-8b\n"
        "batch: {tokens: 64Ki, sequence: 4096}\n";
    const auto expect = [&](const std::string& section, const std::string& message,
                            const std::vector<std::string>& more = {}) {
        std::vector<std::string> args{"search", write(step + section)};
        args.insert(args.end(), more.begin(), more.end());
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 2) << message;
        EXPECT_EQ(plain(outcome.err), message + '\n');
    };
    expect("search: {over: 'mesh,remat'}\n",
           "s.yaml:4:16: search.over: several names in one text; write a list, such as [mesh, "
           "remat]");
    expect_refused(
        step + "search: {over: 'mesh,remat'}\n",
        "s.yaml:4:16: search.over: several names in one text; write a list, such as [mesh, "
        "remat]");
    expect("search: {over: [mesh, remt]}\n",
           "s.yaml:4:23: unknown name of what a search goes over 'remt'; did you mean 'remat'? "
           "allowed: mesh, slice, remat, prefetch, overlap, weights, schedule, microbatches");
    expect_refused(step + "search: {over: [mesh, remt]}\n",
                   "s.yaml:4:23: unknown search.over 'remt'; did you mean 'remat'? allowed: mesh, "
                   "slice, remat, prefetch, overlap, weights, schedule, microbatches");
    expect_refused(step + "search: {over: meshes}\n",
                   "s.yaml:4:16: unknown search.over 'meshes'; did you mean 'mesh'? allowed: mesh, "
                   "slice, remat, prefetch, overlap, weights, schedule, microbatches");
    // The parser has no position for an empty entry: the list gives it.
    expect_refused(step + "search:\n  over:\n    - mesh\n    -\n    - remat\n",
                   "s.yaml:6:5: an entry of 'search.over' is nothing; write over: [mesh, remat]");
    expect_refused(step + "search: {over: [mesh, {a: 1}]}\n",
                   "s.yaml:4:23: an entry of 'search.over' is a map; write over: [mesh, remat]");
    const std::string no_axis =
        "s.yaml:4:16: search.mesh: names no axis; write such as {fsdp: any, tensor: [1, 2, 4]}, or "
        "leave it out for the usual ones";
    expect_refused(step + "search: {mesh: {}}\n", no_axis);
    expect("search: {mesh: {}}\n", no_axis);
    expect("search: {mesh: {fsdp: [1, 2]}}\n",
           "s.yaml:4:16: no sizes of search.mesh multiply to the chips of the machine; leave "
           "search.mesh out, or let an axis have any size",
           {"--over", "mesh"});
    expect("",
           "--over: names nothing; allowed: mesh, slice, remat, prefetch, overlap, weights, "
           "schedule, microbatches",
           {"--over", ","});
    expect("search:\n  vary:\n    - training.remat=none,full\n    - batch.tokns=1Mi\n",
           "s.yaml:7:7: unknown batch key 'tokns'; did you mean 'tokens'? allowed: tokens, "
           "sequence");
    const std::string form = "write --vary key.path=value,value, as in --vary mesh.tensor=x%2,x%4";
    expect("search: {vary: [batch.tokens]}\n",
           "s.yaml:4:17: search.vary: 'batch.tokens' has no '='; " + form);
    expect("search: {vary: [batch.tokens]}\n",
           "--set search.vary=batch.sequence: search.vary: 'batch.sequence' has no '='; " + form,
           {"--set", "search.vary=batch.sequence"});
    expect("search: {over: remat, vary: ['training.remat=full']}\n",
           "s.yaml:4:30: 'training.remat' is varied twice; leave it out of --over, or give all its "
           "values in one --vary");
    expect("search: {objective: cost}\n",
           "s.yaml:4:21: a cost is asked for, but no price is known; write report: {tokens: 15T, "
           "price: 4.20 USD/chip-hour}");
    expect("search: {budget: 2e6}\nreport: {price: 4.20 USD/chip-hour}\n",
           "s.yaml:4:18: a budget, but nothing that it is to pay for; write report: {tokens: 15T}");
    expect("search:\n  mesh: {fsdp: any, tensor: any, data: any, context: any, pipeline: any}\n",
           "s.yaml:5:9: more than 20000000 meshes over 5 axes on slice 16x16x16; name fewer axes, "
           "as in search.mesh: {fsdp: any, tensor: [1, 2, 4, 8]}",
           {"--over", "mesh", "--set", "hardware.slice=16x16x16"});
}

// If some candidates are refused, each message has the first error at its position; if all are, the
// search fails with the error of a run.
TEST_F(SearchUsage, SaysWhereCandidatesAreRefused) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 2x2x4}\nmodel: {base: llama-3-8b, layers: 2}\n"
        "batch: {tokens: 64000, sequence: 4096}\n");
    const Outcome all = podsim({"search", file, "--over", "mesh"});
    EXPECT_EQ(all.status, 2);
    EXPECT_THAT(plain(all.out),
                HasSubstr("\n        54  s.yaml:3:17: tokens = N is not a multiple of "
                          "sequence = N\n"));
    EXPECT_EQ(plain(all.err),
              "s.yaml:3:17: tokens = 64000 is not a multiple of sequence = 4096; the nearest that "
              "work are 61440 and 65536\n");
    const Outcome some = podsim({"search", file, "--vary", "batch.tokens=64000,64Ki", "--vary",
                                 "training.remat=full,fool", "--no-explain", "--json", "-"});
    EXPECT_EQ(some.status, 0);
    EXPECT_EQ(some.err, "");
    EXPECT_EQ(nlohmann::json::parse(some.out)["refused"],
              (nlohmann::json{
                  {"--vary batch.tokens=64000: tokens = N is not a multiple of sequence = N", 2},
                  {"--vary training.remat=fool: unknown training.remat 'fool'", 1}}));
    const std::string decode = write(
        "hardware: {chip: v5e, slice: 4x4}\nmodel: {base: llama-3-8b, layers: 2}\n"
        "inference: {step: decode, batch: 32, context: 8192}\n",
        "decode.yaml");
    EXPECT_EQ(podsim({"search", decode, "--over", "remat"}).err,
              "--over remat: training: inference beside a training step; leave it out, or leave "
              "out inference\n");
}

}  // namespace
}  // namespace podsim::scenarios
