// Profiles as files: a written profile is read back unchanged, and errors are named.
#include "scenarios/src/scenario/profile_file.h"

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

class ProfileFile : public CommandTest {
protected:
    void refused(const std::string& text, const std::string& message) const {
        const std::string file = write(text, "p.yaml");
        try {
            static_cast<void>(read_profile_file(file));
            FAIL() << "read: " << text;
        } catch (const sim::InputError& error) {
            EXPECT_EQ(plain(error.what()), message);
        }
    }
};

TEST_F(ProfileFile, IsReadBackTheSame) {
    const Profile profile = measured_profile();
    EXPECT_EQ(read_profile_file(write(profile_text(profile), "p.yaml")), profile);
    Profile odd{.name = "odd", .version = "2026-11-22", .chips = {}, .band = {}};
    odd.chips["v5e"] = {.mxu = 1.0 / 3, .launch_s = 1.0 / 7e5, .straggler = 0.1 + 0.2};
    odd.band = {1.0 / 17, 0.5, {{"v5e", true, true}, {"v5e", false, false}}, 3840, 2048};
    EXPECT_EQ(read_profile_file(write(profile_text(odd), "p.yaml")), odd);
    odd.name = "a: b # c";
    odd.version = "~";
    EXPECT_EQ(read_profile_file(write(profile_text(odd), "p.yaml")), odd);
}

TEST_F(ProfileFile, FactorsThatAreNotNamedAreIdeal) {
    const Profile profile = read_profile_file(
        write("name: a\nversion: 1\nchips: {v5e: {mxu: 0.8}, v6e: {}}\n", "p.yaml"));
    EXPECT_EQ(profile.chips.at("v5e"), (topology::Efficiency{.mxu = 0.8}));
    EXPECT_EQ(profile.chips.at("v6e"), topology::Efficiency{});
    EXPECT_EQ(profile.band, ErrorBand{});
}

TEST_F(ProfileFile, BrokenOnes) {
    const std::string head = "name: a\nversion: 1\n";
    refused("[1, 2]\n",
            "p.yaml: a profile is a map, this file holds a list; make one with podsim calibrate "
            "--write");
    refused("version: 1\nchips: {}\n", "p.yaml:1:1: the profile lacks 'name'; write name: ours");
    refused(head, "p.yaml:1:1: the profile lacks 'chips'; write chips: {v5e: {mxu: 0.79}}");
    refused(head + "chip: {}\n",
            "p.yaml:3:1: unknown profile key 'chip'; did you mean 'chips'? allowed: name, version, "
            "chips, band");
    refused(head + "chips: v5e\n",
            "p.yaml:3:1: 'chips' holds text; write chips: {v5e: {mxu: 0.79}}");
    refused(head + "chips: {v5: {}}\n",
            "p.yaml:3:9: unknown chip 'v5'; did you mean 'v5p'? allowed: v2, v3, v4p, v5p, v5e, "
            "v6e, tpu7x");
    refused(head + "chips: {v5e: 0.8}\n", "p.yaml:3:9: 'v5e' holds text; write v5e: {mxu: 0.79}");
    refused(head + "chips: {v5e: {mxv: 0.8}}\n",
            "p.yaml:3:15: unknown factor 'mxv'; did you mean 'mxu'? allowed: mxu, mxu_ramp, "
            "mxu_8bit, mxu_grouped, grid_step_s, attention, attention_backward, vpu, hbm, fusion, "
            "gather, ici, dcn, launch_s, straggler, kernel_s, sequence_s, host_s");
    refused(head + "chips: {v5e: {mxu: 1.5}}\n",
            "p.yaml:3:20: mxu '1.5' is out of range; allowed are 0.05 to 1");
    refused(head + "chips: {v5e: {mxu: [1]}}\n", "p.yaml:3:20: 'mxu' holds a list; write a number");
    refused(head + "chips: {}\nband: {like: 0.1, unlike: 0.2}\n",
            "p.yaml:4:7: the band lacks 'measured'; write measured: [v5e dense bf16]");
    refused(head + "chips: {}\nband: {like: 0.1, unlike: 0.05, measured: []}\n",
            "p.yaml:4:27: unlike '0.05' is out of range; allowed are 0.1 to 10");
    refused(head + "chips: {}\nband: {like: 0.1, unlike: 0.2, measured: [], dense_from: 2M}\n",
            "p.yaml:4:58: dense_from '2M' is out of range; allowed are 0 to 1e+06");
    refused(head + "chips: {}\nband: {like: 0.1, unlike: 0.2, measured: [v5e int8]}\n",
            "p.yaml:4:43: 'v5e int8' is no kind of step; write a chip, dense or experts, and bf16 "
            "or quantised, such as v5e dense bf16");
}

// `podsim calibrate --write` and `hardware: {profile: FILE}`, relative to the scenario.
TEST_F(ProfileFile, CalibrateWritesWhatScenariosRead) {
    const std::string step =
        write(std::string(kGood) + "expect: {step_time: {of: 300 ms, within: 9 %}}\n", "step.yaml");
    const Outcome fitted = podsim({"calibrate", step, "--per-chip", "mxu", "--pooled", "-",
                                   "--write", path("ours.yaml"), "--profile-version", "2026-11"});
    ASSERT_EQ(fitted.status, 0) << fitted.err;
    const Profile profile = read_profile_file(path("ours.yaml"));
    EXPECT_EQ(profile.name, "ours");
    EXPECT_EQ(profile.version, "2026-11");
    ASSERT_EQ(profile.chips.size(), 1U);
    const Outcome run = podsim({"run", write(good_but("slice:", "profile: ours.yaml, slice:"))});
    EXPECT_NE(run.out.find("Assumed: profile ours@2026-11, book ICI"), std::string::npos);
    expect_refused(good_but("slice:", "profile: theirs.yaml, slice:"),
                   "s.yaml:1:32: hardware.profile: cannot read 'theirs.yaml': No such file or "
                   "directory; profile names a file of podsim calibrate --write, from this "
                   "scenario's folder; or write measured or ideal");
    const Outcome wrong = podsim({"calibrate", step, "--write", path("ours.txt")});
    EXPECT_EQ(wrong.status, 2);
    EXPECT_EQ(plain(wrong.err),
              "podsim calibrate: --write: the file of a profile ends in .yaml; write mine.yaml\n");
    const Outcome lost = podsim({"calibrate", step, "--profile-version", "2026-11"});
    EXPECT_EQ(lost.status, 2);
    EXPECT_EQ(lost.out + lost.err,
              "podsim calibrate: --profile-version says what the profile of --write states; write "
              "--write with it\n");
    const Outcome none = podsim({"calibrate", step, "--inference"});
    EXPECT_EQ(none.status, 2);
    EXPECT_EQ(none.out + none.err,
              "podsim calibrate: no scenario is a step of inference; name some, or leave out "
              "--inference\n");
}

}  // namespace
}  // namespace podsim::scenarios
