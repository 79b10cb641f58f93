// Writes a scenario's text from its reading log: keys in the order of the schema, comments beside
// them.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "scenarios/src/scenario/reading_log.h"
#include "scenarios/src/scenario/shown_scenario.h"

namespace podsim::scenarios {

/// A line of the text, and the key on it.
struct WrittenLine {
    std::string text;
    std::string comment{};
    std::string place{};
};

class ScenarioWriter {
public:
    /// `written` holds the places of the defaults that become keys.
    ScenarioWriter(const YamlNode& tree, const ReadingLog& log,
                   const std::set<std::string>& written)
        : tree_(tree), log_(log), written_(written) {}

    std::vector<WrittenLine> lines();
    /// Returns the keys that were written, and those in comments.
    [[nodiscard]] const std::vector<ShownKey>& keys() const { return keys_; }

private:
    void write_map(const YamlNode* node, const std::string& place, const std::string& path,
                   int indent, bool as_comment);
    void write_said(const std::string& key, const YamlNode::Entry& entry, const std::string& place,
                    const std::string& path, int indent);
    void write_list(const std::string& key, const YamlNode& list, const std::string& place,
                    const std::string& path, int indent);
    void write_open(const std::string& key, const std::string& place, const std::string& path,
                    int indent, bool as_comment);
    void write_below(const YamlNode* node, const std::string& head, const std::string& place,
                     const std::string& path, int indent, bool as_comment);
    void put(int indent, bool as_comment, const std::string& text, const std::string& comment,
             const std::string& place);
    [[nodiscard]] bool asked_below(const std::string& place) const;

    const YamlNode& tree_;
    const ReadingLog& log_;
    const std::set<std::string>& written_;
    std::vector<WrittenLine> lines_;
    std::vector<ShownKey> keys_;
    /// Source of the previous line, if that was a comment.
    std::string last_source_;
};

/// Returns the lines with their comments in a column.
std::string text_of_lines(const std::vector<WrittenLine>& lines);

}  // namespace podsim::scenarios
