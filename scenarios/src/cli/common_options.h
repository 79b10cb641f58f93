// Options that several commands have.
#pragma once

#include <string>
#include <vector>

#include "scenarios/src/cli/usage.h"
#include "scenarios/src/scenario/request.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/scenario/scenario_source.h"

namespace podsim::scenarios {

/// Returns the location of an overflow of the clock if no command named its file. For a collective
/// it is the size, the only quantity that its options leave open.
std::string overflow_place(Arguments args);

/// Smallest value of --memory; thread stacks count towards it.
inline constexpr double kLeastMemory = 256e6;
/// Returns the bytes of --memory, infinity without it. Throws sim::InputError.
double memory_option(Arguments args);

/// Returns the error to report when memory has run out. It names the limit of the process
/// (memory_limit).
sim::InputError out_of_memory(Arguments args);

/// Returns the one scenario of a command, `-` for standard input. Throws sim::InputError without
/// one.
ScenarioSource scenario_argument(const Usage& options, std::string_view command);

/// Returns the scenarios of a command that accepts several files and folders.
std::vector<ScenarioSource> scenario_arguments(const Usage& options);

/// Declares --fold.
void add_fold_option(Usage& usage);
/// Declares --chip with the names of the catalogue.
void add_chip_option(Usage& usage);

/// Parses the value of --fold. Throws sim::InputError.
Fold parse_fold(const std::string& text);

/// Returns the threads of --jobs, at most kMostJobs; without the option the cores of the machine.
int parse_jobs(const Usage& options);

/// Returns the value of --chip, which may be left out if --slice is a name such as `v5p-512`.
std::string chip_option(const Usage& options);

/// Returns the number of --slices, at most kMostChips chips together. Throws sim::InputError.
int read_slices(const Usage& options, const Hardware& hardware);

}  // namespace podsim::scenarios
