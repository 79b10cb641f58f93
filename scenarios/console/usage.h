// The options of one command: declared once, parsed with messages of podsim's form, printed as its help.
#pragma once

#include <fmt/format.h>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scenarios/text/quote.h"
#include "sim/base/error.h"

namespace podsim::scenarios {

/// Those of a command line, after the command's name.
using Arguments = std::span<const std::string>;

/// What stands behind an option, for helps, manuals and the completion of shells.
enum class Takes {
    nothing,
    text,      ///< a value; one of `offered` where there are any
    parts,     ///< several of `offered`, joined by commas
    file,      ///< a path
    settings,  ///< key=value
};

struct DescribedOption {
    std::string name;  ///< without --; of arguments without an option what they are called
    std::string meaning{};
    Takes takes = Takes::nothing;
    char letter = 0;  ///< of its short form; 0 without one
    int most = 1;     ///< how often it may be given; -1: as often as one likes
    std::string fallback{};
    std::vector<std::string> offered{};
};

class Usage {
public:
    /// `synopsis` follows `podsim`; `example` and `notes` end the help.
    Usage(std::string synopsis, std::string summary, std::string example, std::string notes = {});
    Usage(Usage&&) noexcept;
    ~Usage();

    /// Declares `--name VALUE`; with a fallback it is used and shown in the help.
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
    /// Arguments without an option: what they are called, and how many at most. Without an offer they are files.
    void positional(const std::string& name, int most);
    /// What may stand behind an option; of arguments, as the first of them.
    template <class Names>
    void offer(const std::string& name, const Names& names) {
        offer(name, Takes::text, {std::begin(names), std::end(names)});
    }
    /// What may stand behind an option, joined by commas.
    template <class Names>
    void offer_parts(const std::string& name, const Names& names) {
        offer(name, Takes::parts, {std::begin(names), std::end(names)});
    }
    /// Text that ends the help, and that a manual says elsewhere; made only where the help is asked for.
    void appendix(std::function<std::string()> text) { appendix_ = std::move(text); }

    /// Parses. Throws sim::InputError for unknown options (with the nearest), missing and repeated
    /// values.
    void parse(Arguments args);

    /// Whether --help was given: print help() and stop.
    [[nodiscard]] bool wants_help() const;
    /// As wide as that many columns; 0: kHelpWidth.
    [[nodiscard]] std::string help(int width = 0) const;

    /// Options in the order of the help.
    [[nodiscard]] std::span<const DescribedOption> described() const { return described_; }
    /// The arguments without an option; nothing where the command takes none.
    [[nodiscard]] const DescribedOption& arguments() const { return arguments_; }
    /// What may follow `podsim`, line by line.
    [[nodiscard]] std::vector<std::string> synopses() const;
    [[nodiscard]] const std::string& summary() const { return summary_; }
    [[nodiscard]] const std::string& example() const { return example_; }
    [[nodiscard]] const std::string& notes() const { return notes_; }

    [[nodiscard]] bool has(const std::string& name) const;
    /// Whether it was given, and has not its value without.
    [[nodiscard]] bool is_given(const std::string& name) const;
    [[nodiscard]] bool is_set(const std::string& name) const;
    /// The value of an option. Throws sim::InputError when it is required and missing.
    [[nodiscard]] std::string get(const std::string& name) const;
    [[nodiscard]] std::vector<std::string> all(const std::string& name) const;
    /// Throws sim::InputError with all of these that are missing.
    void require(std::span<const std::string> names) const;
    /// The arguments without an option: the files that a command reads.
    [[nodiscard]] std::vector<std::string> positionals() const { return all(arguments_.name); }

private:
    struct Parser;  ///< Boost.Program_options, whose headers are dear
    void declare(DescribedOption option);
    void offer(const std::string& name, Takes takes, std::vector<std::string> names);
    [[nodiscard]] std::vector<std::string> option_names() const;
    /// `usage: podsim ...` in one line.
    [[nodiscard]] std::string usage_line() const;

    std::string synopsis_;
    std::string summary_;
    std::string example_;
    std::string notes_;
    std::function<std::string()> appendix_;
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
