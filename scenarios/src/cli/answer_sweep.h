// The answer of `podsim sweep`: the settings of a sweep, or of a shard of it, that its record
// lacks.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/src/cli/usage.h"
#include "scenarios/src/study/sweep.h"
#include "scenarios/src/study/sweep_record.h"
#include "scenarios/src/study/sweep_table.h"

namespace podsim::scenarios {

Usage sweep_usage();

/// Returns the keys and values of --vary. Throws sim::InputError.
std::vector<Varied> varied_keys(const Usage& options);

class SweepCall {
public:
    /// Sweeps over `varied`, which stands for --vary. `watch` hears how many settings there are,
    /// and ends those that run. Throws sim::InputError.
    SweepCall(const Usage& options, const ScenarioSource& source, std::vector<Varied> varied,
              Watch* watch = nullptr);
    SweepCall(const SweepCall&) = delete;
    SweepCall& operator=(const SweepCall&) = delete;

    /// Resumes from the record of --jsonl if that is a file. Throws sim::InputError.
    void take_up_record();

    [[nodiscard]] const Sweep& sweep() const { return sweep_; }
    [[nodiscard]] const SweepShard& shard() const { return shard_; }
    [[nodiscard]] int jobs() const { return jobs_; }
    /// Number of settings in the shard.
    [[nodiscard]] std::size_t count() const { return shard_.count(sweep_.size()); }
    [[nodiscard]] bool is_whole() const { return shard_.of == 1; }
    [[nodiscard]] bool is_recorded() const { return record_.has_value(); }
    /// Finished settings; in the order of the sweep until sort().
    [[nodiscard]] std::span<const SweepRow> rows() const { return rows_; }

    /// Calls `deal`, which hands over the lines of the missing settings in order. Each line goes
    /// into the record, then to `done`. Throws what they throw.
    using Done = std::function<void(const SweepLine&)>;
    using Deal = std::function<void(const std::function<void(SweepLine)>& keep)>;
    void run(const Done& done, const Deal& deal);
    /// Runs the missing settings on threads of this process until `stop()` holds. Also throws
    /// Stopped and what the watch throws.
    void run(const Done& done, const std::function<bool()>& stop);
    /// Sorts the rows by the column of --sort.
    void sort();

    /// The path of --csv, empty without it.
    [[nodiscard]] const std::string& csv() const { return csv_; }
    [[nodiscard]] bool has_page() const { return !report_.empty(); }

    /// Warnings about the record that was taken up.
    [[nodiscard]] const std::vector<std::string>& record_warnings() const {
        return record_warnings_;
    }
    /// Writes the page of --report; does nothing without it.
    void write_page() const;
    /// Returns the path for a page or table. A stopped sweep writes beside `path`, so that a
    /// partial file never replaces a whole one.
    [[nodiscard]] std::string path_so_far(const std::string& path) const;

private:
    Watch* watch_;
    QuietWatch pieces_;
    int jobs_;
    std::string csv_;
    std::string jsonl_;
    std::string report_;
    SweepShard shard_;
    Sweep sweep_;
    std::optional<SortBy> sort_;
    std::optional<SweepRecord> record_;
    std::vector<std::string> record_warnings_;
    std::vector<SweepRow> rows_;
};

}  // namespace podsim::scenarios
