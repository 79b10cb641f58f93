// Commands, options, help and exit statuses, through run_command.
#include "scenarios/src/cli/cli.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "scenarios/src/cli/run_command.h"
#include "scenarios/src/scenario/load.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Cli = CommandTest;
using SortedJson = nlohmann::json;

void expect_usage_error(const std::vector<std::string>& args, const std::string& message) {
    const Outcome outcome = podsim(args);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, message + '\n');
}

constexpr const char* kRunUsage =
    "usage: podsim run FILE.yaml [--set key=value]... [--verbose] [--show section,...] "
    "[--fold auto|off] [--what-if] [--reschedule] [--no-explain] [--explain-all] [--no-reuse] "
    "[--json PATH|-] [--trace PATH] [--trace-all] [--report PATH] [--fail-if-not-fit]";

/// Returns `v2, v3, ...`, the names in a catalogue.
std::string names_of(const std::string& catalogue) {
    std::string names;
    const SortedJson list = SortedJson::parse(podsim({"list", catalogue, "--json", "-"}).out);
    for (const SortedJson& entry : list["entries"]) {
        names += (names.empty() ? "" : ", ") + entry["name"].get<std::string>();
    }
    return names;
}

TEST_F(Cli, UnknownCommandsAndOptions) {
    std::string alone = "podsim: no command\n\n" + podsim({"--help"}).out;
    alone.pop_back();
    expect_usage_error({}, alone);
    expect_usage_error(
        {"rnu"},
        "podsim: unknown command 'rnu'; did you mean 'run'? allowed: run, compare, "
        "diff, calibrate, show, init, check, estimate, help, sweep, search, merge, serve, "
        "collective, topology, hlo, import, list");
    expect_usage_error({"--verzion"},
                       "podsim: unknown option '--verzion'; did you mean '--version'? allowed: "
                       "--help, --version");
    expect_usage_error(
        {"run", "x.yaml", "--fodl", "off"},
        "podsim run: unknown option '--fodl'; did you mean '--fold'? allowed: "
        "--help, --memory, --set, --fold, --verbose, --show, --no-explain, --explain-all, "
        "--what-if, --reschedule, --no-reuse, --fail-if-not-fit, --json, "
        "--trace, --trace-all, --report");
    expect_usage_error({"list", "chip"},
                       "podsim list: unknown catalogue 'chip'; did you mean 'chips'? allowed: "
                       "chips, models, scenarios, algorithms, remat");
}

TEST_F(Cli, MissingAndExtraArguments) {
    expect_usage_error({"run"}, "podsim run: no scenario file; usage: podsim run FILE.yaml");
    expect_usage_error({"run", "a", "b"},
                       std::string("podsim run: too many arguments; ") + kRunUsage);
    expect_usage_error({"run", "a", "--json"},
                       std::string("podsim run: the required argument for option '--json' is "
                                   "missing; ") +
                           kRunUsage);
    expect_usage_error({"run", "a", "--fold", "on"},
                       "podsim run: unknown --fold 'on'; allowed: auto, off");
    expect_usage_error(
        {"topology", "--chip", "v4p"},
        "podsim topology: --slice is missing; usage: podsim topology --chip v4p "
        "--slice 4x4x8 [--twisted] [--slices N] [--dead x@0,1,2]... [--graphviz PATH] "
        "[--json PATH|-]");
    expect_usage_error({"compare"},
                       "podsim compare: no scenario; usage: podsim compare FILE|DIR ...");
}

TEST_F(Cli, SetTypos) {
    const auto refused = [&](const std::string& setting, const std::string& message) {
        expect_refused(kGood, message, {"--set", setting});
    };
    refused(
        "hardware.slise=4x4x4",
        "--set hardware.slise=4x4x4: unknown hardware key 'slise'; did you mean 'slice'? "
        "allowed: chip, slice, slices, oversubscription, twisted, core_clock, profile, ici_rates, "
        "latency, hbm, message_cap");
    refused(
        "hardware.chip.ici_latency=1",
        "--set hardware.chip.ici_latency=1: hardware.chip.ici_latency: '1' has no unit; write a "
        "time such as 1 us; units: ps, ns, us, ms, s");
    refused("mesh",
            "--set: 'mesh' has no '='; write --set key.path=value, as in --set "
            "hardware.slice=4x4x4");
    refused("=3",
            "--set =3: the key path is empty in a place, or too deep; write --set "
            "key.path=value, as in --set hardware.slice=4x4x4");
    refused("mesh={fsdp: 64",
            "--set mesh={fsdp: 64: this is not valid YAML: end of map flow not found; check the "
            "brackets, quotes and indentation here");
    refused("model=", "--set model=: 'model' holds nothing; write model: llama-3-70b");
}

