#include "scenarios/cli/command.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <ostream>
#include <sstream>
#include <unistd.h>

#include <boost/program_options/errors.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>
#include <boost/program_options/value_semantic.hpp>

#include "scenarios/study/in_order.h"
#include "scenarios/text/format.h"
#include "scenarios/text/quantity_text.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"

namespace podsim::scenarios {

namespace po = boost::program_options;

namespace {

po::typed_value<std::string>* text_value() {
    return po::value<std::string>()->value_name("VALUE");
}

}  // namespace

Usage::Usage(std::string synopsis, std::string summary, std::string example, std::string notes)
    : synopsis_(std::move(synopsis)),
      summary_(std::move(summary)),
      example_(std::move(example)),
      notes_(std::move(notes)),
      options_("Options", 100, 60) {
    flag("help", "print this and stop");
}

void Usage::value(const std::string& name, const std::string& meaning) {
    options_.add_options()(name.c_str(), text_value(), meaning.c_str());
}

void Usage::value(const std::string& name, const std::string& meaning,
                  const std::string& fallback) {
    options_.add_options()(name.c_str(), text_value()->default_value(fallback), meaning.c_str());
}

void Usage::values(const std::string& name, const std::string& meaning) {
    options_.add_options()(name.c_str(),
                           po::value<std::vector<std::string>>()->value_name("VALUE")->composing(),
                           meaning.c_str());
}

void Usage::flag(const std::string& name, const std::string& meaning) {
    options_.add_options()(name.c_str(), po::bool_switch(), meaning.c_str());
}

void Usage::positional(const std::string& name, int most) {
    positional_ = name;
    most_positional_ = most;
}

std::vector<std::string> Usage::option_names() const {
    std::vector<std::string> names;
    for (const auto& option : options_.options()) {
        names.push_back("--" + option->long_name());
    }
    return names;
}

std::string Usage::usage_line() const {
    std::string line = "usage: podsim ";
    for (const char c : synopsis_) {
        const char shown = c == '\n' ? ' ' : c;
        if (shown != ' ' || line.back() != ' ') {
            line += shown;
        }
    }
    return line;
}

void Usage::parse(Arguments args) {
    po::options_description all;
    all.add(options_);
    po::positional_options_description positions;
    if (!positional_.empty()) {
        all.add_options()(positional_.c_str(), po::value<std::vector<std::string>>());
        positions.add(positional_.c_str(), most_positional_);
    }
    // No abbreviations: a script must not change its meaning when an option is added.
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    try {
        po::store(po::command_line_parser(std::vector<std::string>(args.begin(), args.end()))
                      .options(all)
                      .positional(positions)
                      .style(style)
                      .run(),
                  map_);
        po::notify(map_);
    } catch (const po::unknown_option& error) {
        throw sim::unknown_name("option", printable(error.get_option_name()), option_names());
    } catch (const po::too_many_positional_options_error&) {
        throw sim::InputError("too many arguments", usage_line());
    } catch (const po::error& error) {
        throw sim::InputError(error.what(), usage_line());
    }
}

bool Usage::wants_help() const {
    return is_set("help");
}

std::string Usage::help() const {
    std::ostringstream text;
    text << "usage: podsim " << synopsis_ << "\n\n" << summary_ << "\n\n" << options_;
    if (!notes_.empty()) {
        text << '\n' << notes_;
    }
    text << "\nExample:\n  " << example_ << '\n';
    return text.str();
}

std::string Usage::get(const std::string& name) const {
    if (!has(name)) {
        throw sim::InputError(fmt::format("--{} is missing", name), usage_line());
    }
    std::string value = map_[name].as<std::string>();
    if (value.empty()) {
        throw sim::InputError(fmt::format("--{} is empty", name), usage_line());
    }
    return value;
}

std::vector<std::string> Usage::all(const std::string& name) const {
    return has(name) ? map_[name].as<std::vector<std::string>>() : std::vector<std::string>{};
}

Fold parse_fold(const std::string& text) {
    if (text == "auto") {
        return Fold::automatic;
    }
    if (text == "off") {
        return Fold::off;
    }
    const std::vector<std::string> names = {"auto", "off"};
    throw sim::unknown_name("--fold", printable(text), names);
}

sim::InputError clock_error(const std::string& place, const sim::TimeOverflow& error) {
    return sim::InputError(error.what(), "check rates, latencies and sizes", {place, 0, 0});
}

bool on_terminal(const std::ostream& err) {
    return &err == &std::cerr && ::isatty(STDERR_FILENO) == 1;
}

StepResult simulate_within_clock(const Scenario& scenario, Fold fold, StepOptions options) {
    try {
        return simulate_step(scenario, fold, options);
    } catch (const sim::TimeOverflow& error) {
        throw clock_error(scenario.file, error);
    }
}

ProgramResult simulate_program_within_clock(const Scenario& scenario, Fold fold, RunWatch* watch) {
    try {
        return simulate_program(scenario.hardware, *scenario.program, fold, watch);
    } catch (const sim::TimeOverflow& error) {
        throw clock_error(scenario.file, error);
    }
}

void refuse_dash(std::string_view option, const std::string& path) {
    if (path == "-") {
        throw sim::InputError("only --json writes to standard output",
                              fmt::format("give {} the path of a file", option),
                              {fmt::format("{} -", option), 0, 0});
    }
}

int parse_jobs(const Usage& options) {
    if (!options.has("jobs")) {
        return available_jobs();
    }
    const std::string text = options.get("jobs");
    const sim::SourceMark mark{"--jobs " + printable(text), 0, 0};
    const std::string allowed = fmt::format("write a number of threads from 1 to {}", kMostJobs);
    std::int64_t jobs = 0;
    try {
        jobs = parse_count(text);
    } catch (const sim::InputError& error) {
        throw sim::InputError(error.problem(), allowed, mark);
    }
    if (jobs < 1 || jobs > kMostJobs) {
        throw sim::InputError("out of range", allowed, mark);
    }
    return static_cast<int>(jobs);
}

sim::InputError cannot_write(std::string_view option, const std::string& path, int reason) {
    return sim::InputError(fmt::format("cannot write {}: {}", in_quotes(path),
                                       reason == 0 ? "unknown reason" : std::strerror(reason)),
                           fmt::format("give {} a path that can be written", option));
}

std::string output_path(const Usage& options, const std::string& name) {
    if (!options.has(name)) {
        return {};
    }
    const std::string path = options.get(name);
    if (path == "-") {
        return path;
    }
    const std::filesystem::path file(path);
    std::error_code unknown;
    errno = 0;
    if (std::filesystem::is_directory(file, unknown)) {
        errno = EISDIR;
    } else if (std::filesystem::exists(file, unknown)) {
        errno = 0;
        ::access(path.c_str(), W_OK);
    } else {
        const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
        errno = 0;
        ::access(folder.c_str(), W_OK | X_OK);
    }
    if (errno != 0) {
        throw cannot_write(fmt::format("--{}", name), path, errno);
    }
    return path;
}

void write_file(std::string_view option, const std::string& path, const std::string& text) {
    errno = 0;
    std::ofstream file(path, std::ios::binary);
    if (!file) {
        throw cannot_write(option, path, errno);
    }
    file << text;
    file.close();
    if (!file) {
        throw cannot_write(option, path, errno);
    }
}

void write_json(const Json& json, const std::string& path, std::ostream& out) {
    const std::string text = json_text(json, 2) + '\n';
    if (path == "-") {
        out << text;
    } else {
        write_file("--json", path, text);
    }
}

}  // namespace podsim::scenarios
