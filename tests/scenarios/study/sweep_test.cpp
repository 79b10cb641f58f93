// `podsim sweep`: its lines are those of `podsim run`, for any jobs, reuse and kills.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "scenarios/src/base/json_text.h"
#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/study/small_sweep.h"

namespace podsim::scenarios {
namespace {

using SweepCommand = CommandTest;
using small_sweep::kSmall;
using small_sweep::kVary;
using small_sweep::text_of;
using small_sweep::with;

std::vector<Json> lines_of(const std::string& text) {
    std::vector<Json> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(Json::parse(line));
    }
    return lines;
}

/// Removes values that only `run` has: they take several more steps, or are the same in every line.
void erase_of_run(Json& json) {
    for (const char* key : {"order_noise", "ten_percent_faster", "twice_as_fast", "advice",
                            "advice_to_fit", "advice_not_tried", "settings_in_force"}) {
        json.erase(key);
    }
}

TEST_F(SweepCommand, EveryLineIsThatOfRun) {
    const std::string file = write(kSmall);
    const Outcome sweep =
        podsim(with({"sweep", file, "--gap", "--jobs", "2", "--jsonl", "-"}, kVary));
    EXPECT_EQ(sweep.status, 0);
    EXPECT_EQ(sweep.err, "podsim sweep: 2 of 6 settings are refused: see their errors\n");
    const std::vector<Json> lines = lines_of(sweep.out);
    ASSERT_EQ(lines.size(), 6U);
    std::size_t index = 0;
    for (const std::string tokens : {"32Ki", "3Ki", "64Ki"}) {
        for (const std::string remat : {"block", "none"}) {
            Json line = lines[index];
            EXPECT_EQ(line["sweep"]["index"], index);
            EXPECT_EQ(line["sweep"]["of"], 6);
            EXPECT_EQ(line["settings"],
                      Json({{"batch.tokens", tokens}, {"training.remat", remat}}));
            const Outcome run = podsim({"run", file, "--set", "batch.tokens=" + tokens, "--set",
                                        "training.remat=" + remat, "--json", "-"});
            if (tokens == "3Ki") {
                // The same message, for the option that sets the value.
                ASSERT_EQ(run.err.substr(0, 6), "--set ");
                EXPECT_EQ(line["error"].get<std::string>() + '\n', "--vary " + run.err.substr(6));
                EXPECT_FALSE(line.contains("step_time_s"));
            } else {
                Json alone = Json::parse(run.out);
                for (const char* key : {"sweep", "settings", "crc32"}) {
                    line.erase(key);
                }
                alone.erase("wall_time_s");
                erase_of_run(alone);
                EXPECT_EQ(line.dump(), alone.dump());
            }
            ++index;
        }
    }
}

TEST_F(SweepCommand, WithoutGapTheRestOfTheLineIsTheSame) {
    const std::vector<std::string> args = {
        "sweep", write(kSmall), "--vary", "batch.tokens=32Ki", "--jsonl", "-"};
    Json with_gap = Json::parse(podsim(with(args, {"--gap"})).out);
    Json without = Json::parse(podsim(args).out);
    EXPECT_FALSE(without.contains("gap_s"));
    for (const char* key :
         {"gap_s", "shortfalls", "diagnosis", "critical_path_s", "wall_time_s", "sweep", "crc32"}) {
        with_gap.erase(key);
        without.erase(key);
    }
    EXPECT_EQ(without.dump(), with_gap.dump());
}

// A record is the same on every machine: only `--timings` adds values that depend on where and when
// it was made.
TEST_F(SweepCommand, OnlyTimingsPutWallTimesIntoTheRecord) {
    const std::vector<std::string> args = {
        "sweep", write(kSmall), "--vary", "batch.tokens=32Ki", "--jsonl", "-"};
    Json plain_line = Json::parse(podsim(args).out);
    Json timed = Json::parse(podsim(with(args, {"--timings"})).out);
    EXPECT_FALSE(plain_line.contains("wall_time_s"));
    ASSERT_TRUE(timed["wall_time_s"].is_number());
    EXPECT_GT(timed["wall_time_s"], 0);
    for (const char* key : {"wall_time_s", "crc32"}) {
        timed.erase(key);
        plain_line.erase(key);
    }
    EXPECT_EQ(timed.dump(), plain_line.dump());
    // The record resumes with or without times in its lines.
    const std::vector<std::string> record = {
        "sweep",   write(kSmall),   "--vary",   "batch.tokens=32Ki",
        "--jsonl", path("t.jsonl"), "--timings"};
    EXPECT_EQ(podsim(record).status, 0);
    const std::string before = text_of(path("t.jsonl"));
    EXPECT_EQ(podsim(std::vector<std::string>(record.begin(), record.end() - 1)).status, 0);
    EXPECT_EQ(text_of(path("t.jsonl")), before);
}

// Rows read back from a record sort and print like simulated ones.
TEST_F(SweepCommand, ResumedRowsAreTheSimulatedOnes) {
    const std::vector<std::string> args = {"sweep",   write(kSmall),
                                           "--set",   "report.tokens=1T",
                                           "--vary",  "batch.tokens=64Ki,3Ki,32Ki",
                                           "--sort",  "mfu:desc",
                                           "--jsonl", path("r.jsonl"),
                                           "--csv",   path("r.csv")};
    const Outcome simulated = podsim(args);
    const std::string csv = text_of(path("r.csv"));
    const Outcome resumed = podsim(args);
    EXPECT_EQ(resumed.err, "podsim sweep: " + path("r.jsonl") + " holds 3 of 3 settings already\n" +
                               simulated.err);
    EXPECT_EQ(resumed.out, simulated.out);
    EXPECT_EQ(text_of(path("r.csv")), csv);
}

TEST_F(SweepCommand, JobsDoNotChangeTheResults) {
    const std::vector<std::string> args =
        with({"sweep", write(kSmall), "--sort", "mfu:desc", "--jsonl", path("1.jsonl"), "--csv",
              path("1.csv"), "--jobs", "1"},
             kVary);
    std::vector<std::string> four = args;
    std::ranges::replace(four, path("1.jsonl"), path("4.jsonl"));
    std::ranges::replace(four, path("1.csv"), path("4.csv"));
    std::ranges::replace(four, std::string("1"), std::string("4"));
    const Outcome by_one = podsim(args);
    const Outcome by_four = podsim(four);
    EXPECT_EQ(by_one.out, by_four.out);
    EXPECT_EQ(by_one.err, by_four.err);
    EXPECT_EQ(text_of(path("1.jsonl")), text_of(path("4.jsonl")));
    EXPECT_EQ(text_of(path("1.csv")), text_of(path("4.csv")));
}

TEST_F(SweepCommand, ReuseDoesNotChangeTheResults) {
    // 12 layers repeat, so fewer events are played with reuse.
    const std::string file = write(kSmall);
    const std::vector<std::string> run = {"run", file, "--set", "model.layers=12", "--json", "-"};
    Json with_reuse = Json::parse(podsim(run).out);
    Json without = Json::parse(podsim(with(run, {"--no-reuse"})).out);
    EXPECT_LT(with_reuse["played_events"], with_reuse["events"]);
    EXPECT_EQ(without["played_events"], without["events"]);
    const std::vector<std::string> sweep = {"sweep",           file,      "--set",
                                            "model.layers=12", "--vary",  "batch.tokens=32Ki",
                                            "--gap",           "--jsonl", "-"};
    Json swept = Json::parse(podsim(with(sweep, {"--no-reuse"})).out);
    swept.erase("sweep");
    swept.erase("settings");
    swept.erase("crc32");
    for (Json* json : {&with_reuse, &without, &swept}) {
        json->erase("wall_time_s");
        json->erase("played_events");
        erase_of_run(*json);
    }
    EXPECT_EQ(with_reuse.dump(), without.dump());
    EXPECT_EQ(with_reuse.dump(), swept.dump());
}

// A spreadsheet takes text with such a beginning for a formula: names, messages. Numbers with a
// sign stay numbers.
TEST_F(SweepCommand, CsvHasNoFormulas) {
    const std::string values =
        R"--(["=1+1", "+a", "-a", "@a", "-5", "+1.5e3", "-.5", "a=b", "=HYPERLINK(\"x\")", "-"])--";
    const Outcome csv = podsim({"sweep", write(kSmall), "--vary", "name=" + values, "--csv", "-"});
    ASSERT_EQ(csv.status, 0) << csv.err;
    std::istringstream stream(csv.out);
    std::vector<std::string> cells;
    for (std::string row; std::getline(stream, row);) {
        cells.push_back(row.substr(0, row.find(',')));
    }
    EXPECT_THAT(cells, ::testing::ElementsAre("name", "'=1+1", "'+a", "'-a", "'@a", "-5", "+1.5e3",
                                              "-.5", "a=b", "\"'=HYPERLINK(\"\"x\"\")\"", "'-"));
}

