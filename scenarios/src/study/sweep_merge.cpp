#include "scenarios/src/study/sweep_merge.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <ostream>
#include <string_view>
#include <system_error>
#include <utility>

#include "scenarios/src/base/checked_line.h"
#include "scenarios/src/base/json_text.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/study/sweep.h"
#include "scenarios/src/study/sweep_record.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

/// Identification of a line within its sweep.
struct Head {
    std::string fingerprint;
    std::size_t index = 0;
    std::size_t of = 0;
};

sim::InputError no_line(const sim::SourceMark& mark) {
    return sim::InputError("this is no line of a sweep",
                           "give files that `podsim sweep --jsonl` has written", mark);
}

Head head_of(const std::string& text, const sim::SourceMark& mark) {
    const Json line = Json::parse(text, nullptr, false);
    if (!line.is_object() || !line.contains("sweep")) {
        throw no_line(mark);
    }
    const Json& sweep = line["sweep"];
    const auto whole = [&](const char* key) {
        return sweep.contains(key) && sweep[key].is_number_unsigned();
    };
    if (!sweep.is_object() || !sweep.contains("fingerprint") || !sweep["fingerprint"].is_string() ||
        !whole("index") || !whole("of")) {
        throw no_line(mark);
    }
    Head head{.fingerprint = sweep["fingerprint"].get<std::string>(),
              .index = sweep["index"].get<std::size_t>(),
              .of = sweep["of"].get<std::size_t>()};
    if (head.index >= head.of || head.of > kMostSettings) {
        throw no_line(mark);
    }
    return head;
}

/// Returns the content that two results of one setting have in common, whether or not they are
/// checked.
std::string_view content(std::string_view line) {
    const std::string_view plain = without_check(line);
    return plain.size() < line.size() ? plain : line.substr(0, line.size() - 1);
}

}  // namespace

MergedSweep::MergedSweep(std::vector<std::string> paths) : paths_(std::move(paths)) {
    for (std::size_t file = 0; file < paths_.size(); ++file) {
        read(file);
    }
    if (lines_.empty()) {
        throw sim::InputError("no file has a line of a sweep",
                              "give files that `podsim sweep --jsonl` has written",
                              {paths_.empty() ? std::string() : paths_.front(), 0, 0});
    }
}

void MergedSweep::read(std::size_t file) {
    std::error_code none;
    if (std::filesystem::exists(paths_[file], none) &&
        !std::filesystem::is_directory(paths_[file], none) &&
        !std::filesystem::is_regular_file(paths_[file], none)) {
        throw sim::InputError("is no regular file, and records are read twice",
                              "put what it gives into a file, and merge that",
                              {paths_[file], 0, 0});
    }
    errno = 0;
    std::ifstream in(paths_[file], std::ios::binary);
    if (!in || (in.peek(), errno == EISDIR)) {
        throw sim::InputError(fmt::format("cannot be read: {}", std::strerror(errno)),
                              "give files that `podsim sweep --jsonl` has written",
                              {paths_[file], 0, 0});
    }
    Line line{.file = file, .number = 1, .begin = 0};
    LineChecks checks;
    for (std::string text; std::getline(in, text) && !in.eof(); ++line.number) {
        checks.look_at(text, {paths_[file], static_cast<int>(line.number), 1});
        add(text, line);
        line.begin += static_cast<std::streamoff>(text.size()) + 1;
    }
    if (checks.unchecked() > 0) {
        warnings_.push_back(checks.warning(paths_[file]));
    }
}

void MergedSweep::add(const std::string& text, const Line& line) {
    const sim::SourceMark mark{paths_[line.file], static_cast<int>(line.number), 1};
    if (!holds_row(text)) {
        throw no_line(mark);
    }
    const Head head = head_of(text, mark);
    if (first_file_ == kNone) {
        first_file_ = line.file;
        fingerprint_ = head.fingerprint;
        lines_.resize(head.of);
    }
    if (head.fingerprint != fingerprint_ || head.of != lines_.size()) {
        throw sim::InputError(
            fmt::format("a line of another sweep than that of {}", printable(paths_[first_file_])),
            "merge the shards of one sweep: the same scenario, options and version of podsim",
            mark);
    }
    Line& known = lines_[head.index];
    if (known.file != kNone && content(this->text(known)) != content(text)) {
        throw sim::InputError(fmt::format("another result of setting {} than that of {}:{}",
                                          head.index, printable(paths_[known.file]), known.number),
                              "leave one of the two files out", mark);
    }
    if (known.file == kNone) {
        known = line;
    }
}

std::string MergedSweep::text(const Line& line) const {
    std::ifstream in(paths_[line.file], std::ios::binary);
    in.seekg(line.begin);
    std::string text;
    std::getline(in, text);
    return text;
}

std::vector<std::size_t> MergedSweep::missing() const {
    std::vector<std::size_t> missing;
    for (std::size_t setting = 0; setting < lines_.size(); ++setting) {
        if (lines_[setting].file == kNone) {
            missing.push_back(setting);
        }
    }
    return missing;
}

void MergedSweep::write(std::ostream& out) const {
    for (const Line& line : lines_) {
        if (line.file != kNone) {
            out << text(line) << '\n';
        }
    }
}

}  // namespace podsim::scenarios
