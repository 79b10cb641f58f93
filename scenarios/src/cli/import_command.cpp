// `podsim import`: scenarios and models from configurations of other programs.
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>

#include "scenarios/src/base/quote.h"
#include "scenarios/src/cli/cli.h"
#include "scenarios/src/cli/common.h"
#include "scenarios/src/cli/output.h"
#include "scenarios/src/import/maxtext_import.h"
#include "scenarios/src/import/maxtext_report.h"
#include "scenarios/src/scenario/hf_report.h"
#include "scenarios/src/scenario/scenario_source.h"
#include "sim/base/nearest.h"

namespace podsim::scenarios {
namespace {

constexpr std::string_view kFormats[] = {"maxtext", "hf"};
constexpr int kMostArguments = 1000;

int import_maxtext_run(const std::vector<std::string>& arguments, const Usage& options,
                       std::ostream& out, std::ostream& err) {
    if (arguments.size() < 2) {
        throw sim::InputError("no file", "write podsim import maxtext base.yml key=value ...");
    }
    const std::string json = output_path(options, "json");
    const std::string path = output_path(options, "write");
    refuse_dash("--write", path);
    const ScenarioSource source = named_source(arguments[1]);
    const MaxTextTree tree = maxtext_tree(text_of(source), source.file);
    for (const NamedOutput& output : outputs_of(options)) {
        for (const std::string& base : tree.bases) {
            refuse_lost_input(output, base);
        }
    }
    MaxTextSettings settings(tree, std::span(arguments).subspan(2));
    const std::string title =
        path.empty() ? "imported" : std::filesystem::path(path).stem().string();
    const MaxTextImport result = import_maxtext(settings, printable(title));
    if (const std::string defaults = maxtext_defaults_text(settings); !defaults.empty()) {
        err << fmt::format("warning: {}\n", defaults);
    }
    for (const MaxTextSettings::Line& line : settings.not_expressed()) {
        err << fmt::format("warning: {}={} is not expressed: {}\n", line.key, printable(line.value),
                           line.why);
    }
    for (const std::string& problem : maxtext_problems(result)) {
        err << fmt::format("warning: podsim does not run this scenario: {}\n", problem);
    }
    const std::string report = maxtext_report(settings, result);
    const std::string text = as_comments(report) + result.scenario;
    if (!path.empty()) {
        write_file("--write", path, text);
    }
    if (json != "-") {
        out << (path.empty() ? text : report);
    }
    if (!json.empty()) {
        write_json(maxtext_json(settings, result), json, out);
    }
    return kDone;
}

int import_hf(const std::vector<std::string>& arguments, const Usage& options, std::ostream& out) {
    if (arguments.size() != 2) {
        throw sim::InputError("one file", "write podsim import hf config.json");
    }
    if (options.has("write")) {
        throw sim::InputError("--write: a config is no scenario",
                              "name it in one, model: {hf_config: config.json}, or write podsim "
                              "init --model config.json");
    }
    const std::string json = output_path(options, "json");
    const workloads::HfReading reading =
        workloads::read_hf_config_fully(arguments[1] == "-" ? "/dev/stdin" : arguments[1]);
    if (json != "-") {
        out << hf_report(reading);
    }
    if (!json.empty()) {
        write_json(hf_json(reading), json, out);
    }
    return kDone;
}

}  // namespace

Usage import_usage() {
    Usage usage(
        "import maxtext FILE.yml [key=value]... [--write PATH] [--json PATH|-]\n"
        "       podsim import hf config.json [--json PATH|-]",
        "Writes the scenario of a MaxText run (its YAML and the overrides of its command line;\n"
        "compile_topology says the machine), with what became of every key as comments. Or says\n"
        "how the keys of a Hugging Face config are understood (model: {hf_config: config.json}).",
        "podsim import maxtext base.yml model_name=llama3.1-70b per_device_batch_size=4 \\\n"
        "    max_target_length=8192 remat_policy=full compile_topology=v6e-128",
        fmt::format("Families of Hugging Face configs (model_type): {}.\n",
                    fmt::join(workloads::hf_family_names(), ", ")));
    usage.file("write", "write the scenario to a file");
    usage.file("json", "write the result as JSON to a file, or alone to standard output (-)");
    usage.positional("WHAT", kMostArguments);
    usage.offer("WHAT", kFormats);
    return usage;
}

int command_import(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = import_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const std::vector<std::string> arguments = options.all("WHAT");
    if (arguments.empty()) {
        throw sim::InputError("import what?",
                              fmt::format("allowed: {}", fmt::join(kFormats, ", ")));
    }
    if (arguments.front() == "maxtext") {
        return import_maxtext_run(arguments, options, out, err);
    }
    if (arguments.front() == "hf") {
        return import_hf(arguments, options, out);
    }
    throw sim::unknown_name("format", printable(arguments.front()), kFormats);
}

}  // namespace podsim::scenarios
