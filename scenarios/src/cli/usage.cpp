#include "scenarios/src/cli/usage.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <sstream>

#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>
#include <boost/program_options/value_semantic.hpp>
#include <boost/program_options/variables_map.hpp>

#include "scenarios/src/cli/help_text.h"
#include "sim/base/nearest.h"

namespace podsim::scenarios {

namespace po = boost::program_options;

namespace {

/// Returns the help's name for the value.
const char* value_name(Takes takes) {
    return takes == Takes::file ? "PATH" : takes == Takes::settings ? "key=value" : "VALUE";
}

/// Returns a value that the description will own.
po::value_semantic* value_semantic(const DescribedOption& option) {
    if (option.takes == Takes::nothing) {
        return po::bool_switch();
    }
    if (option.most != 1) {
        return po::value<std::vector<std::string>>()
            ->value_name(value_name(option.takes))
            ->composing();
    }
    auto* const one = po::value<std::string>()->value_name(value_name(option.takes));
    return option.fallback.empty() ? one : one->default_value(option.fallback);
}

/// Separator between the forms of a synopsis, as they continue in the help.
constexpr std::string_view kNextSynopsis = "\n       podsim ";

}  // namespace

struct Usage::Parser {
    po::options_description options{};
    po::variables_map map{};
};

Usage::Usage(std::string synopsis, std::string summary, std::string example, std::string notes)
    : synopsis_(std::move(synopsis)),
      summary_(std::move(summary)),
      example_(std::move(example)),
      notes_(std::move(notes)),
      parser_(std::make_unique<Parser>()) {
    declare({.name = "help", .meaning = "print this and stop", .letter = 'h'});
    value("memory",
          "the most memory that podsim may take; without it four fifths of what the machine has "
          "free");
}

Usage::Usage(Usage&&) noexcept = default;

Usage::~Usage() = default;

bool Usage::has(const std::string& name) const {
    return parser_->map.count(name) > 0;
}

bool Usage::is_given(const std::string& name) const {
    return has(name) && !parser_->map[name].defaulted();
}

bool Usage::is_set(const std::string& name) const {
    return parser_->map[name].as<bool>();
}

void Usage::declare(DescribedOption option) {
    const std::string names =
        option.letter == 0 ? option.name : fmt::format("{},{}", option.name, option.letter);
    parser_->options.add_options()(names.c_str(), value_semantic(option), option.meaning.c_str());
    described_.push_back(std::move(option));
}

void Usage::value(const std::string& name, const std::string& meaning) {
    declare({.name = name, .meaning = meaning, .takes = Takes::text});
}

void Usage::value(const std::string& name, const std::string& meaning,
                  const std::string& fallback) {
    declare({.name = name, .meaning = meaning, .takes = Takes::text, .fallback = fallback});
}

void Usage::values(const std::string& name, const std::string& meaning) {
    declare({.name = name, .meaning = meaning, .takes = Takes::text, .most = -1});
}

void Usage::flag(const std::string& name, const std::string& meaning) {
    declare({.name = name, .meaning = meaning});
}

void Usage::file(const std::string& name, const std::string& meaning) {
    declare({.name = name, .meaning = meaning, .takes = Takes::file});
}

void Usage::files(const std::string& name, const std::string& meaning) {
    declare({.name = name, .meaning = meaning, .takes = Takes::file, .most = -1});
}

void Usage::settings(const std::string& name, const std::string& meaning) {
    declare({.name = name, .meaning = meaning, .takes = Takes::settings, .most = -1});
}

void Usage::positional(const std::string& name, int most) {
    arguments_ = {.name = name, .takes = Takes::file, .most = most};
}

void Usage::offer(const std::string& name, Takes takes, std::vector<std::string> names) {
    const auto option = std::ranges::find(described_, name, &DescribedOption::name);
    DescribedOption& taker = option == described_.end() ? arguments_ : *option;
    taker.takes = takes;
    taker.offered = std::move(names);
}

std::vector<std::string> Usage::synopses() const {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < synopsis_.size();) {
        const std::size_t end = std::min(synopsis_.find(kNextSynopsis, begin), synopsis_.size());
        lines.push_back(fmt::format(
            "{}", fmt::join(synopsis_parts(synopsis_.substr(begin, end - begin)), " ")));
        begin = end == synopsis_.size() ? end : end + kNextSynopsis.size();
    }
    return lines;
}

std::vector<std::string> Usage::option_names() const {
    std::vector<std::string> names;
    for (const auto& option : parser_->options.options()) {
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
    all.add(parser_->options);
    po::positional_options_description positions;
    if (!arguments_.name.empty()) {
        all.add_options()(arguments_.name.c_str(), po::value<std::vector<std::string>>());
        positions.add(arguments_.name.c_str(), arguments_.most);
    }
    // No abbreviations: a new option must not change the meaning of a script.
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    try {
        po::store(po::command_line_parser(std::vector<std::string>(args.begin(), args.end()))
                      .options(all)
                      .positional(positions)
                      .style(style)
                      .run(),
                  parser_->map);
        po::notify(parser_->map);
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

std::string Usage::help(int width) const {
    const int columns = width > 0 ? width : kHelpWidth;
    std::ostringstream text;
    std::string_view lead = "usage: podsim ";
    for (const std::string& line : synopses()) {
        std::vector<std::string> parts = synopsis_parts(line);
        parts.front().insert(0, lead);
        constexpr int kIndent = 7;
        text << filled(parts, columns, kIndent);
        lead = "       podsim ";
    }
    text << '\n' << filled_text(summary_, columns) << '\n';
    // Boost reserves at least half of a line for the meanings of options.
    po::options_description fitted("Options", static_cast<unsigned>(columns),
                                   static_cast<unsigned>(columns / 2));
    for (const auto& option : parser_->options.options()) {
        fitted.add(option);
    }
    text << fitted;
    if (!notes_.empty()) {
        text << '\n' << filled_text(notes_, columns);
    }
    text << "\nExample:\n  " << example_ << '\n';
    return text.str();
}

std::string Usage::get(const std::string& name) const {
    if (!has(name)) {
        throw sim::InputError(fmt::format("--{} is missing", name), usage_line());
    }
    std::string value = parser_->map[name].as<std::string>();
    if (value.empty()) {
        throw sim::InputError(fmt::format("--{} is empty", name), usage_line());
    }
    return value;
}

void Usage::require(std::span<const std::string> names) const {
    std::vector<std::string> missing;
    for (const std::string& name : names) {
        if (!has(name)) {
            missing.push_back("--" + name);
        }
    }
    if (missing.empty()) {
        return;
    }
    std::string listed = missing.front();
    for (std::size_t i = 1; i < missing.size(); ++i) {
        listed += (i + 1 < missing.size() ? ", " : " and ") + missing[i];
    }
    throw sim::InputError(fmt::format("{} {} missing", listed, missing.size() == 1 ? "is" : "are"),
                          usage_line());
}

std::vector<std::string> Usage::all(const std::string& name) const {
    return has(name) ? parser_->map[name].as<std::vector<std::string>>()
                     : std::vector<std::string>{};
}

}  // namespace podsim::scenarios
