// Options that several commands have.
#pragma once

#include <string>
#include <vector>

#include "scenarios/console/usage.h"
#include "scenarios/load/scenario_source.h"
#include "scenarios/spec/request.h"
#include "scenarios/spec/scenario.h"

namespace podsim::scenarios {

/// Where a simulation left the clock's range, when no command named its file: of a collective its size, the only
/// quantity that its options leave open.
std::string overflow_place(Arguments args);

/// Stacks of threads are part of it.
inline constexpr double kLeastMemory = 256e6;
/// The bytes of --memory, infinite without it. Throws sim::InputError.
double memory_option(Arguments args);

/// What to say where memory has run out. Of a process that may take so much (memory_limit).
sim::InputError out_of_memory(Arguments args);

/// The one scenario of a command, `-` for standard input. Throws sim::InputError without one.
ScenarioSource scenario_argument(const Usage& options, std::string_view command);

/// Those of a command that takes several, files and folders.
std::vector<ScenarioSource> scenario_arguments(const Usage& options);

/// Declares --fold, and --chip with those of the catalogue.
void add_fold_option(Usage& usage);
void add_chip_option(Usage& usage);

/// The value of --fold. Throws sim::InputError.
Fold parse_fold(const std::string& text);

/// The threads of --jobs: a number up to kMostJobs, without the option the cores of the machine.
int parse_jobs(const Usage& options);

/// The value of --chip, which may be left out where --slice is a name such as `v5p-512`.
std::string chip_option(const Usage& options);

/// The number of --slices of that hardware, at most kMostChips together. Throws sim::InputError.
int read_slices(const Usage& options, const Hardware& hardware);

}  // namespace podsim::scenarios
