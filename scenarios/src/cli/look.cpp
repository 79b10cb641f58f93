#include "scenarios/src/cli/look.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace podsim::scenarios {
namespace {

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kPlain = "\x1b[0m";
constexpr int kNarrowest = 40;

/// Returns the value of an environment variable; empty if it is not set.
std::string_view value_of(const EnvironmentVariable& variable) {
    const char* const value = std::getenv(variable.name);
    return value == nullptr ? std::string_view() : value;
}

int width_of(bool terminal) {
    const std::string_view columns = value_of(kColumnsVariable);
    int width = 0;
    if (std::from_chars(columns.data(), columns.data() + columns.size(), width).ec == std::errc{} &&
        width > 0) {
        return std::max(width, kNarrowest);
    }
    winsize size{};
    if (terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return std::max(static_cast<int>(size.ws_col), kNarrowest);
    }
    return 0;
}

/// Counts columns: all bytes but UTF-8 continuation bytes.
std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string wrapped(const std::string& line, std::size_t width) {
    const std::size_t words = std::min(line.find_first_not_of(' '), line.size());
    if (columns_of(line) <= width || line.find("  ", words) != std::string::npos ||
        line.compare(words, 2, "--") == 0) {
        return line;
    }
    const std::string indent(words + 2, ' ');
    std::istringstream text(line);
    std::string all;
    std::string row(words, ' ');
    for (std::string word; text >> word;) {
        const bool first = row.find_first_not_of(' ') == std::string::npos;
        if (!first && columns_of(row) + 1 + columns_of(word) > width) {
            all += row + '\n';
            row = indent + word;
        } else {
            row += (first ? "" : " ") + word;
        }
    }
    return all + row;
}

/// Returns a heading, bold up to its first two blanks.
std::string heading(const std::string& line) {
    const std::size_t end = std::min(line.find("  "), line.size());
    return std::string(kBold) + line.substr(0, end) + std::string(kPlain) + line.substr(end);
}

std::string coloured(const std::string& line, bool after_blank) {
    if (const std::size_t at = line.find("does NOT fit"); at != std::string::npos) {
        return line.substr(0, at) + std::string(kRed) + line.substr(at) + std::string(kPlain);
    }
    return after_blank && !line.empty() && line.front() != ' ' ? heading(line) : line;
}

}  // namespace

Look look_of(const std::ostream& out) {
    const bool terminal = &out == &std::cout && ::isatty(STDOUT_FILENO) == 1;
    return {.width = &out == &std::cout ? width_of(terminal) : 0,
            .colour = terminal && value_of(kNoColourVariable).empty() &&
                      value_of(kTerminalVariable) != "dumb"};
}

std::string shown(const std::string& report, const Look& look) {
    std::istringstream lines(report);
    std::string text;
    bool after_blank = true;
    for (std::string line; std::getline(lines, line);) {
        const std::string fitted =
            look.width > 0 ? wrapped(line, static_cast<std::size_t>(look.width)) : line;
        text += (look.colour ? coloured(fitted, after_blank) : fitted) + '\n';
        after_blank = line.empty();
    }
    return text;
}

bool on_terminal(const std::ostream& err) {
    return &err == &std::cerr && ::isatty(STDERR_FILENO) == 1;
}

}  // namespace podsim::scenarios
