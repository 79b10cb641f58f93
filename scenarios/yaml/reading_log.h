// What a loader asked of a scenario, key by key: what stands in force there, and since when.
//
// A Reader (reader.h) that is given a log tells it of every key that is read: the value, or the default in its place, and what the
// value may be. So what is said of a scenario and of its keys is what the loader reads, and cannot differ from it.
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
    whole,     ///< a whole number between two
    count,     ///< a whole number, with a prefix: 4Mi
    number,    ///< a number, a share or a multiple
    quantity,  ///< a number and a unit
};

struct Asked {
    std::string place;  ///< `perturb[0].kind`
    std::string path;   ///< `perturb.kind`, as in the schema
    bool said = false;  ///< the scenario says it
    sim::SourceMark mark;
    std::string value;  ///< in force, as a scenario has it; empty where it has no such text
    std::string
        source;  ///< of a value that the scenario does not say: whose; empty: the key's default
    bool of_base = false;  ///< that of a catalogue's or a file's entry, which the scenario names
    std::string comes_to;  ///< what a said value is worked out as
    std::string file;      ///< of a value that names a file: where that is
    ValueKind kind = ValueKind::other;
    std::vector<std::string> choices;
    std::int64_t least = 0;  ///< of whole
    std::int64_t most = 0;
    static constexpr std::int64_t kOfMachine =
        std::numeric_limits<std::int64_t>::max();  ///< `most` where the machine says it
};

class ReadingLog {
public:
    /// The entry of a place, new where it was not asked for before.
    Asked& at(const std::string& place, const std::string& path);
    [[nodiscard]] const Asked* find(std::string_view place) const;
    /// What is not said below that place is that of a catalogue's or a file's entry, whose source is this.
    void set_base(const std::string& place, std::string source) {
        bases_[place] = std::move(source);
    }
    /// In the order in which they were asked for.
    [[nodiscard]] const std::deque<Asked>& all() const { return asked_; }
    /// Gives what stands below the places of set_base, and is not said, its source.
    void settle();

private:
    std::deque<Asked> asked_;
    std::map<std::string, std::string> bases_;
    std::map<std::string, std::size_t, std::less<>> place_;
};

}  // namespace podsim::scenarios
