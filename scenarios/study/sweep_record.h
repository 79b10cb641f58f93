// The file of a sweep's JSON lines, which is also the record from which an interrupted sweep goes on.
#pragma once

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/study/sweep.h"
#include "scenarios/study/sweep_shard.h"
#include "scenarios/text/checked_line.h"
#include "scenarios/text/record_lock.h"

namespace podsim::scenarios {

/// Whether a line, without its end, is one that `podsim sweep` may have written: of a step, or of a setting that it refused.
bool holds_row(const std::string& text);

/// The row of setting `index` that its line holds.
SweepRow sweep_row(const std::string& text, std::size_t index);

/// One line a setting of the shard, in the order of the settings, each written out before the next. So the file
/// is at any time the beginning of what it will be, except for a last line that was cut off.
class SweepRecord {
public:
    /// Takes up the file at `path`: the lines that are there must be those that this sweep would
    /// write, from its first setting on (by their head). A last line without its end is dropped.
    /// Throws sim::InputError when it holds anything else or a damaged line (LineChecks), or another sweep writes it (RecordLock), and leaves
    /// it as it is.
    SweepRecord(const Sweep& sweep, const SweepShard& shard, const std::string& path);

    /// What the lines that were there say.
    [[nodiscard]] std::vector<SweepRow> take_finished() { return std::move(finished_); }

    /// What to say of lines that could not be checked; empty where there are none.
    [[nodiscard]] std::string warning() const { return checks_.warning(path_); }

    /// Adds the next line. Throws sim::InputError when it cannot be written.
    void add(const SweepLine& line);

private:
    std::string path_;
    RecordLock lock_;
    LineChecks checks_;
    std::vector<SweepRow> finished_;
    std::ofstream file_;
};

}  // namespace podsim::scenarios
