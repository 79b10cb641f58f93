// What the commands of `podsim` share.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "scenarios/console/look.h"
#include "scenarios/console/usage.h"
#include "scenarios/manual/manual.h"

namespace podsim::scenarios {

/// One command: `run` gets the arguments after its name and returns the exit status; `usage` has its options.
struct Command {
    std::string_view name;
    std::string_view summary;
    int (*run)(Arguments args, std::ostream& out, std::ostream& err);
    Usage (*usage)();
};

std::span<const Command> all_commands();
/// All of them with their options, to be written as a manual.
Manual manual();

Usage calibrate_usage();
Usage merge_usage();
Usage help_usage();
Usage topology_usage();
Usage import_usage();
Usage list_usage();

/// One line each: `podsim: warning: ...`, those of one of several inputs after its name.
void print_warnings(std::ostream& err, std::span<const std::string> warnings,
                    std::string_view of = {});

int command_run(Arguments args, std::ostream& out, std::ostream& err);
int command_compare(Arguments args, std::ostream& out, std::ostream& err);
int command_diff(Arguments args, std::ostream& out, std::ostream& err);
int command_calibrate(Arguments args, std::ostream& out, std::ostream& err);
int command_serve(Arguments args, std::ostream& out, std::ostream& err);
int command_sweep(Arguments args, std::ostream& out, std::ostream& err);
int command_search(Arguments args, std::ostream& out, std::ostream& err);
int command_merge(Arguments args, std::ostream& out, std::ostream& err);
int command_collective(Arguments args, std::ostream& out, std::ostream& err);
int command_help(Arguments args, std::ostream& out, std::ostream& err);
int command_topology(Arguments args, std::ostream& out, std::ostream& err);
int command_hlo(Arguments args, std::ostream& out, std::ostream& err);
int command_import(Arguments args, std::ostream& out, std::ostream& err);
int command_list(Arguments args, std::ostream& out, std::ostream& err);

}  // namespace podsim::scenarios
