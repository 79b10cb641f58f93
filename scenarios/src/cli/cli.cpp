#include "scenarios/src/cli/cli.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <new>
#include <optional>
#include <ostream>

#include "scenarios/src/base/joined_ranks.h"
#include "scenarios/src/base/memory_limit.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/cli/answer_search.h"
#include "scenarios/src/cli/answer_sweep.h"
#include "scenarios/src/cli/collective_command.h"
#include "scenarios/src/cli/common.h"
#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/cli/compare_command.h"
#include "scenarios/src/cli/diff_command.h"
#include "scenarios/src/cli/guide.h"
#include "scenarios/src/cli/help_text.h"
#include "scenarios/src/cli/hlo_command.h"
#include "scenarios/src/cli/run_command.h"
#include "scenarios/src/cli/serve_command.h"
#include "scenarios/src/cli/stop_request.h"
#include "scenarios/src/cli/terminal_watch.h"
#include "scenarios/src/simulate/within_clock.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

// Commands without a header: nothing but the table below names them.
Usage calibrate_usage();
Usage merge_usage();
Usage help_usage();
Usage topology_usage();
Usage import_usage();
Usage list_usage();
int command_calibrate(Arguments args, std::ostream& out, std::ostream& err);
int command_sweep(Arguments args, std::ostream& out, std::ostream& err);
int command_search(Arguments args, std::ostream& out, std::ostream& err);
int command_merge(Arguments args, std::ostream& out, std::ostream& err);
int command_help(Arguments args, std::ostream& out, std::ostream& err);
int command_topology(Arguments args, std::ostream& out, std::ostream& err);
int command_import(Arguments args, std::ostream& out, std::ostream& err);
int command_list(Arguments args, std::ostream& out, std::ostream& err);

namespace {

constexpr Command kCommands[] = {
    {"run", "simulate one training step of a scenario", command_run, run_usage},
    {"compare", "set scenarios beside the analytic and the reference values", command_compare,
     compare_usage},
    {"diff", "set two steps side by side, and say why they differ", command_diff, diff_usage},
    {"calibrate", "fit the factors of the profile `measured` to measured times", command_calibrate,
     calibrate_usage},
    {"show", "a scenario with every default filled in, and where values come from", command_show,
     show_usage},
    {"init", "write a first scenario for a chip, a slice and a model", command_init, init_usage},
    {"check", "validate scenarios, count their events and say whether they fit", command_check,
     check_usage},
    {"estimate", "the closed forms of a step, without simulating it", command_estimate,
     estimate_usage},
    {"help", "what a key of a scenario or a command means", command_help, help_usage},
    {"sweep", "simulate a scenario under many settings", command_sweep, sweep_usage},
    {"search", "find the best plan of a space, exactly", command_search, search_usage},
    {"merge", "put the records of a sweep's shards together", command_merge, merge_usage},
    {"serve", "serve requests on simulated inference steps", command_serve, serve_usage},
    {"collective", "simulate one collective on a slice", command_collective, collective_usage},
    {"topology", "measure the shape of a slice", command_topology, topology_usage},
    {"hlo", "count or simulate what an HLO module does", command_hlo, hlo_usage},
    {"import", "write a scenario from a MaxText run, or read a Hugging Face config", command_import,
     import_usage},
    {"list", "list chips, models, scenarios or algorithms", command_list, list_usage},
};

constexpr std::string_view kSummary =
    "podsim simulates sharded training steps on TPU pods, hop by hop, and says how long a step "
    "takes, what it waits for, and how far that is from the analytic rooflines.";
constexpr std::string_view kExample = "podsim run scenarios/quickstart/llama3-70b-v5p-pod.yaml";

constexpr GeneralOption kHelp = {"help", 'h',
                                 "print this, or with a command the help of that command"};
constexpr GeneralOption kVersion = {"version", 'V', "print the version and the commit"};
constexpr GeneralOption kGeneralOptions[] = {kHelp, kVersion};

bool is_option(const std::string& argument, const GeneralOption& option) {
    return argument == fmt::format("--{}", option.name) ||
           argument == fmt::format("-{}", option.letter);
}

/// True if the arguments ask for help or the version, so that nothing runs.
bool only_tells(std::span<const std::string> args) {
    return !args.empty() &&
           (args.front() == "help" || is_option(args.front(), kVersion) ||
            std::ranges::any_of(args, [](const auto& each) { return is_option(each, kHelp); }));
}

std::string general_help(int width) {
    const int columns = width > 0 ? width : kHelpWidth;
    Table table({1});
    for (const Command& command : kCommands) {
        table.row({std::string(command.name), std::string(command.summary)});
    }
    Table options({1});
    for (const GeneralOption& option : kGeneralOptions) {
        options.row(
            {fmt::format("-{}, --{}", option.letter, option.name), std::string(option.meaning)});
    }
    std::vector<std::string> statuses;
    for (const ExitStatus& each : kExitStatuses) {
        statuses.push_back(fmt::format("{} {}", each.status, each.meaning));
    }
    return "usage: podsim COMMAND [ARGUMENTS]\n\n" + filled_text(kSummary, columns) +
           "\nCommands:\n" + table.text(2) + "\nOptions:\n" + options.text(2) + '\n' +
           filled_text(fmt::format("Exit status: {}.", fmt::join(statuses, ", ")), columns) +
           fmt::format("\nExample:\n  {}\n", kExample);
}

int dispatch(std::span<const std::string> args, std::ostream& out, std::ostream& err) {
    if (args.empty()) {
        err << "podsim: no command\n\n" << general_help(look_of(err).width);
        return kBadInput;
    }
    const std::string& name = args.front();
    if (is_option(name, kHelp)) {
        out << general_help(look_of(out).width);
        return kDone;
    }
    if (is_option(name, kVersion)) {
        out << "podsim " << PODSIM_VERSION
            << (commit().empty() ? "" : fmt::format(" (commit {})", commit())) << '\n';
        return kDone;
    }
    std::vector<std::string_view> names;
    for (const Command& command : kCommands) {
        if (command.name == name) {
            return command.run(args.subspan(1), out, err);
        }
        names.push_back(command.name);
    }
    if (name.starts_with("-")) {
        std::vector<std::string> options;
        for (const GeneralOption& option : kGeneralOptions) {
            options.push_back(fmt::format("--{}", option.name));
        }
        throw sim::unknown_name("option", printable(name), options);
    }
    throw sim::unknown_name("command", printable(name), names);
}

/// Returns `podsim run: ` for messages that do not begin with a file or an option.
std::string prefix(std::span<const std::string> args, const sim::InputError& error) {
    if (!error.mark().file.empty()) {
        return {};
    }
    for (const Command& command : kCommands) {
        if (!args.empty() && command.name == args.front()) {
            return fmt::format("podsim {}: ", command.name);
        }
    }
    return "podsim: ";
}

}  // namespace