TEST_F(SweepCommand, CsvHoldsTheValuesOfTheLines) {
    const std::vector<std::string> args = {"sweep",  write(kSmall),
                                           "--vary", "batch.tokens=32Ki,3Ki",
                                           "--vary", "mesh=[{fsdp: x y z},{fsdp: x y, tensor: z}]"};
    const Outcome csv = podsim(with(args, {"--csv", "-"}));
    const std::vector<Json> lines = lines_of(podsim(with(args, {"--jsonl", "-"})).out);
    std::istringstream stream(csv.out);
    std::string row;
    std::getline(stream, row);
    EXPECT_EQ(
        row,
        "batch.tokens,mesh,step_time_s,compute_s,exposed_communication_s,mfu,hfu,tokens_per_s,"
        "bound,analytic.book_s,analytic.roofline_lower_s,analytic.roofline_serial_s,"
        "memory.peak_bytes,memory.capacity_bytes,memory.fits,memory.tight,prefetch_layers,"
        "training_run.days,training_run.chip_hours,training_run.cost_usd,"
        "inference.time_per_token_s,inference.tokens_per_s_per_chip,inference.cost_per_million_"
        "tokens_usd,chips,"
        "simulated_chips,events,error");
    std::getline(stream, row);
    std::getline(stream, row);
    const Json& line = lines[1];
    std::string expected = R"(32Ki,"{""fsdp"":""x y"",""tensor"":""z""}")";
    for (const char* key :
         {"/step_time_s", "/compute_s", "/exposed_communication_s", "/mfu", "/hfu", "/tokens_per_s",
          "/bound", "/analytic/book_s", "/analytic/roofline_lower_s", "/analytic/roofline_serial_s",
          "/memory/peak_bytes", "/memory/capacity_bytes", "/memory/fits", "/memory/tight",
          "/prefetch_layers"}) {
        const Json& value = line.at(Json::json_pointer(key));
        expected += ',' + (value.is_string() ? value.get<std::string>() : value.dump());
    }
    expected += ",,,,,,," + line["chips"].dump() + ',' + line["simulated_chips"].dump() + ',' +
                line["events"].dump() + ',';
    EXPECT_EQ(row, expected);
    std::getline(stream, row);
    EXPECT_THAT(row, ::testing::StartsWith(R"(3Ki,"{""fsdp"":""x y z""}",,,,,)"));
    EXPECT_THAT(row, ::testing::HasSubstr("--vary batch.tokens=3Ki: "));
}