// One message names all missing options that the operation needs.
TEST_F(Cli, MissingOptionsOfCollective) {
    const auto error_of = [](std::vector<std::string> args) {
        args.insert(args.begin(), "collective");
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 2);
        return outcome.err.substr(0, outcome.err.find(';'));
    };
    EXPECT_EQ(error_of({}),
              "podsim collective: --chip, --slice, --op, --axes and --bytes are missing");
    EXPECT_EQ(error_of({"--chip", "v5p", "--op", "send"}),
              "podsim collective: --slice and --bytes are missing");
    EXPECT_EQ(error_of({"--slice", "v5p-128", "--op", "all-gather", "--bytes", "1e6"}),
              "podsim collective: --axes is missing");
}

TEST_F(Cli, CollectiveOptionsAreNamedInErrors) {
    const auto refused = [](const std::string& option, const std::string& value,
                            const std::string& message) {
        std::vector<std::string> args = {"collective", "--chip", "v5p", "--slice", "4x4x4", "--op",
                                         "all-gather", "--axes", "xyz", "--bytes", "1e9"};
        const auto found = std::find(args.begin(), args.end(), option);
        if (found != args.end()) {
            *(found + 1) = value;
        } else {
            args.insert(args.end(), {option, value});
        }
        expect_usage_error(args, message);
    };
    refused(
        "--chip", "v5",
        "--chip v5: unknown chip 'v5'; did you mean 'v5p'? allowed: v2, v3, v4p, v5p, v5e, v6e, "
        "tpu7x");
    refused("--op", "allgather",
            "--op allgather: unknown operation 'allgather'; did you mean 'all-gather'? allowed: "
            "all-gather, reduce-scatter, all-reduce, all-to-all, permute, send, broadcast, gather, "
            "scatter");
    refused("--axes", "xx", "--axes xx: the axis x is used twice; name every axis or factor once");
    refused("--axes", " ",
            "--axes  : no axis is named; write axes such as xyz, or factors such as x%4 y");
    refused("--bytes", "-5",
            "--bytes -5: '-5' is negative; write a size such as 1e9 or 64 MiB; units: B, kB, MB, "
            "GB, TB, PB, KiB, MiB, GiB, TiB");
    refused("--latency", "flor",
            "--latency flor: unknown latency rule 'flor'; did you mean 'floor'? allowed: additive, "
            "floor");
    refused("--dtype", "bf",
            "--dtype bf: unknown dtype 'bf'; did you mean 'bf16'? allowed: bf16, fp32, fp16, fp8, "
            "int8, int32");
}

TEST_F(Cli, HelpNamesEveryOption) {
    const std::pair<std::string, std::vector<std::string>> commands[] = {
        {"run", {"--set", "--fold", "--no-reuse", "--json", "--trace", "--trace-all", "--report"}},
        {"sweep",
         {"--vary", "--set", "--jobs", "--sort", "--csv", "--jsonl", "--report", "--gap", "--fold",
          "--no-reuse"}},
        {"compare", {"--jobs", "--json", "--report"}},
        {"collective",
         {"--chip", "--slice", "--twisted", "--op", "--axes", "--bytes", "--dtype", "--latency",
          "--algorithm", "--fold", "--csv", "--json", "--report"}},
        {"topology",
         {"--chip", "--slice", "--twisted", "--slices", "--dead", "--graphviz", "--json"}},
        {"import", {"--write", "--json", "maxtext", "hf config.json"}},
        {"list", {"chips|models|scenarios|algorithms|remat", "--json"}},
    };
    for (const auto& [command, options] : commands) {
        const Outcome outcome = podsim({command, "--help"});
        EXPECT_EQ(outcome.status, 0);
        EXPECT_EQ(outcome.err, "");
        EXPECT_THAT(outcome.out, StartsWith("usage: podsim " + command));
        EXPECT_THAT(outcome.out, HasSubstr("Example:\n  podsim " + command));
        for (const std::string& option : options) {
            EXPECT_THAT(outcome.out, HasSubstr(option)) << command;
        }
        EXPECT_THAT(podsim({"--help"}).out, HasSubstr("  " + command));
    }
    EXPECT_EQ(podsim({"--version"}).out, commit().empty()
                                             ? "podsim 0.1.0\n"
                                             : fmt::format("podsim 0.1.0 (commit {})\n", commit()));
    EXPECT_EQ(podsim({"-V"}).out, podsim({"--version"}).out);
}