void print_warnings(std::ostream& err, std::span<const std::string> warnings, std::string_view of) {
    for (const std::string& warning : warnings) {
        err << "podsim: warning: " << of << (of.empty() ? "" : ": ") << warning << '\n';
    }
}

std::span<const Command> all_commands() {
    return kCommands;
}

Manual manual() {
    Manual all{.summary = kSummary,
               .version = PODSIM_VERSION,
               .example = kExample,
               .options = kGeneralOptions,
               .commands = {}};
    for (const Command& command : kCommands) {
        all.commands.push_back({command.name, command.summary, command.usage()});
    }
    return all;
}

int run_command(std::span<const std::string> args, std::ostream& out, std::ostream& err) {
    const auto complain = [&](const std::string& message, int status) {
        err << one_line(message) << '\n';
        return status;
    };
    const Launch launched = launch();
    const bool tells = only_tells(args);
    const bool shares_work =
        !args.empty() && !tells && (args.front() == "sweep" || args.front() == "search");
    if (launched.rank > 0 && !shares_work) {
        return kDone;  // rank 0 answers for all
    }
    std::optional<MemoryLimit> limit;
    try {
        if (launched.size > 1 && !shares_work && !tells) {
            throw sim::InputError("only sweep and search run on several ranks",
                                  "start this command without mpirun");
        }
        limit.emplace(memory_option(args));
        const int status = dispatch(args, out, err);
        errno = 0;
        out.flush();
        return out ? status
                   : complain(
                         fmt::format("podsim: cannot write the results to standard "
                                     "output{}; check where it goes",
                                     errno == 0 ? "" : fmt::format(": {}", std::strerror(errno))),
                         kBadInput);
    } catch (const sim::InputError& error) {
        for (const sim::InputError& each : sim::errors_in(error)) {
            static_cast<void>(complain(prefix(args, each) + each.what(), kBadInput));
        }
        return kBadInput;
    } catch (const Interrupted& error) {
        StopSignals::told();
        return complain(prefix(args, sim::InputError("", "")) + error.what(), error.status());
    } catch (const sim::TimeOverflow& error) {
        return complain(clock_error(overflow_place(args), error).what(), kBadInput);
    } catch (const std::bad_alloc&) {
        return complain(out_of_memory(args).what(), kBadInput);
    } catch (const std::system_error& error) {
        // No thread could start, or a file vanished.
        return complain(fmt::format("podsim: {}", error.what()), kBadInput);
    } catch (const std::exception& error) {
        return complain(fmt::format("podsim: internal error: {}", error.what()), kDefect);
    } catch (...) {
        return complain("podsim: internal error: unknown exception", kDefect);
    }
}

}  // namespace podsim::scenarios
