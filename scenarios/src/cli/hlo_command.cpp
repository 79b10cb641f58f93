#include "scenarios/src/cli/hlo_command.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <ostream>
#include <re2/re2.h>
#include <utility>

#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/cli/cli.h"
#include "scenarios/src/cli/common.h"
#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/cli/look.h"
#include "scenarios/src/cli/output.h"
#include "scenarios/src/cli/terminal_watch.h"
#include "scenarios/src/hlo/hlo_json.h"
#include "scenarios/src/hlo/hlo_report.h"
#include "scenarios/src/report/event_file.h"
#include "scenarios/src/report/step_timeline.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/profile.h"
#include "scenarios/src/scenario/yaml_tree.h"
#include "sim/base/nearest.h"
#include "topology/chips/slice_names.h"
#include "workloads/hlo/read_module.h"

namespace podsim::scenarios {
namespace {

constexpr std::array<std::string_view, 2> kActions{"stats", "run"};
constexpr std::array<std::string_view, 2> kProfiles{"measured", "ideal"};
constexpr std::array<std::string_view, 2> kAttention{"causal", "full"};

constexpr const char* kStandardInput = "standard input";

/// Modules of hundreds of unrolled layers have tens of MB.
constexpr FileLimit kModuleFile{.bytes = std::size_t{1} << 28,
                                .remedy = "give the text of one module",
                                .what = "HLO text",
                                .written = "dump the module as text: compiled.as_text()"};

/// Splits `NAME=VALUE` at its last `=`.
std::pair<std::string, std::string> split(const std::string& option, const std::string& text) {
    const std::size_t at = text.rfind('=');
    if (at == std::string::npos || at == 0) {
        throw sim::InputError("no NAME=VALUE", {}, {option + ' ' + printable(text), 0, 0});
    }
    return {text.substr(0, at), text.substr(at + 1)};
}

workloads::hlo::GivenTrips read_trips(const Usage& options) {
    workloads::hlo::GivenTrips trips;
    for (const std::string& text : options.all("trips")) {
        const auto [name, value] = split("--trips", text);
        try {
            trips[name] = parse_count(value);
        } catch (const sim::InputError& error) {
            throw error.at({"--trips " + printable(text), 0, 0});
        }
    }
    return trips;
}

/// Returns the FLOPs of custom calls: regular expressions match name and target, and the first
/// match counts.
std::function<double(const workloads::hlo::Instruction&)> read_flops(const Usage& options) {
    struct Rule {
        std::unique_ptr<const re2::RE2> pattern;
        double flops = 0;
    };
    auto rules = std::make_shared<std::vector<Rule>>();
    for (const std::string& text : options.all("flops")) {
        const auto [name, value] = split("--flops", text);
        const sim::SourceMark mark{"--flops " + printable(text), 0, 0};
        auto pattern = std::make_unique<const re2::RE2>(name, re2::RE2::Quiet);
        if (!pattern->ok()) {
            throw sim::InputError(
                fmt::format("no regular expression: {}", printable(pattern->error())),
                "the syntax is RE2's", mark);
        }
        try {
            rules->push_back({std::move(pattern), static_cast<double>(parse_count(value))});
        } catch (const sim::InputError& error) {
            throw error.at(mark);
        }
    }
    if (rules->empty()) {
        return {};
    }
    return [rules](const workloads::hlo::Instruction& at) {
        const std::string_view target = at.text("custom_call_target");
        for (const auto& [pattern, flops] : *rules) {
            if (re2::RE2::PartialMatch(at.name, *pattern) ||
                re2::RE2::PartialMatch({target.data(), target.size()}, *pattern)) {
                return flops;
            }
        }
        return -1.0;
    };
}

MeshText read_mesh(const std::string& text) {
    MeshText mesh;
    std::size_t at = 0;
    while (at <= text.size()) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        const std::string part = text.substr(at, end - at);
        const std::size_t colon = part.find(':');
        const auto trimmed = [](std::string word) {
            word.erase(0, std::min(word.find_first_not_of(' '), word.size()));
            word.erase(word.find_last_not_of(' ') + 1);
            return word;
        };
        if (colon == std::string::npos || trimmed(part.substr(0, colon)).empty()) {
            throw sim::InputError(fmt::format("'{}' is no axis", printable(part)),
                                  "write `data: 4, fsdp: 16`, or factors: `data: x, fsdp: y z`");
        }
        mesh.emplace_back(trimmed(part.substr(0, colon)), trimmed(part.substr(colon + 1)));
        at = end + 1;
    }
    return mesh;
}

void take_profile(const Usage& options, IdealHardware& hardware) {
    const std::string name = read_option(options, "profile", [](const std::string& text) {
        if (std::ranges::find(kProfiles, text) == kProfiles.end()) {
            throw sim::unknown_name("profile", printable(text), kProfiles);
        }
        return text;
    });
    const std::optional<Profile> measured =
        name == "measured" ? std::optional(measured_profile()) : std::nullopt;
    const bool was_measured = measured && measured->chips.contains(hardware.chip.name);
    if (measured && !was_measured && options.is_given("profile")) {
        throw sim::InputError(fmt::format("nothing was measured on {}", hardware.chip.name),
                              "take --profile ideal", {"--profile measured", 0, 0});
    }
    if (was_measured) {
        hardware.profile = measured->name;
        hardware.profile_version = measured->version;
        hardware.efficiency = measured->chips.at(hardware.chip.name);
    }
}

IdealHardware read_hardware(const Usage& options) {
    std::vector<std::string> names{"slice"};
    if (!options.has("slice") || !topology::is_slice_name(options.get("slice"))) {
        names.insert(names.begin(), "chip");
    }
    options.require(names);
    IdealHardware hardware = hardware_from_options({.chip = chip_option(options),
                                                    .slice = options.get("slice"),
                                                    .twisted = options.is_set("twisted"),
                                                    .latency = options.get("latency"),
                                                    .hbm = options.get("hbm")});
    hardware.slices = read_slices(options, hardware);
    take_profile(options, hardware);
    return hardware;
}

std::string read_text(const std::string& path) {
    if (path != "-") {
        return read_text_file(path, kModuleFile);
    }
    constexpr std::size_t kAtOnce = std::size_t{1} << 16;
    std::string text;
    for (std::size_t read = 0; std::cin && read <= kModuleFile.bytes; read = text.size()) {
        text.resize(read + kAtOnce);
        std::cin.read(text.data() + read, kAtOnce);
        text.resize(read + static_cast<std::size_t>(std::cin.gcount()));
    }
    check_text(text, kStandardInput, kModuleFile);
    return text;
}

/// Throws sim::InputError for a loop that the module does not have, or if no custom call matches
/// --flops.
void check_names(const HloInput& input) {
    std::vector<std::string> loops;
    bool costed = !input.rules.flops;
    for (const auto& computation : input.module.computations) {
        for (const auto& each : computation.instructions) {
            if (each.opcode == "while") {
                loops.push_back(each.name);
            }
            costed = costed || (each.opcode == "custom-call" && input.rules.flops(each) >= 0);
        }
    }
    for (const auto& [name, trips] : input.trips) {
        if (std::ranges::find(loops, name) == loops.end()) {
            throw sim::unknown_name("loop", printable(name), loops).at({"--trips", 0, 0});
        }
    }
    if (!costed) {
        throw sim::InputError("no custom call has such a name or target",
                              "podsim hlo stats lists the targets", {"--flops", 0, 0});
    }
}

HloInput read_input(const Usage& options, const std::string& path) {
    HloInput input{
        .module = workloads::hlo::read_module(read_text(path), path == "-" ? kStandardInput : path),
        .rules = {},
        .trips = read_trips(options)};
    input.rules.flops = read_flops(options);
    input.rules.dq_apart = workloads::hlo::has_dq_kernel(input.module);
    input.rules.causal = read_option(options, "attention", [](const std::string& text) {
        if (std::ranges::find(kAttention, text) == kAttention.end()) {
            throw sim::unknown_name("attention", printable(text), kAttention);
        }
        return text == "causal";
    });
    check_names(input);
    input.devices = workloads::hlo::devices_of(input.module);
    if (options.has("devices")) {
        input.devices = read_option(options, "devices", [&](const std::string& text) {
            const std::int64_t devices = parse_count(text);
            if (devices < input.devices || devices > kMostChips) {
                throw sim::InputError(
                    "out of range", fmt::format("the module names device {}; up to {} are allowed",
                                                input.devices - 1, kMostChips));
            }
            return devices;
        });
    }
    return input;
}

/// Refuses the options that `stats` would silently ignore.
void refuse_options_of_run(const Usage& options) {
    for (const char* const name : {"chip", "slice", "twisted", "slices", "mesh", "profile",
                                   "latency", "hbm", "fold", "no-explain", "trace"}) {
        if (options.is_given(name)) {
            throw sim::InputError("is for `podsim hlo run`", "leave it out of `podsim hlo stats`",
                                  {fmt::format("--{}", name), 0, 0});
        }
    }
}

}  // namespace