TEST_F(Cli, TopologyJson) {
    const Outcome outcome =
        podsim({"topology", "--chip", "v4p", "--slice", "4x4x8", "--twisted", "--json", "-"});
    EXPECT_EQ(outcome.status, 0);
    const SortedJson json = SortedJson::parse(outcome.out);
    EXPECT_EQ(json["schema"], "podsim/2");
    EXPECT_EQ(json["chips"], 128);
    EXPECT_EQ(json["hosts"], 32);
    EXPECT_EQ(json["ici_links"], 384);
    EXPECT_EQ(json["wrapped"], SortedJson({true, true, true}));
    EXPECT_EQ(json["diameter_hops"], 6);   // facts: twisted 4x4x8
    EXPECT_EQ(json["mean_hops"], 3.4375);  // facts: 3.438
    EXPECT_TRUE(json["bisection_links"].is_number_integer());
    EXPECT_EQ(json["slices"], 1);
    EXPECT_EQ(json["chips_cut_off"], 0);
    EXPECT_EQ(json["cores"], 256);
    EXPECT_EQ(json["bf16_flops_per_s"], 128 * 2.75e14);
    EXPECT_EQ(json["hbm_bytes"], 128 * 32.0 * 1024 * 1024 * 1024);
    EXPECT_EQ(json["links"]["ici"],
              (SortedJson{{"directed_links", 768}, {"rate_bytes_per_s", 768 * 4.5e10}}));
    EXPECT_EQ(json["links"]["hbm"],
              (SortedJson{{"directed_links", 256}, {"rate_bytes_per_s", 128 * 1.2e12}}));
    EXPECT_EQ(json["links"]["pcie"],
              (SortedJson{{"directed_links", 256}, {"rate_bytes_per_s", 256 * 1.6e10}}));
    EXPECT_EQ(json["links"]["dcn"],
              (SortedJson{{"directed_links", 64}, {"rate_bytes_per_s", 64 * 2.5e10}}));
}

// A slice of 2x2 is a ring of 4 chips; without two of its links along x it is two pairs.
TEST_F(Cli, TopologyOfSeveralSlicesAndWithoutDeadLinks) {
    const SortedJson two = SortedJson::parse(
        podsim({"topology", "--chip", "v5e", "--slice", "2x2", "--slices", "2", "--json", "-"})
            .out);
    EXPECT_EQ(two["chips"], 8);
    EXPECT_EQ(two["hosts"], 2);
    EXPECT_EQ(two["ici_links"], 8);
    EXPECT_EQ(two["diameter_hops"], 2);
    const SortedJson cut =
        SortedJson::parse(podsim({"topology", "--chip", "v5e", "--slice", "2x2", "--dead", "x@0,0",
                                  "--dead", "x@0,1", "--json", "-"})
                              .out);
    EXPECT_EQ(cut["ici_links"], 2);
    EXPECT_EQ(cut["chips_cut_off"], 2);
    EXPECT_EQ(cut["diameter_hops"], 1);
    const Outcome beyond =
        podsim({"topology", "--chip", "v5e", "--slice", "2x2", "--dead", "x@1,0"});
    EXPECT_EQ(beyond.status, 2);
    EXPECT_THAT(beyond.err, HasSubstr("no link leads from there along x"));
    EXPECT_THAT(podsim({"topology", "--chip", "v5e", "--slice", "2x2", "--dead", "here"}).err,
                HasSubstr("not a link"));
}

