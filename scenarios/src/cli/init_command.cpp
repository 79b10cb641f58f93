// `podsim init`: a first scenario.
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>
#include <string>
#include <vector>

#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/cli/exit_status.h"
#include "scenarios/src/cli/guide.h"
#include "scenarios/src/cli/look.h"
#include "scenarios/src/cli/output.h"
#include "sim/base/error.h"
#include "topology/chips/slice_names.h"
#include "workloads/models/model.h"

namespace podsim::scenarios {

Usage init_usage() {
    Usage usage("init --chip v5p [--slice 8x8x8] --model llama-3-70b [--write PATH]",
                "Writes a scenario with comments for a chip, a slice and a model: a training step "
                "in the first simple mesh\nthat fits.",
                "podsim init --chip v5p --slice 8x8x8 --model llama-3-70b --write first.yaml");
    add_chip_option(usage);
    usage.value("slice",
                "chips along each axis, without it those of one host; or a name as v5p-16, which "
                "says the chip, so that --chip may be left out");
    usage.value("model", "a model of `podsim list models`, or a Hugging Face config.json");
    std::vector<std::string> models;
    for (const workloads::ModelSpec& model : workloads::model_catalogue()) {
        models.push_back(model.name);
    }
    usage.offer("model", models);
    usage.file("write", "write the scenario to a file, not to standard output");
    return usage;
}

namespace {

/// Throws one error for all missing options.
void refuse_without_needs(const Usage& options) {
    const bool has_chip = options.has("chip") ||
                          (options.has("slice") && topology::is_slice_name(options.get("slice")));
    std::vector<std::string> missing;
    if (!has_chip) {
        missing.emplace_back("--chip");
    }
    if (!options.has("model")) {
        missing.emplace_back("--model");
    }
    if (!missing.empty()) {
        throw sim::InputError(
            fmt::format("{} {} missing", fmt::join(missing, " and "),
                        missing.size() == 1 ? "is" : "are"),
            fmt::format("write podsim init --chip v5p --model llama-3-8b{}",
                        has_chip ? "" : ", or --slice v5p-16 in place of the chip"));
    }
}

}  // namespace

Draft answer_init(const Usage& options) {
    refuse_without_needs(options);
    const std::string path = options.has("write") ? options.get("write") : "";
    return draft_scenario(chip_option(options), options.has("slice") ? options.get("slice") : "",
                          options.get("model"), std::filesystem::path(path).parent_path());
}

int command_init(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = init_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const std::string path = output_path(options, "write");
    refuse_dash("--write", path);
    refuse_without_needs(options);
    if (!path.empty()) {
        refuse_lost_input({"write", path}, options.get("model"));
    }
    const Draft draft = answer_init(options);
    if (path.empty()) {
        out << draft.text;
    } else {
        write_file("--write", path, draft.text);
    }
    if (!draft.fits) {
        err << "podsim: warning: no simple mesh of this slice holds the model; podsim run says "
               "what would\n";
    }
    return kDone;
}

}  // namespace podsim::scenarios