/// Returns the first column of the table, without its header.
std::string first_cells(const std::string& table) {
    std::istringstream stream(table);
    std::string cells;
    std::string row;
    std::getline(stream, row);
    while (std::getline(stream, row)) {
        cells += row.substr(0, row.find(' ')) + ' ';
    }
    return cells;
}

TEST_F(SweepCommand, SortsByValueWithRefusedSettingsLast) {
    // More tokens on the same machine take longer: the order by step time is that by tokens.
    const std::vector<std::string> args = {"sweep", write(kSmall), "--vary",
                                           "batch.tokens=64Ki,3Ki,256Ki,128Ki"};
    EXPECT_EQ(first_cells(podsim(args).out), "64Ki 3Ki 256Ki 128Ki ");
    EXPECT_EQ(first_cells(podsim(with(args, {"--sort", "step_time_s"})).out),
              "64Ki 128Ki 256Ki 3Ki ");
    EXPECT_EQ(first_cells(podsim(with(args, {"--sort", "step_time_s:desc"})).out),
              "256Ki 128Ki 64Ki 3Ki ");
    EXPECT_EQ(first_cells(podsim(with(args, {"--sort", "batch.tokens"})).out),
              "64Ki 256Ki 128Ki 3Ki ");
}

TEST_F(SweepCommand, GoesOnFromACutFile) {
    const std::vector<std::string> args = {"sweep", write(kSmall), "--vary",
                                           "batch.tokens=32Ki,3Ki,64Ki,96Ki", "--jsonl"};
    const Outcome whole = podsim(with(args, {path("whole.jsonl")}));
    EXPECT_EQ(whole.status, 0);
    const std::string text = text_of(path("whole.jsonl"));
    std::vector<std::size_t> ends;
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) {
        ends.push_back(++at);
    }
    ASSERT_EQ(ends.size(), 4U);
    // At an end of a line, within a line, within its head, within the first line, and complete.
    for (const std::size_t length :
         {ends[1], ends[1] + 300, ends[1] + 20, ends[2] - 1, std::size_t{30}, ends[3]}) {
        const std::string cut = write(text.substr(0, length), "cut.jsonl");
        const Outcome rest = podsim(with(args, {cut}));
        EXPECT_EQ(rest.status, 0) << length;
        EXPECT_EQ(rest.out, whole.out) << length;
        const std::string after = text_of(cut);
        EXPECT_EQ(after, text) << length;
        const auto done = static_cast<std::size_t>(
            std::ranges::count_if(ends, [&](std::size_t end) { return end <= length; }));
        const std::string note =
            "podsim sweep: cut.jsonl holds " + std::to_string(done) + " of 4 settings already\n";
        EXPECT_THAT(plain(rest.err), ::testing::StartsWith(done == 0 ? "" : note)) << length;
    }
}