Usage hlo_usage() {
    Usage usage(
        "hlo stats FILE [--trips LOOP=N]... [--devices N] [--json PATH|-]\n"
        "podsim hlo run FILE --chip v5p --slice 8x8x8 [--slices N] [--mesh 'data: 2, fsdp: 256']\n"
        "       [--profile measured|ideal] [--no-explain] [--trace PATH] [--json PATH|-]",
        "Reads the text of a partitioned HLO module, as JAX and XLA write it. `stats` counts what\n"
        "it does: FLOPs, HBM bytes and collectives by their groups, each as often as its loops go\n"
        "round. `run` simulates it on a slice, in the module's own order, hop by hop.",
        "podsim hlo run module.txt --chip v5p --slice 4x4x4",
        "FILE: `compiled.as_text()` of JAX, or *after_optimizations.txt of\n"
        "XLA_FLAGS=--xla_dump_to=DIR; `-` is standard input. docs/hlo.md says what is played "
        "how.\n");
    usage.positional("ACTION FILE", 2);
    usage.offer("ACTION FILE", kActions);
    add_chip_option(usage);
    usage.value("slice", "chips along each axis, as in 16x20x28, or a name such as v5p-512");
    usage.flag("twisted", "a twisted torus (k x k x 2k, k x 2k x 2k)");
    usage.value("slices", "number of slices, joined by the data-centre network", "1");
    usage.value("mesh",
                "axes of the devices, slowest first, with sizes (laid out as JAX does) or with "
                "factors of the slice: 'data: x, fsdp: y z'; without it as the groups show");
    usage.value("devices", "how many there are, where the module does not say");
    usage.values("trips", "LOOP=N: iterations of a loop that does not say; may be repeated");
    usage.values("flops",
                 "REGEX=N: FLOPs of custom calls by name or target (1.5e12); may be repeated: of "
                 "those that match, the first counts");
    usage.value("attention", "causal or full: what kernels known as attention compute", "causal");
    usage.offer("attention", kAttention);
    usage.value("profile", "measured or ideal: what of the chip's rates is reached", "measured");
    usage.offer("profile", kProfiles);
    usage.value("latency", "additive or floor", "additive");
    usage.offer("latency", latency_rule_names());
    usage.value("hbm", "shared or private: whether messages wait for the chips' HBM", "shared");
    usage.offer("hbm", hbm_rule_names());
    add_fold_option(usage);
    usage.flag("no-explain", "leave out the runs behind the gap");
    usage.file("trace",
               "with run: write a timeline for ui.perfetto.dev; compressed where PATH ends in .gz");
    usage.file("json", "write the result as JSON to a file, or alone to standard output (-)");
    return usage;
}

