// Merges the records of a sweep's shards into the record of the whole.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

namespace podsim::scenarios {

/// Positions of each setting's line in the files: the lines themselves may be more than the memory
/// holds.
class MergedSweep {
public:
    /// Reads the files' lines (SweepRecord). An unfinished last line is left out. Throws
    /// sim::InputError, at the file and line, for text that is no line of a sweep, for a line of
    /// another sweep than the first file's, for two different results of one setting, and for a
    /// damaged line (LineChecks). It also throws if there is no line at all.
    explicit MergedSweep(std::vector<std::string> paths);

    /// Returns a warning for each file with lines that could not be checked.
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
    /// Returns the number of settings of the sweep.
    [[nodiscard]] std::size_t size() const { return lines_.size(); }
    /// Returns the settings without a line, ascending.
    [[nodiscard]] std::vector<std::size_t> missing() const;
    /// Writes the lines in the order of the settings, as one machine would have written them.
    void write(std::ostream& out) const;

private:
    struct Line {
        std::size_t file = kNone;
        std::size_t number = 0;  ///< in its file, from 1
        std::streamoff begin = 0;
    };
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    void read(std::size_t file);
    void add(const std::string& text, const Line& line);
    [[nodiscard]] std::string text(const Line& line) const;

    std::vector<std::string> paths_;
    std::vector<std::string> warnings_;
    std::string fingerprint_;
    std::size_t first_file_ = kNone;  ///< the first that has a line
    std::vector<Line> lines_;         ///< by setting
};

}  // namespace podsim::scenarios
