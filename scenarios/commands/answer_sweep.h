// What `podsim sweep` computes: the settings of a sweep, or of a shard of it, that its record lacks.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/console/usage.h"
#include "scenarios/study/sweep.h"
#include "scenarios/study/sweep_record.h"
#include "scenarios/study/sweep_shard.h"
#include "scenarios/study/sweep_table.h"

namespace podsim::scenarios {

Usage sweep_usage();

/// What --vary says. Throws sim::InputError.
std::vector<Varied> varied_keys(const Usage& options);

class SweepCall {
public:
    /// Of `varied` in place of --vary. `watch` hears how many settings there are, and ends those that run. Throws
    /// sim::InputError.
    SweepCall(const Usage& options, const ScenarioSource& source, std::vector<Varied> varied,
              Watch* watch = nullptr);
    SweepCall(const SweepCall&) = delete;
    SweepCall& operator=(const SweepCall&) = delete;

    /// Takes up the record that --jsonl names, where it is a file. Throws sim::InputError.
    void take_up_record();

    [[nodiscard]] const Sweep& sweep() const { return sweep_; }
    [[nodiscard]] const SweepShard& shard() const { return shard_; }
    [[nodiscard]] int jobs() const { return jobs_; }
    /// How many settings the shard has.
    [[nodiscard]] std::size_t count() const { return shard_.count(sweep_.size()); }
    [[nodiscard]] bool is_whole() const { return shard_.of == 1; }
    [[nodiscard]] bool is_recorded() const { return record_.has_value(); }
    /// Those that are there, in the order of the settings until they are sorted.
    [[nodiscard]] std::span<const SweepRow> rows() const { return rows_; }

    /// Has `deal` hand over the lines of the settings that are missing, in order; each goes into the record, then to
    /// `done`. Throws what they throw.
    using Done = std::function<void(const SweepLine&)>;
    using Deal = std::function<void(const std::function<void(SweepLine)>& keep)>;
    void run(const Done& done, const Deal& deal);
    /// The same on threads of this process, until `stop()` holds. Throws Stopped and what the watch throws as well.
    void run(const Done& done, const std::function<bool()>& stop);
    /// Sorts the rows as --sort says.
    void sort();

    /// The path of --csv, empty without it.
    [[nodiscard]] const std::string& csv() const { return csv_; }
    [[nodiscard]] bool has_page() const { return !report_.empty(); }

    /// Warnings about the record that was taken up.
    [[nodiscard]] const std::vector<std::string>& record_warnings() const {
        return record_warnings_;
    }
    /// Writes the page that --report asks for; nothing without it.
    void write_page() const;
    /// Where that, or a table, is written: of a sweep that was stopped beside the path, so that nothing whole is replaced by a part.
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