HloAnswer answer_hlo(const Usage& options, TimedWatch& watch) {
    const std::vector<std::string> words = options.positionals();
    if (words.empty() || std::ranges::find(kActions, words.front()) == kActions.end()) {
        throw words.empty() ? sim::InputError("nothing to do", "usage: podsim hlo stats|run FILE")
                            : sim::unknown_name("action", printable(words.front()), kActions);
    }
    if (words.size() < 2) {
        throw sim::InputError("no module", fmt::format("usage: podsim hlo {} FILE", words.front()));
    }
    HloAnswer answer;
    answer.request.input = read_input(options, words[1]);
    watch.begin();
    if (words.front() == "stats") {
        refuse_options_of_run(options);
        answer.totals =
            workloads::hlo::totals_of(answer.request.input.module, answer.request.input.rules,
                                      answer.request.input.trips, answer.request.input.devices);
        return answer;
    }
    answer.request.hardware = read_hardware(options);
    if (options.has("mesh")) {
        answer.request.mesh = read_option(options, "mesh", read_mesh);
    }
    answer.request.fold = parse_fold(options.get("fold"));
    answer.request.explain = !options.is_set("no-explain");
    answer.request.keep_trail = options.has("trace");
    answer.result = simulate_hlo(answer.request, &watch);
    answer.wall_time_s = watch.seconds();
    return answer;
}

void write_timeline(const HloAnswer& answer, const std::string& path) {
    if (answer.result->trail == nullptr) {
        throw sim::InputError("this run is too long for a timeline, or not folded",
                              "leave out --fold off, or give a module of fewer iterations",
                              {"--trace", 0, 0});
    }
    const Scenario scenario = scenario_of(answer.request, answer.result->devices);
    write_event_file(path, scenario.name, [&](TimelineSink& sink) {
        tell_step(scenario, *answer.result->trail, Detail::steady, sink);
    });
}

Json answer_json(const HloAnswer& answer) {
    return answer.result ? hlo_json(answer.request, *answer.result, answer.wall_time_s)
                         : totals_json(answer.request.input, answer.totals);
}

int command_hlo(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = hlo_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const std::string json = output_path(options, "json");
    const std::string trace = output_path(options, "trace");
    refuse_dash("--trace", trace);
    const HloAnswer answer = [&] {
        TerminalWatch watch(err, on_terminal(err));
        return answer_hlo(options, watch);
    }();
    if (json != "-") {
        const HloRequest& request = answer.request;
        out << shown(answer.result ? hlo_report(request, *answer.result, answer.wall_time_s)
                                   : totals_report(request.input, answer.totals),
                     look_of(out));
    }
    if (!trace.empty() && answer.result) {
        write_timeline(answer, trace);
    }
    if (!json.empty()) {
        write_json(answer_json(answer), json, out);
    }
    return kDone;
}

}  // namespace podsim::scenarios