TEST_F(SweepCommand, LeavesOtherFilesAlone) {
    const std::string refusal =
        ": the file holds something else than the results of this sweep; give --jsonl another "
        "path, or remove the file to begin anew\n";
    const std::string file = write(kSmall);
    const std::vector<std::string> args = {"sweep",   file,           "--vary", "batch.tokens=32Ki",
                                           "--jsonl", path("r.jsonl")};
    EXPECT_EQ(podsim(args).status, 0);
    const std::string first = text_of(path("r.jsonl"));
    // Another option or another scenario has other results.
    EXPECT_EQ(plain(podsim(with(args, {"--gap"})).err), "r.jsonl:1:1" + refusal);
    write(good_but("4x4x4", "4x4x8"));
    EXPECT_EQ(plain(podsim(args).err), "r.jsonl:1:1" + refusal);
    write(kSmall);
    // Its own head, followed by text that it never writes.
    const std::string head = first.substr(0, first.find(",\"schema\""));
    for (const std::string& text :
         {std::string("notes"), std::string("notes\n"), first + "more", first + first,
          std::string("{\"sweep\":1}\n"), head + ",\"error\":5}\n"}) {
        write(text, "r.jsonl");
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 2);
        EXPECT_THAT(plain(outcome.err), ::testing::EndsWith(refusal));
        EXPECT_EQ(text_of(path("r.jsonl")), text);
    }
}