// Paths are checked before anything is simulated or printed; nothing is created.
TEST_F(Cli, PathsThatCannotBeWrittenAreRefusedFirst) {
    const std::string file = write(kGood);
    for (const char* const option : {"--json", "--trace", "--report"}) {
        const Outcome outcome = podsim({"run", file, option, "no/result"});
        EXPECT_EQ(outcome.status, 2);
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(outcome.err,
                  "podsim run: cannot write 'no/result': No such file or directory; give " +
                      std::string(option) + " a path that can be written\n");
    }
    const std::string within = file + "/result";
    EXPECT_EQ(podsim({"run", file, "--json", within}).err,
              "podsim run: cannot write '" + within +
                  "': Not a directory; give --json a path that can be written\n");
    const Outcome folder = podsim({"compare", file, "--json", "/"});
    EXPECT_EQ(folder.status, 2);
    EXPECT_EQ(folder.out, "");
    EXPECT_EQ(folder.err,
              "podsim compare: cannot write '/': Is a directory; give --json a "
              "path that can be written\n");
}

TEST_F(Cli, AScenarioIsNotOverwritten) {
    const std::string file = write(kGood);
    std::filesystem::create_symlink(file, path("link"));
    for (const char* const option : {"--json", "--trace", "--report"}) {
        for (const std::string& same : {file, path("./s.yaml"), path("link")}) {
            const Outcome outcome = podsim({"run", file, option, same});
            EXPECT_EQ(outcome.status, 2);
            EXPECT_EQ(outcome.out, "");
            EXPECT_THAT(outcome.err,
                        HasSubstr("the command reads this file, and would overwrite it; give it "
                                  "another path\n"));
        }
    }
    std::ifstream in(file);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), kGood);
}

TEST_F(Cli, TwoResultsDoNotGoToOneFile) {
    const std::string file = write(kGood);
    const Outcome outcome =
        podsim({"run", file, "--no-explain", "--json", path("x"), "--trace", path("./x")});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(": --trace names the same file; give it another path\n"));
    EXPECT_FALSE(std::filesystem::exists(path("x")));
    EXPECT_EQ(
        podsim({"run", file, "--no-explain", "--json", "/dev/null", "--trace", "/dev/null"}).status,
        0);
}

TEST_F(Cli, AGapThatIsAskedForAndNotExplainedIsNotPassedOver) {
    const std::string file = write(kGood);
    const std::string line = "\nGap and critical path left out: --no-explain\n";
    EXPECT_THAT(podsim({"run", file, "--no-explain", "--show", "gap"}).out, HasSubstr(line));
    EXPECT_THAT(podsim({"run", file, "--no-explain", "--show", "links"}).out,
                ::testing::Not(HasSubstr(line)));
}

TEST_F(Cli, AnExplanationThatWouldBeTooLongSaysWhy) {
    const std::string file = write(kGood);
    Usage usage = run_usage();
    usage.parse(std::vector<std::string>{file});
    const Scenario scenario = load_scenario(file);
    RunAnswer answer{.scenario = scenario,
                     .result = simulate_step(scenario, Fold::automatic, {.explain = false})};
    auto& step = std::get<StepResult>(answer.result);
    step.played_events = 300'000;
    step.explaining_exceeded = "latency";
    EXPECT_THAT(
        answer_text(answer, usage),
        HasSubstr("\nGap and critical path left out: the step without latency plays more than "
                  "4800000 events, 16 times the step's; --explain-all has them\n"));
}

TEST_F(Cli, TopologyWritesGraphviz) {
    const Outcome outcome =
        podsim({"topology", "--chip", "v5e", "--slice", "4x2", "--graphviz", path("slice.dot")});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.out, StartsWith("v5e 4x2, 8 chips, no axis wraps\n"));
    EXPECT_GT(std::filesystem::file_size(path("slice.dot")), 0U);
    const Outcome nowhere =
        podsim({"topology", "--chip", "v5e", "--slice", "4x2", "--graphviz", path("no/slice.dot")});
    EXPECT_EQ(nowhere.status, 2);
    EXPECT_EQ(plain(nowhere.err),
              "podsim topology: cannot write 'no/slice.dot': No such file or directory; give "
              "--graphviz a path that can be written\n");
}

