#include "scenarios/console/usage.h"

#include <sstream>

#include <boost/program_options/errors.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>
#include <boost/program_options/value_semantic.hpp>

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
    value("memory",
          "the most memory that podsim may take; without it four fifths of what the machine has "
          "free");
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

}  // namespace podsim::scenarios
