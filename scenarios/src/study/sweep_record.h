// The file of a sweep's JSON lines, which is also the record from which an interrupted sweep
// continues.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/src/base/checked_line.h"
#include "scenarios/src/base/whole_file.h"
#include "scenarios/src/study/sweep.h"

namespace podsim::scenarios {

inline constexpr std::size_t kMostShards = 100000;

/// Every `of`-th setting, from setting `number` on. Neighbours, which take about the same time,
/// thus go to different machines.
struct SweepShard {
    std::size_t number = 0;  ///< below `of`
    std::size_t of = 1;

    /// Returns how many of `settings` settings it has.
    [[nodiscard]] std::size_t count(std::size_t settings) const {
        return settings > number ? (settings - number - 1) / of + 1 : 0;
    }
    /// Returns its k-th setting.
    [[nodiscard]] std::size_t setting(std::size_t k) const { return number + k * of; }
};

/// Reads `3/16`: shard 3 of 16, which are 0 to 15. Throws sim::InputError.
SweepShard parse_shard(const std::string& text);

/// True if `podsim sweep` may have written a line, given without its end: of a step, or of a
/// setting that it refused.
bool holds_row(const std::string& text);

/// Returns the row of setting `index` that its line holds.
SweepRow sweep_row(const std::string& text, std::size_t index);

/// A file with one line per setting of the shard, in the order of the settings, each written out
/// before the next. The file is thus at any time the beginning of the finished one, except for a
/// last line that was cut off.
class SweepRecord {
public:
    /// Continues the file at `path`. Its lines must be those that this sweep would write, from its
    /// first setting on (by their head). An unfinished last line is dropped. Throws sim::InputError
    /// if the file holds anything else or a damaged line (LineChecks), or if another sweep writes
    /// it (RecordLock), and leaves it as it is.
    SweepRecord(const Sweep& sweep, const SweepShard& shard, const std::string& path);

    /// Returns the rows of the lines that were in the file.
    [[nodiscard]] std::vector<SweepRow> take_finished() { return std::move(finished_); }

    /// Returns a warning about lines that could not be checked; empty if there are none.
    [[nodiscard]] std::string warning() const { return checks_.warning(path_); }

    /// Adds the next line. Throws sim::InputError if it cannot be written.
    void add(const SweepLine& line);

private:
    std::string path_;
    RecordLock lock_;
    LineChecks checks_;
    std::vector<SweepRow> finished_;
    std::ofstream file_;
};

}  // namespace podsim::scenarios
