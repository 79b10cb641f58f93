// The options of one command: declared once, parsed with messages of podsim's form, printed as its help.
#pragma once

#include <fmt/format.h>
#include <span>
#include <string>
#include <vector>

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>

#include "scenarios/text/quote.h"
#include "sim/base/error.h"

namespace podsim::scenarios {

/// Those of a command line, after the command's name.
using Arguments = std::span<const std::string>;

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
    /// The arguments without an option: the files that a command reads.
    [[nodiscard]] std::vector<std::string> positionals() const { return all(positional_); }

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

}  // namespace podsim::scenarios
