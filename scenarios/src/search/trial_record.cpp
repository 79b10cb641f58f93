#include "scenarios/src/search/trial_record.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "scenarios/src/base/file_error.h"
#include "scenarios/src/base/quote.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

using Line = nlohmann::ordered_json;

constexpr auto kMostPs = static_cast<std::uint64_t>(sim::Time::max().ps);

Line head_of(const SearchSpace& space, std::uint64_t place) {
    return {{"search", {{"fingerprint", space.fingerprint()}, {"place", place}}}};
}

Line line_of(const CandidateRun& trial, Line line) {
    if (!trial.refused.empty()) {
        line["refused"] = trial.refused;
    } else if (trial.is_whole) {
        line["step_time_ps"] = trial.step_time.ps;
        line["peak_hbm_bytes"] = trial.peak;
        if (trial.tight) {
            line["tight"] = true;
        }
    } else {
        line["at_least_ps"] = trial.step_time.ps;
    }
    return line;
}

std::int64_t whole_number(const Line& line, const char* key) {
    const Line& value = line.at(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMostPs) {
        throw Line::type_error::create(302, "no whole number", &value);
    }
    return value.get<std::int64_t>();
}

/// Throws if the line has none of the results of a trial.
CandidateRun trial_of(const Line& line) {
    if (line.contains("refused")) {
        const std::string reason = line.at("refused");
        return {.is_whole = true,
                .refused = reason,
                .step_time = reason == kBeyondTheClock ? sim::Time::max() : sim::Time{}};
    }
    if (line.contains("at_least_ps")) {
        return {.step_time = {whole_number(line, "at_least_ps")}};
    }
    const bool tight = line.contains("tight");
    if (tight && line.at("tight") != true) {
        throw Line::type_error::create(302, "not true", &line);
    }
    return {.is_whole = true,
            .step_time = {whole_number(line, "step_time_ps")},
            .peak = line.at("peak_hbm_bytes").get_ref<const double&>(),
            .tight = tight};
}

}  // namespace

TrialRecord::TrialRecord(const SearchSpace& space, Paths paths)
    : space_(space), own_{.path = std::move(paths.own)} {
    for (std::string& path : paths.others) {
        if (!paths.others_may_be_missing &&
            (!std::filesystem::exists(path) || std::filesystem::is_directory(path))) {
            throw sim::InputError(fmt::format("no file {}", in_quotes(path)),
                                  "give the --jsonl file of a search of the same space",
                                  {"--read", 0, 0});
        }
        others_.push_back({.path = std::move(path)});
    }
    (void)read_others();
    if (own_.path.empty()) {
        return;
    }
    lock_.emplace(own_.path, "search");
    if (std::filesystem::is_regular_file(own_.path)) {
        std::vector<std::uint64_t> places;
        const std::string cut = read_on(own_, places);
        if (!may_become_line(cut)) {
            refuse(own_, own_.lines + 1);
        }
        std::filesystem::resize_file(own_.path, own_.read);
    }
    errno = 0;
    out_.open(own_.path, std::ios::binary | std::ios::app);
    if (!out_) {
        throw cannot_write("--jsonl", own_.path, errno);
    }
}

const CandidateRun* TrialRecord::find(std::uint64_t place) const {
    const auto found = trials_.find(place);
    return found == trials_.end() ? nullptr : &found->second;
}

void TrialRecord::add(std::uint64_t place, const std::vector<std::string>& set,
                      const CandidateRun& trial) {
    trials_[place] = trial;
    if (own_.path.empty()) {
        return;
    }
    Line line = head_of(space_, place);
    line["set"] = set;
    errno = 0;
    out_ << with_check(line_of(trial, std::move(line)).dump()) << '\n' << std::flush;
    if (!out_) {
        throw cannot_write("--jsonl", own_.path, errno);
    }
}

std::vector<std::uint64_t> TrialRecord::read_others() {
    std::vector<std::uint64_t> places;
    for (File& file : others_) {
        read_on(file, places);
    }
    return places;
}

std::string TrialRecord::read_on(File& file, std::vector<std::uint64_t>& places) {
    std::ifstream in(file.path, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(file.read));
    std::string line;
    for (; std::getline(in, line) && !in.eof(); line.clear()) {
        ++file.lines;
        take(line, file, places);
        file.read += line.size() + 1;
    }
    return line;
}

/// True if the text of an unfinished line may be the beginning of one of this search's.
bool TrialRecord::may_become_line(const std::string& cut) const {
    std::string start = head_of(space_, 0).dump();
    start.erase(start.rfind('0'));
    const std::size_t common = std::min(start.size(), cut.size());
    return start.compare(0, common, cut, 0, common) == 0;
}

void TrialRecord::refuse(const File& file, std::uint64_t line) {
    throw sim::InputError("the file holds something else than candidates of this search",
                          "give it another path, or remove the file to begin anew",
                          {file.path, static_cast<int>(line), 1});
}

std::vector<std::string> TrialRecord::warnings() const {
    std::vector<std::string> warnings;
    const auto add = [&](const File& file) {
        if (file.checks.unchecked() > 0) {
            warnings.push_back(file.checks.warning(file.path));
        }
    };
    add(own_);
    std::ranges::for_each(others_, add);
    return warnings;
}

void TrialRecord::take(const std::string& line, File& file, std::vector<std::uint64_t>& places) {
    file.checks.look_at(line, {file.path, static_cast<int>(file.lines), 1});
    try {
        const Line read = Line::parse(line.ends_with('\r') ? "" : line);
        const Line& head = read.at("search");
        if (head.at("fingerprint") == space_.fingerprint()) {
            if (!head.at("place").is_number_unsigned()) {
                refuse(file, file.lines);
            }
            const std::uint64_t place = head.at("place");
            const CandidateRun trial = trial_of(read);
            const auto [known, added] = trials_.try_emplace(place, trial);
            const bool says_more = !known->second.is_whole &&
                                   (trial.is_whole || trial.step_time > known->second.step_time);
            if (says_more) {
                known->second = trial;
            }
            if (added || says_more) {
                places.push_back(place);
            }
            return;
        }
    } catch (const nlohmann::json::exception&) {
        // It is none of this search's lines.
    }
    refuse(file, file.lines);
}

}  // namespace podsim::scenarios
