// `podsim calibrate`: fit the factors of the profile `measured` to measured times.
#include <filesystem>
#include <ostream>

#include <boost/algorithm/string.hpp>

#include "scenarios/src/cli/cli.h"
#include "scenarios/src/cli/common.h"
#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/cli/lost_inputs.h"
#include "scenarios/src/cli/output.h"
#include "scenarios/src/cli/terminal_watch.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/profile_file.h"
#include "scenarios/src/scenario/scenario_files.h"
#include "scenarios/src/study/calibration_report.h"
#include "sim/base/error.h"
#include "topology/chips/efficiency.h"

namespace podsim::scenarios {
namespace {

std::vector<std::string> factors(const std::string& text) {
    std::vector<std::string> names;
    if (text != "-") {
        boost::split(names, text, boost::is_any_of(","));
    }
    return names;
}

/// Writes the profile to the path of --write, under the file's name and the version of
/// --version-name.
void write_profile(Profile profile, const std::string& path, const std::string& version) {
    profile.name = std::filesystem::path(path).stem().string();
    profile.version = version;
    write_file("--write", path,
               "# podsim calibrate: factors of a profile, for hardware: {profile: FILE}\n" +
                   profile_text(profile));
}

}  // namespace

Usage calibrate_usage() {
    Usage usage(
        "calibrate FILE|DIR ... [--inference] [--per-chip FACTORS] [--pooled FACTORS] [--write "
        "FILE "
        "[--profile-version TEXT]]\n"
        "                 [--jobs N] [--json PATH|-]",
        "Fits factors of a profile to scenarios that expect a measured time, and says how well "
        "they\n"
        "predict steps of chips and of families (folders) that they were not fitted to, beside "
        "rules "
        "with\n"
        "one constant for each chip. Microbenchmarks that define a factor (expect.*.defines) come "
        "first.",
        "podsim calibrate scenarios/published --per-chip mxu --pooled straggler",
        "Factors: mxu, mxu_ramp, mxu_8bit, mxu_grouped, grid_step_s, attention, "
        "attention_backward, vpu,\nhbm, fusion, gather, ici, dcn, launch_s, straggler, kernel_s, "
        "sequence_s, host_s\n"
        "(topology/chips/efficiency.h). Those neither named nor defined stay as the scenarios have "
        "them; named\nones that the steps do not determine stay at their priors "
        "(docs/fidelity.md).\n");
    usage.value("per-chip", "factors to fit for each chip, joined by commas; - for none", "mxu");
    usage.value("pooled", "factors to fit for all chips together; - for none", "straggler");
    std::vector<std::string_view> names;
    for (const topology::EfficiencyFactor& factor : topology::efficiency_factors()) {
        names.push_back(factor.name);
    }
    usage.offer_parts("per-chip", names);
    usage.offer_parts("pooled", names);
    usage.file("write", "write the profile to a file, for hardware: {profile: FILE}");
    usage.value("profile-version", "the version that the file of --write states; 1 without it");
    usage.flag("inference", "fit to steps of inference, in place of training steps");
    usage.value("jobs", "threads; the cores of this machine without it");
    usage.file("json", "write the result as JSON to a file, or alone to standard output (-)");
    usage.positional("FILE|DIR", -1);
    return usage;
}

int command_calibrate(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = calibrate_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const std::vector<std::string> named = options.all("FILE|DIR");
    const std::vector<ScenarioSource> files =
        files_of(std::vector<ScenarioSource>(named.begin(), named.end()));
    refuse_lost_inputs(options, files);
    const std::string json = output_path(options, "json");
    const std::string profile = output_path(options, "write");
    if (!profile.empty() && !names_profile_file(profile)) {
        throw sim::InputError("--write: the file of a profile ends in .yaml", "write mine.yaml");
    }
    if (options.has("profile-version") && profile.empty()) {
        throw sim::InputError("--profile-version says what the profile of --write states",
                              "write --write with it");
    }
    const std::string version =
        options.has("profile-version") ? options.get("profile-version") : "1";
    const std::vector<Scenario> measurements = load_scenarios(files);
    if (measurements.empty()) {
        throw sim::InputError("no measurement", "usage: podsim calibrate FILE|DIR ...");
    }
    const CalibrationOptions how{.per_chip = factors(options.get("per-chip")),
                                 .pooled = factors(options.get("pooled")),
                                 .inference = options.is_set("inference"),
                                 .jobs = parse_jobs(options)};
    const Calibration calibration = [&] {
        TerminalWatch watch(err, on_terminal(err));
        return calibrate(measurements, how, &watch);
    }();
    if (json != "-") {
        out << calibration_text(calibration);
    }
    if (!profile.empty()) {
        write_profile(calibration.profile, profile, version);
    }
    if (!json.empty()) {
        write_json(calibration_json(calibration), json, out);
    }
    return kDone;
}

}  // namespace podsim::scenarios
