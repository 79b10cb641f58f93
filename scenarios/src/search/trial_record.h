// The files of simulated candidates: one line each, with which a search continues, or merges the
// results of shards.
//
// A line holds the fingerprint of the space, the candidate's index in it (`place`), the settings
// that make a scenario the candidate's (`set`), and its result: {"search": {"fingerprint": ...,
// "place": ...}, "set": [...], then one of
//   "step_time_ps": ..., "peak_hbm_bytes": ...   it was simulated to its end; with "tight": true if
//                                                only a compiler can tell whether it fits
//   "at_least_ps": ...                           its run was ended, having proven this bound
//   "refused": ...                               the reason why it cannot run
// and its checksum (checked_line.h). Every line is written out before the next. An unfinished last
// line is dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scenarios/src/base/checked_line.h"
#include "scenarios/src/base/whole_file.h"
#include "scenarios/src/search/plan_work.h"
#include "scenarios/src/search/search_space.h"

namespace podsim::scenarios {

class TrialRecord {
public:
    struct Paths {
        /// --jsonl, empty without it; read, and appended to.
        std::string own{};
        std::vector<std::string> others{};  ///< --read
        bool others_may_be_missing = false;
    };
    /// Throws sim::InputError if a file holds anything but candidates of this space, is missing or
    /// cannot be written, or if another search writes it (RecordLock).
    TrialRecord(const SearchSpace& space, Paths paths);

    /// Returns the result of the candidate with that index, or null.
    [[nodiscard]] const CandidateRun* find(std::uint64_t place) const;
    void add(std::uint64_t place, const std::vector<std::string>& set, const CandidateRun& trial);

    /// Returns warnings about files with lines that could not be checked.
    [[nodiscard]] std::vector<std::string> warnings() const;

    /// Reads the lines that were added to the others' files since the last call, and returns their
    /// indices.
    std::vector<std::uint64_t> read_others();

private:
    struct File {
        std::string path;
        std::size_t read = 0;  ///< bytes of whole lines
        std::size_t lines = 0;
        LineChecks checks{};
    };
    /// Takes the lines that have arrived. Returns the rest, which has no line end yet.
    std::string read_on(File& file, std::vector<std::uint64_t>& places);
    [[nodiscard]] bool may_become_line(const std::string& cut) const;
    [[noreturn]] static void refuse(const File& file, std::uint64_t line);
    void take(const std::string& line, File& file, std::vector<std::uint64_t>& places);

    const SearchSpace& space_;
    std::optional<RecordLock> lock_;
    File own_;
    std::vector<File> others_;
    std::unordered_map<std::uint64_t, CandidateRun> trials_;
    std::ofstream out_;
};

}  // namespace podsim::scenarios
