#include "scenarios/src/cli/diff_command.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/src/cli/cli.h"
#include "scenarios/src/cli/common.h"
#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/cli/look.h"
#include "scenarios/src/cli/lost_inputs.h"
#include "scenarios/src/cli/output.h"
#include "scenarios/src/cli/terminal_watch.h"
#include "scenarios/src/scenario/changed_chip.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/shown_scenario.h"
#include "scenarios/src/simulate/simulate.h"
#include "scenarios/src/simulate/within_clock.h"
#include "scenarios/src/study/difference_report.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

constexpr const char* kUsageOfDiff = "usage: podsim diff A B, or podsim diff A --set-b key=value";

/// A setting to change, and the option that gives it.
struct Change {
    std::string option;
    std::string setting;
};

/// A scenario or a written result, with its changes.
struct Side {
    ScenarioSource source;
    std::vector<Change> changes;
};

StepFigures simulated(const Side& side, TimedWatch& watch) {
    YamlNode tree = read_scenario(side.source);
    for (const auto& [option, setting] : side.changes) {
        apply_setting(tree, setting, option);
    }
    const Scenario scenario = load_scenario(tree, side.source.file);
    if (scenario.is_program()) {
        throw sim::InputError("a program of stages, not a step",
                              "podsim diff sets steps side by side; podsim compare has programs, "
                              "a line each",
                              {side.source.file, 0, 0});
    }
    const StepResult result = within_clock(
        scenario, [&] { return simulate_step(scenario, Fold::automatic, {.watch = &watch}); });
    return figures_of(show_scenario(std::move(tree), side.source.file), result);
}

StepFigures figures_of_side(Side side, TimedWatch& watch) {
    std::string text = text_of(side.source);
    std::string label = side.source.file;
    for (const Change& change : side.changes) {
        label += " --set " + change.setting;
    }
    const auto document = document_in(text);
    if (document && !side.changes.empty()) {
        throw sim::InputError("a result is as it was written",
                              "--set, --set-a and --set-b change scenarios",
                              {side.source.file, 0, 0});
    }
    side.source.text = std::move(text);
    StepFigures figures =
        document ? figures_of(*document, side.source.file) : simulated(side, watch);
    figures.label = std::move(label);
    return figures;
}

/// Returns A and B. Without a second name B is A with changes.
std::pair<Side, Side> sides_of(const Usage& options) {
    const std::vector<std::string> names = options.positionals();
    if (names.empty() ||
        (names.size() == 1 && options.all("set-a").empty() && options.all("set-b").empty())) {
        throw sim::InputError(names.empty() ? "nothing to compare" : "nothing to compare A with",
                              kUsageOfDiff);
    }
    if (names.size() == 2 && names[0] == "-" && names[1] == "-") {
        throw sim::InputError("A and B are both standard input", "name a file for one of them");
    }
    Side a{named_source(names.front()), {}};
    Side b{names.size() == 1 ? a.source : named_source(names[1]), {}};
    const auto add = [&](Side& side, const std::string& option) {
        for (const std::string& setting : options.all(option)) {
            side.changes.push_back({"--" + option, setting});
        }
    };
    for (Side* const side : {&a, &b}) {
        add(*side, "set");
    }
    add(a, "set-a");
    add(b, "set-b");
    return {std::move(a), std::move(b)};
}

}  // namespace

Usage diff_usage() {
    Usage usage(
        "diff A [B] [--set key=value]... [--set-a key=value]... [--set-b key=value]... "
        "[--verbose] [--json PATH|-]",
        "Sets two steps side by side, line by line, and says why they differ. A and B are "
        "scenarios,\n"
        "which are simulated, or what podsim run --json wrote of a step; one of them may be - for\n"
        "standard input. Without B, B is A with the changes of --set-b.",
        "podsim diff scenarios/quickstart/llama3-70b-v5p-pod.yaml --set-b training.remat=full",
        "The differences of the terms of each account add up to the difference of the steps, to "
        "the\npicosecond. The settings of a result are its `settings_in_force`; of one without "
        "them, what\nits other keys say is compared.\n");
    usage.settings("set", "override one value of both scenarios; may be repeated");
    usage.settings("set-a", "override one value of A; may be repeated");
    usage.settings("set-b", "override one value of B; may be repeated");
    usage.flag("verbose", "every line of every account");
    usage.file("json", "write the difference as JSON to a file, or alone to standard output (-)");
    usage.positional("FILE", 2);
    return usage;
}

StepDifference answer_diff(const Usage& options, TimedWatch& watch) {
    auto [first, second] = sides_of(options);
    const std::array sources{first.source, second.source};
    refuse_lost_inputs(options, sources);
    StepFigures a = figures_of_side(std::move(first), watch);
    return difference_of(std::move(a), figures_of_side(std::move(second), watch));
}

int command_diff(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = diff_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const std::string json = output_path(options, "json");
    const StepDifference difference = [&] {
        TerminalWatch watch(err, on_terminal(err));
        return answer_diff(options, watch);
    }();
    print_warnings(err, difference.a.warnings, "A");
    print_warnings(err, difference.b.warnings, "B");
    if (json != "-") {
        out << shown(difference_text(difference, options.is_set("verbose")), look_of(out));
    }
    if (!json.empty()) {
        write_json(difference_json(difference), json, out);
    }
    return kDone;
}

}  // namespace podsim::scenarios
