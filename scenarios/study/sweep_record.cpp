#include "scenarios/study/sweep_record.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>

#include "scenarios/cli/command.h"
#include "scenarios/text/format.h"

namespace podsim::scenarios {
namespace {

std::string read_whole(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

/// What the line of a setting starts with, up to the brace that closes its head.
std::string start_of_line(const Sweep& sweep, std::size_t index) {
    std::string text = line_text(sweep.head(index));
    text.resize(text.size() - 2);  // the brace and the line's end
    return text;
}

}  // namespace

std::string line_text(const Json& line) {
    return json_line(line) + '\n';
}

SweepRecord::SweepRecord(const Sweep& sweep, const std::string& path) : path_(path) {
    const auto refuse = [&](std::size_t line) {
        throw sim::InputError("the file holds something else than the results of this sweep",
                              "give --jsonl another path, or remove the file to begin anew",
                              {path, static_cast<int>(line), 1});
    };
    std::size_t kept = 0;
    if (std::filesystem::is_regular_file(path)) {
        const std::string text = read_whole(path);
        for (std::size_t end = 0; (end = text.find('\n', kept)) != std::string::npos;
             kept = end + 1) {
            const std::string line = text.substr(kept, end - kept);
            const std::size_t index = finished_.size();
            if (index >= sweep.size() || !line.starts_with(start_of_line(sweep, index)) ||
                !Json::accept(line)) {
                refuse(index + 1);
            }
            finished_.push_back(Json::parse(line));
        }
        const std::string rest = text.substr(kept);
        if (!rest.empty()) {
            if (finished_.size() >= sweep.size()) {
                refuse(finished_.size() + 1);
            }
            const std::string start = start_of_line(sweep, finished_.size());
            const std::size_t common = std::min(start.size(), rest.size());
            if (start.compare(0, common, rest, 0, common) != 0) {
                refuse(finished_.size() + 1);
            }
            std::filesystem::resize_file(path, kept);
        }
    }
    errno = 0;
    file_.open(path, std::ios::binary | std::ios::app);
    if (!file_) {
        throw cannot_write("--jsonl", path, errno);
    }
}

void SweepRecord::add(const Json& line) {
    errno = 0;
    file_ << line_text(line) << std::flush;
    if (!file_) {
        throw cannot_write("--jsonl", path_, errno);
    }
}

}  // namespace podsim::scenarios
