// What the commands of `podsim` share: their list, and options that several of them have.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "scenarios/console/usage.h"
#include "scenarios/simulate/simulate.h"

namespace podsim::scenarios {

/// One command: `run` gets the arguments after its name and returns the exit status.
struct Command {
    std::string_view name;
    std::string_view summary;
    int (*run)(Arguments args, std::ostream& out, std::ostream& err);
};

std::span<const Command> all_commands();

int command_run(Arguments args, std::ostream& out, std::ostream& err);
int command_compare(Arguments args, std::ostream& out, std::ostream& err);
int command_calibrate(Arguments args, std::ostream& out, std::ostream& err);
int command_serve(Arguments args, std::ostream& out, std::ostream& err);
int command_sweep(Arguments args, std::ostream& out, std::ostream& err);
int command_merge(Arguments args, std::ostream& out, std::ostream& err);
int command_collective(Arguments args, std::ostream& out, std::ostream& err);
int command_topology(Arguments args, std::ostream& out, std::ostream& err);
int command_list(Arguments args, std::ostream& out, std::ostream& err);

/// Where a simulation left the clock's range, when no command named its file: of a collective its size, the only
/// quantity that its options leave open.
std::string overflow_place(Arguments args);

/// The value of --fold. Throws sim::InputError.
Fold parse_fold(const std::string& text);

/// The threads of --jobs: a number up to kMostJobs, without the option the cores of the machine.
int parse_jobs(const Usage& options);

/// The number of --slices of that hardware, at most kMostChips together. Throws sim::InputError.
int read_slices(const Usage& options, const Hardware& hardware);

/// Whether the stream is standard error, on a terminal.
bool on_terminal(const std::ostream& err);

}  // namespace podsim::scenarios
