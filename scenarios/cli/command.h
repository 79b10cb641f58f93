// What the commands of `podsim` share: option parsing with our messages, help, files to write.
// Internal to the command line.
#pragma once

#include <fmt/format.h>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>

#include "scenarios/report/report.h"
#include "scenarios/text/format.h"
#include "sim/base/error.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

using Arguments = std::span<const std::string>;

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
int command_sweep(Arguments args, std::ostream& out, std::ostream& err);
int command_collective(Arguments args, std::ostream& out, std::ostream& err);
int command_topology(Arguments args, std::ostream& out, std::ostream& err);
int command_list(Arguments args, std::ostream& out, std::ostream& err);

/// The options of one command with its help text.
class Usage {
public:
    /// `synopsis` follows `podsim`; `example` and `notes` end the help.
    Usage(std::string synopsis, std::string summary, std::string example, std::string notes = {});

    /// Declares `--name VALUE`; with a fallback it is used and shown in the help.
    void value(const std::string& name, const std::string& meaning);
    void value(const std::string& name, const std::string& meaning, const std::string& fallback);
    /// Declares `--name VALUE`, which may be repeated.
    void values(const std::string& name, const std::string& meaning);
    void flag(const std::string& name, const std::string& meaning);
    /// Arguments without an option: what they are called, and how many at most.
    void positional(const std::string& name, int most);

    /// Parses. Throws sim::InputError for unknown options (with the nearest), missing and repeated
    /// values.
    void parse(Arguments args);

    /// Whether --help was given: print help() and stop.
    [[nodiscard]] bool wants_help() const;
    [[nodiscard]] std::string help() const;

    [[nodiscard]] bool has(const std::string& name) const { return map_.count(name) > 0; }
    [[nodiscard]] bool is_set(const std::string& name) const { return map_[name].as<bool>(); }
    /// The value of an option. Throws sim::InputError when it is required and missing.
    [[nodiscard]] std::string get(const std::string& name) const;
    [[nodiscard]] std::vector<std::string> all(const std::string& name) const;

private:
    [[nodiscard]] std::vector<std::string> option_names() const;
    /// `usage: podsim ...` in one line.
    [[nodiscard]] std::string usage_line() const;

    std::string synopsis_;
    std::string summary_;
    std::string example_;
    std::string notes_;
    std::string positional_;
    int most_positional_ = 0;
    boost::program_options::options_description options_;
    boost::program_options::variables_map map_;
};

/// Reads an option's value; errors name the option.
template <class Parse>
auto read_option(const Usage& options, const std::string& name, Parse parse) {
    const std::string value = options.get(name);
    try {
        return parse(value);
    } catch (const sim::InputError& error) {
        throw error.at({fmt::format("--{} {}", name, printable(value)), 0, 0});
    }
}

/// The value of --fold. Throws sim::InputError.
Fold parse_fold(const std::string& text);

/// The error for a simulation that leaves the clock's range; `place` is the file or the option.
sim::InputError clock_error(const std::string& place, const sim::TimeOverflow& error);
/// simulate_step, with clock_error naming the scenario's file.
/// Whether the stream is standard error, on a terminal.
bool on_terminal(const std::ostream& err);

StepResult simulate_within_clock(const Scenario& scenario, Fold fold, StepOptions options = {});
ProgramResult simulate_program_within_clock(const Scenario& scenario, Fold fold,
                                            RunWatch* watch = nullptr);
/// What to name when no command named its file: of a collective its size, the only quantity that
/// its options leave open.
std::string overflow_place(Arguments args);

/// The threads of --jobs: a number up to kMostJobs, without the option the cores of the machine.
int parse_jobs(const Usage& options);

/// Refuses `-` as the path of an option other than --json.
void refuse_dash(std::string_view option, const std::string& path);

/// The path of an option that names a file to write, empty where it is not given. Throws cannot_write before any work
/// is done when nothing could be written there; creates nothing.
std::string output_path(const Usage& options, const std::string& name);

/// Writes JSON to a path, or to `out` for `-`. Throws sim::InputError when the file cannot be
/// written.
void write_json(const Json& json, const std::string& path, std::ostream& out);
/// The error of a file that cannot be written; `reason` is errno's, 0 where it is not known.
sim::InputError cannot_write(std::string_view option, const std::string& path, int reason);
/// Opens a file for `option`, lets `write` fill it, and checks that all arrived.
void write_file(std::string_view option, const std::string& path, const std::string& text);

}  // namespace podsim::scenarios
