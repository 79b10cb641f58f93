// The records of a sweep's shards as the record of the whole.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

namespace podsim::scenarios {

/// Where each setting's line lies in the files: the lines themselves may be more than the memory holds.
class MergedSweep {
public:
    /// Reads the files' lines (SweepRecord). A last line without its end is left out. Throws sim::InputError, at the file and
    /// line, for what is no line of a sweep or is one of another sweep than the first file's, and for two different results of
    /// one setting; for a damaged line (LineChecks); without a line at all.
    explicit MergedSweep(std::vector<std::string> paths);

    /// What to say of each file with lines that could not be checked.
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
    /// How many settings the sweep has.
    [[nodiscard]] std::size_t size() const { return lines_.size(); }
    /// The settings without a line, ascending.
    [[nodiscard]] std::vector<std::size_t> missing() const;
    /// The lines in the order of the settings: what one machine would have written.
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
    std::size_t first_file_ = kNone;  ///< that has a line
    std::vector<Line> lines_;         ///< [setting]
};

}  // namespace podsim::scenarios
