// The keys of a MaxText run: a YAML file, overridden by key=value texts, and a record of which were read.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/yaml/yaml_tree.h"
#include "sim/base/error.h"

namespace podsim::scenarios {

class MaxTextSettings {
public:
    /// `base`: the file's map. Throws sim::InputError at an override that is no key=value, is said twice, or names no key of the
    /// file and none that is read, with the nearest.
    MaxTextSettings(const YamlNode& base, std::span<const std::string> overrides);

    /// Whether file or overrides say something.
    [[nodiscard]] bool has(const std::string& key) const { return values_.contains(key); }
    /// Values; the fallback where nothing is said, or an empty text. Throw sim::InputError at the value.
    [[nodiscard]] std::string text(const std::string& key, const std::string& fallback);
    [[nodiscard]] bool flag(const std::string& key, bool fallback);
    [[nodiscard]] std::int64_t whole(const std::string& key, std::int64_t least,
                                     std::int64_t fallback);
    [[nodiscard]] double number(const std::string& key, double fallback);

    /// The value was read but cannot be expressed.
    void cannot(const std::string& key, std::string why) { cannot_[key] = std::move(why); }
    [[noreturn]] void refuse(const std::string& key, const std::string& problem,
                             const std::string& remedy) const;

    /// A key, its value and what is said of it.
    struct Line {
        std::string key;
        std::string value;
        std::string why;
        bool overridden = false;  ///< by a key=value, not the file
    };
    /// In alphabetical order. What is neither used nor expressible changes nothing as far as podsim knows: `why` says of what it is,
    /// or is empty for a key that podsim does not know.
    [[nodiscard]] std::vector<Line> used() const;
    [[nodiscard]] std::vector<Line> not_expressed() const;
    [[nodiscard]] std::vector<Line> ignored() const;

private:
    struct Value {
        std::string text;
        sim::SourceMark mark;
        bool overridden = false;
    };
    void override_with(const std::string& setting);

    std::map<std::string, Value> values_;
    std::set<std::string> read_;
    std::map<std::string, std::string> cannot_;
};

}  // namespace podsim::scenarios
