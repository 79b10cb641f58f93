#include "scenarios/cli/cli.h"

#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <ostream>

#include "scenarios/cli/common.h"
#include "scenarios/commands/common_options.h"
#include "scenarios/console/commit.h"
#include "scenarios/console/terminal_watch.h"
#include "scenarios/guide/guide.h"
#include "scenarios/ranks/joined_ranks.h"
#include "scenarios/study/within_clock.h"
#include "scenarios/text/quote.h"
#include "scenarios/text/table.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "sim/base/time.h"

namespace podsim::scenarios {
namespace {

constexpr Command kCommands[] = {
    {"run", "simulate one training step of a scenario", command_run},
    {"compare", "set scenarios beside the analytic and the reference values", command_compare},
    {"diff", "set two steps side by side, and say why they differ", command_diff},
    {"calibrate", "fit the factors of the profile `measured` to measured times", command_calibrate},
    {"show", "a scenario with every default filled in, and where values come from", command_show},
    {"init", "write a first scenario for a chip, a slice and a model", command_init},
    {"check", "validate scenarios, count their events and say whether they fit", command_check},
    {"estimate", "the closed forms of a step, without simulating it", command_estimate},
    {"help", "what a key of a scenario or a command means", command_help},
    {"sweep", "simulate a scenario under many settings", command_sweep},
    {"search", "find the best plan of a space, exactly", command_search},
    {"merge", "put the records of a sweep's shards together", command_merge},
    {"serve", "serve requests on simulated inference steps", command_serve},
    {"collective", "simulate one collective on a slice", command_collective},
    {"topology", "measure the shape of a slice", command_topology},
    {"import", "write a scenario from a MaxText run, or read a Hugging Face config",
     command_import},
    {"list", "list chips, models, scenarios or algorithms", command_list},
};

std::string general_help() {
    Table table({1});
    for (const Command& command : kCommands) {
        table.row({std::string(command.name), std::string(command.summary)});
    }
    return "usage: podsim COMMAND [ARGUMENTS]\n\n"
           "podsim simulates sharded training steps on TPU pods, hop by hop, and says how long a\n"
           "step takes, what it waits for, and how far that is from the analytic rooflines.\n\n"
           "Commands:\n" +
           table.text(2) +
           "\nOptions:\n"
           "  --help     print this, or with a command the help of that command\n"
           "  --version  print the version and the commit\n"
           "\nExit status: 0 done, 1 a stated expectation does not hold, 2 bad usage or bad\n"
           "input, 3 a defect in podsim, 4 does not fit (--fail-if-not-fit), 130 stopped by\n"
           "SIGINT (Ctrl-C), 143 stopped by SIGTERM or SIGHUP.\n"
           "\nExample:\n  podsim run scenarios/quickstart/llama3-70b-v5p-pod.yaml\n";
}

int dispatch(std::span<const std::string> args, std::ostream& out, std::ostream& err) {
    if (args.empty()) {
        throw sim::InputError("no command", "try podsim --help");
    }
    const std::string& name = args.front();
    if (name == "--help" || name == "-h") {
        out << general_help();
        return kDone;
    }
    if (name == "--version" || name == "-V") {
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
        names = {"--help", "--version"};
        throw sim::unknown_name("option", printable(name), names);
    }
    throw sim::unknown_name("command", printable(name), names);
}

/// `podsim run: ` before messages that do not start with a file or an option.
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

std::span<const Command> all_commands() {
    return kCommands;
}

int run_command(std::span<const std::string> args, std::ostream& out, std::ostream& err) {
    const auto complain = [&](const std::string& message, int status) {
        err << one_line(message) << '\n';
        return status;
    };
    const Launch launched = launch();
    const bool shares_work = !args.empty() && args.front() == "sweep";
    if (launched.rank > 0 && !shares_work) {
        return kDone;  // rank 0 answers for all
    }
    try {
        if (launched.size > 1 && !shares_work) {
            throw sim::InputError("only a sweep runs on several ranks",
                                  "start this command without mpirun");
        }
        const int status = dispatch(args, out, err);
        out.flush();
        return out ? status : complain("podsim: cannot write the results", kBadInput);
    } catch (const sim::InputError& error) {
        for (const sim::InputError& each : sim::errors_in(error)) {
            static_cast<void>(complain(prefix(args, each) + each.what(), kBadInput));
        }
        return kBadInput;
    } catch (const Interrupted& error) {
        return complain(prefix(args, sim::InputError("", "")) + error.what(), error.status());
    } catch (const sim::TimeOverflow& error) {
        return complain(clock_error(overflow_place(args), error).what(), kBadInput);
    } catch (const std::filesystem::filesystem_error& error) {
        return complain(fmt::format("podsim: {}", error.what()), kBadInput);
    } catch (const std::exception& error) {
        return complain(fmt::format("podsim: internal error: {}", error.what()), kDefect);
    } catch (...) {
        return complain("podsim: internal error: unknown exception", kDefect);
    }
}

}  // namespace podsim::scenarios
