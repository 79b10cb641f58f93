// The files of simulated candidates: a line for each, from which a search goes on, or puts together what shards have found.
//
// A line holds the fingerprint of the space, the candidate's place in it, what makes a scenario the candidate's (`set`), and what came
// of it: {"search": {"fingerprint": ..., "place": ...}, "set": [...], then one of
//   "step_time_ps": ..., "peak_hbm_bytes": ...   it was simulated to its end; with "tight": true where only a compiler can tell if it fits
//   "at_least_ps": ...                            its run was ended, having proven so much
//   "refused": ...                                why it cannot run
// and its checksum (checked_line.h).
// Every line is written out before the next. A last line without its end is dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scenarios/search/plan_work.h"
#include "scenarios/space/search_space.h"
#include "scenarios/text/checked_line.h"
#include "scenarios/text/record_lock.h"

namespace podsim::scenarios {

class TrialRecord {
public:
    struct Paths {
        std::string own{};                  ///< --jsonl, empty without: read, and written on
        std::vector<std::string> others{};  ///< --read
        bool others_may_be_missing = false;
    };
    /// Throws sim::InputError where a file holds anything else than candidates of this space, or is missing, or cannot be written, or
    /// another search writes it (RecordLock).
    TrialRecord(const SearchSpace& space, Paths paths);

    /// What came of the candidate at that place.
    [[nodiscard]] const CandidateRun* find(std::uint64_t place) const;
    void add(std::uint64_t place, const std::vector<std::string>& set, const CandidateRun& trial);

    /// What to say of files with lines that could not be checked.
    [[nodiscard]] std::vector<std::string> warnings() const;

    /// Of the others' files, what has been added since they were last read: its places.
    std::vector<std::uint64_t> read_others();

private:
    struct File {
        std::string path;
        std::size_t read = 0;  ///< bytes of whole lines
        std::size_t lines = 0;
        LineChecks checks{};
    };
    /// Takes the lines that have come; what is left has no end of a line yet.
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
