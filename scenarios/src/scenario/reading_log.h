// Records what a loader asked of a scenario, key by key: the value in force, and its origin.
//
// A Reader (reader.h) with a log notifies it of every key that is read: the value, or the default
// in its position, and the values that are allowed. Reports about a scenario and its keys thus
// state what the loader reads, and cannot differ from it.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/error.h"

namespace podsim::scenarios {

/// How a value is read.
enum class ValueKind {
    other,     ///< a text that the key's own rule reads
    choice,    ///< one of several names
    flag,      ///< true, false
    whole,     ///< a whole number between two limits
    count,     ///< a whole number, with a prefix: 4Mi
    number,    ///< a number, a fraction or a multiple
    quantity,  ///< a number and a unit
};

struct Asked {
    std::string place;  ///< `perturb[0].kind`
    std::string path;   ///< `perturb.kind`, as in the schema
    bool said = false;  ///< true: the scenario states it
    sim::SourceMark mark;
    /// In force, as a scenario has it; empty if it has no text in a scenario.
    std::string value;
    /// Origin of a value that the scenario does not state; empty: the key's default.
    std::string source;
    /// True if it is from a catalogue's or a file's entry, which the scenario names.
    bool of_base = false;
    /// The value that a stated one is worked out as.
    std::string comes_to;
    std::string file;  ///< path of the file that a value names
    ValueKind kind = ValueKind::other;
    std::vector<std::string> choices;
    std::int64_t least = 0;  ///< limits of a whole number
    std::int64_t most = 0;
    /// Value of `most` if the machine decides it.
    static constexpr std::int64_t kOfMachine = std::numeric_limits<std::int64_t>::max();
};

class ReadingLog {
public:
    /// Returns the entry of a place, a new one if it was not asked for before.
    Asked& at(const std::string& place, const std::string& path);
    [[nodiscard]] const Asked* find(std::string_view place) const;
    /// Declares that values below that place which are not stated are from a catalogue's or a
    /// file's entry with this source.
    void set_base(const std::string& place, std::string source) {
        bases_[place] = std::move(source);
    }
    /// Returns the entries in the order in which they were asked for.
    [[nodiscard]] const std::deque<Asked>& all() const { return asked_; }
    /// Assigns the sources of set_base to the values below its places that are not stated.
    void settle();

private:
    std::deque<Asked> asked_;
    std::map<std::string, std::string> bases_;
    std::map<std::string, std::size_t, std::less<>> place_;
};

}  // namespace podsim::scenarios
