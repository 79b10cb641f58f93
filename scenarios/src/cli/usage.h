// The options of one command: declared once, parsed with messages in podsim's form, printed as its
// help.
#pragma once

#include <fmt/format.h>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scenarios/src/base/quote.h"
#include "sim/base/error.h"

namespace podsim::scenarios {

/// The arguments of a command line after the command's name.
using Arguments = std::span<const std::string>;

/// Kinds of values of an option, for helps, manuals and shell completion.
enum class Takes {
    nothing,
    text,      ///< a value; one of `offered` if there are any
    parts,     ///< several of `offered`, joined by commas
    file,      ///< a path
    settings,  ///< key=value
};

struct DescribedOption {
    /// Name without --; for arguments without an option, what they are called.
    std::string name;
    std::string meaning{};
    Takes takes = Takes::nothing;
    char letter = 0;  ///< short form; 0 without one
    int most = 1;     ///< how often it may be given; -1: any number of times
    std::string fallback{};
    std::vector<std::string> offered{};
};

class Usage {
public:
    /// `synopsis` follows `podsim`; `example` and `notes` end the help.
    Usage(std::string synopsis, std::string summary, std::string example, std::string notes = {});
    Usage(Usage&&) noexcept;
    ~Usage();

    /// Declares `--name VALUE`. A fallback is the default and appears in the help.
    void value(const std::string& name, const std::string& meaning);
    void value(const std::string& name, const std::string& meaning, const std::string& fallback);
    /// Declares `--name VALUE`, which may be repeated.
    void values(const std::string& name, const std::string& meaning);
    void flag(const std::string& name, const std::string& meaning);
    /// Declares `--name PATH`.
    void file(const std::string& name, const std::string& meaning);
    void files(const std::string& name, const std::string& meaning);
    /// Declares `--name key=value`, which may be repeated.
    void settings(const std::string& name, const std::string& meaning);
    /// Declares the arguments without an option: their name, and how many at most. They are files
    /// unless names are offered.
    void positional(const std::string& name, int most);
    /// Offers values for an option; for arguments, for the first one.
    template <class Names>
    void offer(const std::string& name, const Names& names) {
        offer(name, Takes::text, {std::begin(names), std::end(names)});
    }
    /// Offers values for an option, which are joined by commas.
    template <class Names>
    void offer_parts(const std::string& name, const Names& names) {
        offer(name, Takes::parts, {std::begin(names), std::end(names)});
    }
    /// Sets a text that ends the help and that a manual prints elsewhere. It is built only for the
    /// help.

    /// Parses the arguments. Throws sim::InputError for unknown options (with the nearest name),
    /// and for missing and repeated values.
    void parse(Arguments args);

    /// True if --help was given: the caller prints help() and stops.
    [[nodiscard]] bool wants_help() const;
    /// Returns the help, at most `width` columns wide; 0 means kHelpWidth.
    [[nodiscard]] std::string help(int width = 0) const;

    /// Options in the order of the help.
    [[nodiscard]] std::span<const DescribedOption> described() const { return described_; }
    /// Arguments without an option; empty if the command accepts none.
    [[nodiscard]] const DescribedOption& arguments() const { return arguments_; }
    /// Returns the forms that may follow `podsim`, one per line.
    [[nodiscard]] std::vector<std::string> synopses() const;
    [[nodiscard]] const std::string& summary() const { return summary_; }
    [[nodiscard]] const std::string& example() const { return example_; }
    [[nodiscard]] const std::string& notes() const { return notes_; }

    [[nodiscard]] bool has(const std::string& name) const;
    /// True if the option was given on the command line, so its value is not the fallback.
    [[nodiscard]] bool is_given(const std::string& name) const;
    [[nodiscard]] bool is_set(const std::string& name) const;
    /// Returns the value of an option. Throws sim::InputError if it is missing or empty.
    [[nodiscard]] std::string get(const std::string& name) const;
    [[nodiscard]] std::vector<std::string> all(const std::string& name) const;
    /// Throws sim::InputError that names all of these that are missing.
    void require(std::span<const std::string> names) const;
    /// Returns the arguments without an option: the files that a command reads.
    [[nodiscard]] std::vector<std::string> positionals() const { return all(arguments_.name); }

private:
    struct Parser;  ///< Boost.Program_options, whose headers are expensive
    void declare(DescribedOption option);
    void offer(const std::string& name, Takes takes, std::vector<std::string> names);
    [[nodiscard]] std::vector<std::string> option_names() const;
    /// `usage: podsim ...` in one line.
    [[nodiscard]] std::string usage_line() const;

    std::string synopsis_;
    std::string summary_;
    std::string example_;
    std::string notes_;
    DescribedOption arguments_{};
    std::vector<DescribedOption> described_;
    std::unique_ptr<Parser> parser_;
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
