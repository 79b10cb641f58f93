// A sweep: one scenario simulated under every combination of some values of its keys.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scenarios/load/load.h"
#include "scenarios/report/quantities.h"
#include "scenarios/simulate/simulate.h"
#include "scenarios/simulate/step_memory.h"
#include "scenarios/yaml/yaml_tree.h"

namespace podsim::scenarios {

inline constexpr std::size_t kMostSettings = 100000;
/// In the line of a setting that was refused since podsim may not take so much memory: bytes. It is run again once it may.
inline constexpr const char* kNeedsMemory = "needs_memory_bytes";

/// A key and the values that it takes.
struct Varied {
    std::string key;
    std::vector<YamlNode> values;
    std::vector<std::string> texts;  ///< of the values, as --set would take them
    sim::SourceMark place{};         ///< of what asks for it; without a file it is a --vary

    /// Where errors of a value stand.
    [[nodiscard]] sim::SourceMark mark_of(std::size_t value) const;
    /// Where errors of the key stand.
    [[nodiscard]] sim::SourceMark mark() const;
};

/// Reads `key.path=v1,v2,...`. The values are those of a YAML flow list, without or with its brackets:
/// `x%2,x%4`, `[x%2, x%4]`; a value that holds a comma or a bracket is quoted, a map is written
/// `{chip: v5p, slice: 4x4x4}`. Throws sim::InputError at `--vary ...`.
Varied parse_varied(const std::string& text);
/// The same, each value by itself as --set reads it. Throws sim::InputError at `--vary key`.
Varied varied_of(const std::string& key, std::span<const std::string> values);

struct SweepOptions {
    Fold fold = Fold::automatic;
    StepOptions step;
    /// Seconds since some instant: with it lines hold `wall_time_s`, by which they differ from run to run.
    std::function<double()> clock{};
};

/// What came of one setting.
struct SweepRow {
    std::size_t index = 0;      ///< of the setting
    std::vector<Value> values;  ///< of the columns (sweep_columns), in their order
    std::string error;          ///< why `run` refuses the setting; empty where it does not
    std::vector<std::string> warnings{};  ///< those of its line

    [[nodiscard]] bool refused() const { return !error.empty(); }
    /// The value of a column by its quantity's name.
    [[nodiscard]] const Value& value(std::string_view quantity) const;
};

/// A row, and its line in the record.
struct SweepLine {
    SweepRow row;
    std::string text;  ///< JSON, with the line's end
};

/// The warnings of all rows, each once.
std::vector<std::string> warnings_of(std::span<const SweepRow> rows);

/// The quantities that a row holds, in the order of the CSV.
std::vector<QuantityName> sweep_columns();

/// A value that is set (--set key=value) and varied too would be silently lost: throws sim::InputError.
void refuse_set_and_varied(std::span<const std::string> settings, std::span<const Varied> varied);
/// Throws sim::InputError for a key that is varied twice (`give_once` is the remedy) or unknown, and for a value of the wrong kind.
void check_varied(const YamlNode& base, std::span<const Varied> varied, const char* give_once);

/// The settings of a sweep: all combinations, the last key's values changing fastest.
class Sweep {
public:
    /// `settings` (`--set`) hold for all. Throws sim::InputError for what makes the whole sweep
    /// senseless: a key varied twice or unknown, a value of the wrong kind, more than kMostSettings.
    Sweep(const ScenarioSource& source, std::span<const std::string> settings,
          std::vector<Varied> varied, SweepOptions options);

    /// The scenario's `name`, or its file's without one.
    [[nodiscard]] std::string title() const;
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const std::vector<Varied>& varied() const { return varied_; }
    /// Which of its values each key has in setting `index`.
    [[nodiscard]] std::vector<std::size_t> choice(std::size_t index) const;

    /// What the line of a setting begins with: its place in the sweep, the fingerprint of everything that
    /// decides the results (file, settings, options, version of podsim) and `settings`.
    [[nodiscard]] Json head(std::size_t index) const;
    /// One setting simulated. Its line: the head, then the JSON of `podsim run` with these settings, `gap` only where it
    /// was asked for, no wall time unless asked for; or for settings that `run` refuses `error` with its message.
    /// Callable from several threads at once.
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
    std::shared_ptr<StepMemory> memory_ = std::make_shared<StepMemory>();  ///< of all settings
};

}  // namespace podsim::scenarios