/// Starts the program, waits for a new line of its record, sends the signal, and waits for its end.
int signal_after_new_line(std::vector<std::string> args, const std::string& record, int signal) {
    const auto ends = [&] { return std::ranges::count(text_of(record), '\n'); };
    const auto before = ends();
    args.insert(args.begin(), program_path());
    std::vector<char*> argv;
    for (std::string& arg : args) {
        argv.push_back(arg.data());
    }
    argv.push_back(nullptr);
    int status = 0;
    const pid_t child = ::fork();
    if (child == 0) {
        std::freopen("/dev/null", "w", stdout);
        std::freopen((record + ".err").c_str(), "w", stderr);
        ::execv(argv[0], argv.data());
        ::_exit(127);
    }
    while (ends() <= before && ::waitpid(child, &status, WNOHANG) == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ::kill(child, signal);
    ::waitpid(child, &status, 0);
    return status;
}

TEST_F(SweepCommand, GoesOnAfterASignal) {
    // Thousands of settings: the signal arrives long before the last.
    std::string tokens = "batch.tokens=4Ki";
    for (int sequences = 2; sequences <= 3000; ++sequences) {
        tokens += ',' + std::to_string(4 * sequences) + "Ki";
    }
    const std::string file = write(kSmall);
    const std::vector<std::string> args = {"sweep",  file,         "--vary",  tokens,
                                           "--jobs", "2",          "--jsonl", path("r.jsonl"),
                                           "--csv",  path("r.csv")};
    std::ofstream(path("r.csv")) << "of the sweep before";
    const int killed = signal_after_new_line(args, path("r.jsonl"), SIGKILL);
    EXPECT_TRUE(WIFSIGNALED(killed));
    const std::string after_kill = text_of(path("r.jsonl"));
    const std::string kept = after_kill.substr(0, after_kill.rfind('\n') + 1);

    // Ctrl-C: whole lines, and the status of an interrupted command.
    const int stopped = signal_after_new_line(args, path("r.jsonl"), SIGINT);
    EXPECT_TRUE(WIFEXITED(stopped));
    EXPECT_EQ(WEXITSTATUS(stopped), 130);
    const std::string text = text_of(path("r.jsonl"));
    EXPECT_TRUE(text.starts_with(kept));
    EXPECT_TRUE(text.ends_with("\n"));
    const std::vector<Json> lines = lines_of(text);
    EXPECT_LT(lines.size(), 3000U);
    EXPECT_THAT(text_of(path("r.jsonl.err")),
                ::testing::EndsWith("podsim sweep: stopped after " + std::to_string(lines.size()) +
                                    " of 3000 settings; the same command goes on from there\n"
                                    "podsim sweep: tables and pages of these settings alone end in "
                                    ".part\n"));
    // A partial file never replaces a whole one.
    EXPECT_EQ(text_of(path("r.csv")), "of the sweep before");
    const std::string part = text_of(path("r.csv.part"));
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(part, '\n')), lines.size() + 1);
}

TEST_F(SweepCommand, QuotesAndBracketsHoldCommas) {
    const Outcome outcome =
        podsim({"sweep", write(kSmall), "--vary", "name=['a, b', \"c\"]", "--vary",
                "mesh={fsdp: x y z},{fsdp: x y, tensor: z}", "--jsonl", "-"});
    const std::vector<Json> lines = lines_of(outcome.out);
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(lines[0]["scenario"], "a, b");
    EXPECT_EQ(lines[3]["scenario"], "c");
    EXPECT_EQ(lines[1]["mesh"].dump(), R"({"fsdp":"x y","tensor":"z"})");
}

TEST_F(SweepCommand, AllRefusedIsBadInput) {
    const Outcome outcome =
        podsim({"sweep", write(kSmall), "--vary", "batch.tokens=1Ki,3Ki", "--jsonl", "-"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err, "podsim sweep: 2 of 2 settings are refused: see their errors\n");
    EXPECT_EQ(lines_of(outcome.out).size(), 2U);
}

}  // namespace
}  // namespace podsim::scenarios
