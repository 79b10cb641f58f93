// The keys of a MaxText run: a YAML file, overridden by key=value texts, and a record of the keys
// that were read.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/src/scenario/yaml_tree.h"
#include "sim/base/error.h"

namespace podsim::scenarios {

struct MaxTextTree {
    YamlNode keys;
    std::vector<std::string> bases{};  ///< files on which it is based
    std::set<std::string> changed{};   ///< keys that those files lack, or have with another value
};
/// Returns the YAML of a file of MaxText, whose base.yml of 2026 has about 660 keys. Keys that it
/// lacks come from the file that its `base_config` names (pyconfig.py, _load_config), which lies
/// beside it or in a folder above. Throws sim::InputError there.
MaxTextTree maxtext_tree(const std::string& text, const std::string& file);

class MaxTextSettings {
public:
    /// Reads `tree`, the file's map. Throws sim::InputError (of several sim::InputErrors) at an
    /// override that is no key=value, occurs twice, or lacks a required value. Throws it, with the
    /// nearest key, at an override that names no key of the file and none that is read. Throws it
    /// at a key of the file that is likely to be misspelt (maxtext_keys.h), unless that file has
    /// the right one, too.
    MaxTextSettings(const MaxTextTree& tree, std::span<const std::string> overrides);

    /// True if file or overrides set the key.
    [[nodiscard]] bool has(const std::string& key) const {
        return values_.contains(key) || put_.contains(key);
    }
    /// True if the overrides set the key.
    [[nodiscard]] bool overridden(const std::string& key) const {
        const auto found = values_.find(key);
        return found != values_.end() && found->second.overridden;
    }
    /// True if the overrides set the key, or a file with another value than MaxText's own (Line).
    [[nodiscard]] bool own(const std::string& key) const {
        const auto found = values_.find(key);
        return found != values_.end() && found->second.own;
    }
    /// Return the value; the fallback if there is none, or an empty text. Throw sim::InputError at
    /// the value.
    [[nodiscard]] std::string text(const std::string& key, const std::string& fallback);
    [[nodiscard]] bool flag(const std::string& key, bool fallback);
    [[nodiscard]] std::int64_t whole(const std::string& key, std::int64_t least,
                                     std::int64_t fallback);
    [[nodiscard]] double number(const std::string& key, double fallback);

    /// Records that the value was read but cannot be expressed.
    void cannot(const std::string& key, std::string why) { cannot_[key] = std::move(why); }
    /// Sets the value from now on, whatever the file has.
    void put(const std::string& key, std::string value) { put_[key] = std::move(value); }
    /// Returns the value without marking it as read.
    [[nodiscard]] std::string said(const std::string& key) const { return values_.at(key).text; }
    /// Returns the file that sets the key; empty if none does.
    [[nodiscard]] std::string file_of(const std::string& key) const {
        const auto found = values_.find(key);
        return found == values_.end() ? "" : found->second.file;
    }
    /// Records that the key changes nothing, whether it was read or not.
    void pass_over(const std::string& key, std::string why) { passed_over_[key] = std::move(why); }
    [[noreturn]] void refuse(const std::string& key, const std::string& problem,
                             const std::string& remedy) const;

    /// A key, its value and a remark.
    struct Line {
        std::string key;
        std::string value;
        std::string why;
        bool overridden = false;  ///< by a key=value, not the file
        /// True if a key=value sets it, or a file with another value than MaxText's own as far as
        /// that is known: than the files on which it is based, or than the defaults
        /// (maxtext_defaults.h). Other keys of a file of a few keys, which somebody wrote, are own,
        /// too.
        bool own = false;
    };
    /// Return keys in alphabetical order. A key that is neither used nor inexpressible changes
    /// nothing as far as podsim knows: `why` is its subject, or empty for a key that podsim does
    /// not know.
    [[nodiscard]] std::vector<Line> used() const;
    [[nodiscard]] std::vector<Line> not_expressed() const;
    /// Returns the fallbacks that were taken because neither file nor overrides have a requested
    /// key.
    [[nodiscard]] std::vector<Line> taken() const;
    /// True if the file has the keys that base.yml has in every version: it is one, or is based on
    /// one.
    [[nodiscard]] bool is_whole() const;
    [[nodiscard]] std::vector<Line> ignored() const;

private:
    struct Value {
        std::string text;
        sim::SourceMark mark;
        std::string file{};  ///< the file that has the key
        bool overridden = false;
        bool own = false;
    };
    void read_file(const MaxTextTree& tree);
    void override_with(const std::string& setting);

    std::map<std::string, Value> values_;
    std::set<std::string> read_;
    std::map<std::string, std::string> cannot_;
    std::map<std::string, std::string> passed_over_;
    std::map<std::string, std::string> taken_;
    std::map<std::string, std::string> put_;
};

}  // namespace podsim::scenarios
