// Refusals of `podsim sweep`.
#include <gmock/gmock.h>

#include "scenarios/src/study/sweep.h"
#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/study/small_sweep.h"

namespace podsim::scenarios {
namespace {

using SweepUsage = CommandTest;
using small_sweep::kSmall;
using small_sweep::with;

TEST(Varied, ValuesOneByOneAreThoseOfAList) {
    const Varied list = parse_varied("mesh={fsdp: x y z},{fsdp: x y, tensor: z},null");
    const std::vector<std::string> texts{"{fsdp: x y z}", "{fsdp: x y, tensor: z}", "null"};
    const Varied one_by_one = varied_of("mesh", texts);
    EXPECT_EQ(one_by_one.key, list.key);
    EXPECT_EQ(one_by_one.texts, list.texts);
    ASSERT_EQ(one_by_one.values.size(), 3U);
    EXPECT_EQ(one_by_one.values[2].kind, YamlNode::Kind::null);
    // A comma outside of brackets separates values of a list, but within one value it is text.
    const std::vector<std::string> comma{"a, b"};
    EXPECT_EQ(parse_varied("name=a, b").values.size(), 2U);
    EXPECT_EQ(varied_of("name", comma).texts, comma);
    const std::vector<std::string> twice{"a", "'a'"};
    const auto message = [](std::span<const std::string> values) {
        try {
            static_cast<void>(varied_of("name", values));
        } catch (const sim::InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(message(twice), "--vary name: the value 'a' is given twice; keep one of the two");
    EXPECT_EQ(message({}), "--vary name: no values; give at least one");
    // No command line can hold this, but a caller of the library can pass it.
    try {
        static_cast<void>(parse_varied(std::string("name={a\0b: 1}", 13)));
        ADD_FAILURE();
    } catch (const sim::InputError& error) {
        EXPECT_STREQ(error.what(),
                     "--vary name={a\\x00b: 1}: the character \\x00 is not text; a "
                     "scenario is a YAML text in UTF-8");
    }
}

TEST_F(SweepUsage, RefusesBadUsage) {
    const std::string file = write(kSmall);
    const auto refused = [&](const std::vector<std::string>& more, const std::string& message) {
        const Outcome outcome = podsim(with({"sweep", file}, more));
        EXPECT_EQ(outcome.status, 2) << message;
        EXPECT_EQ(outcome.out, "") << message;
        EXPECT_EQ(plain(outcome.err), message + '\n');
    };
    const std::string form = "write --vary key.path=value,value, as in --vary mesh.tensor=x%2,x%4";
    refused({},
            "podsim sweep: --vary is missing; write --vary key=value,value, as in --vary "
            "mesh.tensor=x%2,x%4");
    refused({"--vary", "batch.tokens"}, "--vary: 'batch.tokens' has no '='; " + form);
    refused({"--vary", "batch.tokens=[]"}, "--vary batch.tokens=[]: no values; " + form);
    refused({"--vary", "batch.tokens=4Ki,8Ki,4Ki"},
            "--vary batch.tokens=4Ki,8Ki,4Ki: the value '4Ki' is given twice; keep one of the two");
    refused({"--vary", "batch.token=4Ki,8Ki"},
            "--vary batch.token=4Ki: unknown batch key 'token'; did you mean 'tokens'? allowed: "
            "tokens, sequence");
    refused({"--vary", "batch.tokens=4Ki,{a: b}"},
            "--vary batch.tokens={\"a\":\"b\"}: 'batch.tokens' holds a map; write tokens: 4Mi");
    refused({"--vary", "batch.tokens=4Ki", "--vary", "batch.tokens=8Ki"},
            "--vary: 'batch.tokens' is varied twice; give all its values in one --vary");
    refused({"--vary", "batch.tokens=4Ki", "--set", "batch.tokens=8Ki"},
            "--set: 'batch.tokens=8Ki' is varied, so that its value is lost; leave out this --set, "
            "or do not vary batch.tokens");
    // The same for keys within maps.
    refused({"--vary", "batch.tokens=4Ki", "--set", "batch={tokens: 8Ki}"},
            "--set: 'batch={tokens: 8Ki}' is varied, so that its value is lost; leave out this "
            "--set, or do not vary batch.tokens");
    refused({"--vary", "training={remat: none}", "--set", "training.remat=block"},
            "--set: 'training.remat=block' is varied, so that its value is lost; leave out this "
            "--set, or do not vary training");
    refused({"--vary", "training={remat: none}", "--vary", "training.remat=block"},
            "--vary: 'training' and 'training.remat' are varied, one of which is a part of the "
            "other; vary the parts, each in its --vary");
    refused({"--vary", "=3"},
            "--vary =3: the key path is empty in a place; write --vary key.path=value,value, as "
            "in --vary mesh.tensor=x%2,x%4");
    refused({"--vary", "batch.tokens=4Ki", "--jobs", "0"},
            "--jobs 0: out of range; write a number of threads from 1 to 1024");
    refused({"--vary", "batch.tokens=4Ki", "--sort", "mfuu"},
            "--sort mfuu: unknown column 'mfuu'; did you mean 'mfu'? allowed: batch.tokens, "
            "step_time_s, compute_s, exposed_communication_s, mfu, hfu, tokens_per_s, bound, "
            "analytic.book_s, analytic.roofline_lower_s, analytic.roofline_serial_s, "
            "memory.peak_bytes, memory.capacity_bytes, memory.fits, memory.tight, prefetch_layers, "
            "training_run.days, training_run.chip_hours, training_run.cost_usd, "
            "inference.time_per_token_s, inference.tokens_per_s_per_chip, "
            "inference.cost_per_million_tokens_usd, chips, "
            "simulated_chips, events, error");
    refused({"--vary", "batch.tokens=4Ki", "--csv", "-", "--jsonl", "-"},
            "podsim sweep: --csv and --jsonl both want standard output; give one of them a path");
}

}  // namespace
}  // namespace podsim::scenarios
