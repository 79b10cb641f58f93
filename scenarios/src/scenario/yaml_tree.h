// A YAML document as a plain tree in which every node knows its position, read without surprises.
//
// The reader takes one document of at most 1 MiB, nested at most 16 deep, without anchors, aliases
// and tags, whose keys are text and unique in their map. Anything else is a sim::InputError at
// file:line:column, before memory or stack are at risk.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.h"

namespace podsim::scenarios {

inline constexpr std::size_t kLargestFile = 1 << 20;
inline constexpr int kDeepestNesting = 16;

struct YamlNode {
    enum class Kind { null, scalar, sequence, map };
    struct Entry;

    Kind kind = Kind::null;
    std::string text;  ///< of a scalar
    sim::SourceMark mark;
    std::vector<YamlNode> items;  ///< of a sequence
    std::vector<Entry> entries;   ///< of a map, in the order written

    /// Returns the value under `key` of a map; nullptr without it.
    [[nodiscard]] const YamlNode* find(std::string_view key) const;
    [[nodiscard]] YamlNode* find(std::string_view key);
};

struct YamlNode::Entry {
    std::string key;
    sim::SourceMark mark;  ///< of the key
    YamlNode value;
};

/// Returns a kind for messages: `text`, `a list`, `a map`, `nothing`.
std::string_view describe(YamlNode::Kind kind);

struct FileLimit {
    std::size_t bytes = kLargestFile;
    const char* remedy = "a scenario needs a few kB";
    const char* what = "a YAML file";
    /// Remedy for a byte that is no text.
    const char* written = "a scenario is a YAML text in UTF-8";
};

/// Returns the text of a file. Throws sim::InputError for a directory, a file that cannot be read,
/// that is larger than the limit, or that holds NUL or other control characters.
std::string read_text_file(const std::string& path, const FileLimit& limit = {});

/// Checks the same for a text that was handed over: `file` names it in the error.
void check_text(const std::string& text, const std::string& file, const FileLimit& limit = {});

/// Limit of keys of a map: far more than a scenario has, and few enough that the search for
/// duplicates takes no noticeable time.
inline constexpr std::size_t kMostKeys = 256;

/// Parses one document; `file` names it in marks. An empty document is a null node.
YamlNode parse_yaml(const std::string& text, const std::string& file,
                    std::size_t most_keys = kMostKeys);

/// Applies `key.path=value` to a tree: replaces or adds the value, which is read as YAML. A scalar
/// in the way becomes `{base: scalar}`, so that `hardware.chip.ici_latency=0 us` works on `chip:
/// v5p`. Marks of the new nodes name the option instead of a line: `--set hardware.slice=4x4x4`.
void apply_setting(YamlNode& root, const std::string& setting, const std::string& option = "--set");

/// Applies a value that has been read already; `mark` is its position and that of its errors.
void set_value(YamlNode& root, const std::string& key_path, YamlNode value,
               const sim::SourceMark& mark);

}  // namespace podsim::scenarios