TEST_F(Cli, ListsTheCatalogues) {
    EXPECT_THAT(podsim({"list", "chips"}).out, HasSubstr("v5p    459.0 TFLOP/s"));
    EXPECT_THAT(podsim({"list", "chips"}).out, HasSubstr("tpu7x  2.307 PFLOP/s  206.2 GB"));
    EXPECT_THAT(podsim({"topology", "--chip", "tpu7x", "--slice", "4x4x4"}).out,
                HasSubstr("tpu7x 4x4x4, 64 chips, x y z wrapped\n  chips          64\n  hosts     "
                          "     16\n"));
    EXPECT_THAT(podsim({"list", "models"}).out, HasSubstr("llama-3-70b        70.55G"));
    EXPECT_THAT(podsim({"list", "algorithms"}).out, HasSubstr("weighted"));
    const Outcome scenarios = podsim({"list", "scenarios"});
    EXPECT_EQ(scenarios.status, 0);  // the test program is in a build folder of the repository
    EXPECT_THAT(scenarios.out, HasSubstr("quickstart/llama3-70b-v5p-pod.yaml"));
    EXPECT_THAT(scenarios.out, HasSubstr("LLaMA 3-70B, 4Mi tokens, one v5p pod"));
}

TEST_F(Cli, ListsOneEntryWithItsSources) {
    const Outcome chip = podsim({"list", "chips", "trillium"});
    EXPECT_EQ(chip.status, 0);
    EXPECT_THAT(chip.out, StartsWith("v6e\n  bf16"));
    EXPECT_THAT(chip.out, ContainsRegex("\n  HBM rate +1.600 TB/s +\\[[0-9]+\\]\n"));
    EXPECT_THAT(chip.out, ContainsRegex("\n  axes that wrap +axes of length 16 +\\["));
    EXPECT_THAT(chip.out, HasSubstr("\nSources\n  [1] "));
    const std::string model = podsim({"list", "models", "llama-3-8b"}).out;
    EXPECT_THAT(model, StartsWith("llama-3-8b\n  parameters       8.030G\n"));
    EXPECT_THAT(model, HasSubstr("\nSource: The Llama 3 Herd of Models, 2024, table 3"));
    EXPECT_EQ(podsim({"list", "remat", "full"}).out,
              "full\n  kept in HBM  decoder_layer_input\n  at the host\n");
    expect_usage_error({"list", "remat", "fulll"},
                       "podsim list: unknown remat policy 'fulll'; did you mean 'full'? allowed: " +
                           names_of("remat"));
    expect_usage_error(
        {"list", "chips", "v9"},
        "podsim list: unknown chip 'v9'; did you mean 'v2'? allowed: " + names_of("chips"));
}

// Facts of the reference text, section 2: v5p has 459 TFLOP/s, 2.8 TB/s and 90 GB/s a link one way.
TEST_F(Cli, ListsAsJson) {
    const SortedJson chips = SortedJson::parse(podsim({"list", "chips", "v5p", "--json", "-"}).out);
    EXPECT_EQ(chips["catalogue"], "chips");
    ASSERT_EQ(chips["entries"].size(), 1U);
    const SortedJson& chip = chips["entries"][0];
    EXPECT_EQ(chip["name"], "v5p");
    EXPECT_EQ(chip["bf16_flops_per_s"], 4.59e14);
    EXPECT_EQ(chip["hbm_bytes_per_s"], 2.8e12);
    EXPECT_EQ(chip["ici_one_way_book_bytes_per_s"], 9e10);
    EXPECT_EQ(chip["host"], "2x2x1");
    EXPECT_EQ(chip["sources"].size() + 1, chip.size() - 1);  // the name and this have no source
    EXPECT_EQ(SortedJson::parse(podsim({"list", "chips", "--json", "-"}).out)["entries"].size(),
              7U);
    const Outcome written = podsim({"list", "algorithms", "--json", path("a.json")});
    EXPECT_EQ(written.out, podsim({"list", "algorithms"}).out);
    EXPECT_GT(std::filesystem::file_size(path("a.json")), 0U);
}

TEST_F(Cli, AStreamThatDoesNotTakeTheResultIsAnError) {
    std::ostringstream out;
    std::ostringstream err;
    out.setstate(std::ios::badbit);
    const std::vector<std::string> args = {"list", "chips"};
    EXPECT_EQ(run_command(args, out, err), 2);
    EXPECT_EQ(err.str(),
              "podsim: cannot write the results to standard output; check where it goes\n");
}

}  // namespace
}  // namespace podsim::scenarios
