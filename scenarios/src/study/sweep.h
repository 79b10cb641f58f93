// A sweep: one scenario simulated under every combination of values of its keys.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scenarios/src/report/quantities.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/yaml_tree.h"
#include "scenarios/src/simulate/simulate.h"
#include "scenarios/src/simulate/step_memory.h"

namespace podsim::scenarios {

inline constexpr std::size_t kMostSettings = 100000;
/// Key in the line of a setting that was refused because podsim may not take this much memory:
/// bytes. The setting is run again once it may.
inline constexpr const char* kNeedsMemory = "needs_memory_bytes";

/// A key and its values.
struct Varied {
    std::string key;
    std::vector<YamlNode> values;
    std::vector<std::string> texts;  ///< of the values, as --set would take them
    /// Position of the request; without a file it is a --vary.
    sim::SourceMark place{};

    /// Returns the position to which errors of a value refer.
    [[nodiscard]] sim::SourceMark mark_of(std::size_t value) const;
    /// Returns the position to which errors of the key refer.
    [[nodiscard]] sim::SourceMark mark() const;
};

/// Reads `key.path=v1,v2,...`. The values are those of a YAML flow list, without or with its
/// brackets: `x%2,x%4`, `[x%2, x%4]`. A value that holds a comma or a bracket is quoted, a map is
/// written `{chip: v5p, slice: 4x4x4}`. Throws sim::InputError at `--vary ...`.
Varied parse_varied(const std::string& text);
/// Reads the same, each value by itself as --set reads it. Throws sim::InputError at `--vary key`.
Varied varied_of(const std::string& key, std::span<const std::string> values);

struct SweepOptions {
    Fold fold = Fold::automatic;
    StepOptions step;
    /// Returns seconds since a fixed instant. With it lines hold `wall_time_s`, which differs from
    /// run to run.
    std::function<double()> clock{};
};

/// Result of one setting.
struct SweepRow {
    std::size_t index = 0;      ///< of the setting
    std::vector<Value> values;  ///< of the columns (sweep_columns), in their order
    /// Reason why `run` refuses the setting; empty if it does not.
    std::string error;
    std::vector<std::string> warnings{};  ///< those of its line

    [[nodiscard]] bool refused() const { return !error.empty(); }
    /// Returns the value of a column by its quantity's name.
    [[nodiscard]] const Value& value(std::string_view quantity) const;
};

/// A row, and its line in the record.
struct SweepLine {
    SweepRow row;
    std::string text;  ///< JSON, with the line's end
};

/// Returns the warnings of all rows, each once.
std::vector<std::string> warnings_of(std::span<const SweepRow> rows);

/// Returns the quantities that a row holds, in the order of the CSV.
std::vector<QuantityName> sweep_columns();

/// Throws sim::InputError for a value that is both set (--set key=value) and varied, because it
/// would be silently lost.
void refuse_set_and_varied(std::span<const std::string> settings, std::span<const Varied> varied);
/// Throws sim::InputError for a key that is varied twice (`give_once` is the remedy) or unknown,
/// and for a value of the wrong kind.
void check_varied(const YamlNode& base, std::span<const Varied> varied, const char* give_once);

/// The settings of a sweep: all combinations, the last key's values changing fastest.
class Sweep {
public:
    /// `settings` (`--set`) apply to all. Throws sim::InputError for an error that makes the whole
    /// sweep senseless: a key varied twice or unknown, a value of the wrong kind, more than
    /// kMostSettings.
    Sweep(const ScenarioSource& source, std::span<const std::string> settings,
          std::vector<Varied> varied, SweepOptions options);

    /// Returns the scenario's `name`, or the name of its file without one.
    [[nodiscard]] std::string title() const;
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const std::vector<Varied>& varied() const { return varied_; }
    /// Returns the index of each key's value in setting `index`.
    [[nodiscard]] std::vector<std::size_t> choice(std::size_t index) const;

    /// Returns the head of a setting's line: its index in the sweep, the fingerprint of everything
    /// that decides the results (file, settings, options, version of podsim) and `settings`.
    [[nodiscard]] Json head(std::size_t index) const;
    /// Simulates one setting. Its line is the head, then the JSON of `podsim run` with these
    /// settings, with `gap` and a wall time only if they were asked for. If `run` refuses the
    /// settings, it is the head and `error` with the message. Callable from several threads at
    /// once.
    [[nodiscard]] SweepLine run(std::size_t index) const;

private:
    [[nodiscard]] Scenario scenario(std::size_t index) const;
    void simulate(std::size_t index, SweepRow& row, Json& line) const;

    std::string path_;
    YamlNode base_;
    std::vector<Varied> varied_;
    SweepOptions options_;
    std::size_t size_ = 1;
    std::string fingerprint_;
    /// Shared by all settings.
    std::shared_ptr<StepMemory> memory_ = std::make_shared<StepMemory>();
};

}  // namespace podsim::scenarios
