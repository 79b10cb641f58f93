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

struct MaxTextTree {
    YamlNode keys;
    std::vector<std::string> bases{};  ///< files that were read besides
    std::set<std::string> changed{};   ///< keys that the others do not have, or with another value
};
/// The YAML of a file of MaxText, whose base.yml of 2026 has some 660 keys, with what it does not say of the file that its `base_config` names
/// (pyconfig.py, _load_config), which lies beside it or in a folder above. Throws sim::InputError there.
MaxTextTree maxtext_tree(const std::string& text, const std::string& file);

class MaxTextSettings {
public:
    /// `tree`: the file's map. Throws sim::InputError (of several sim::InputErrors) at an override that is no key=value, is said twice, has no value
    /// where one is needed, or names no key of the file and none that is read, with the nearest; and at a key of the file that is likely to be a misspelt one (maxtext_keys.h), unless that file has the right one, too.
    MaxTextSettings(const MaxTextTree& tree, std::span<const std::string> overrides);

    /// Whether file or overrides say something.
    [[nodiscard]] bool has(const std::string& key) const {
        return values_.contains(key) || put_.contains(key);
    }
    /// Whether the overrides say it.
    [[nodiscard]] bool overridden(const std::string& key) const {
        const auto found = values_.find(key);
        return found != values_.end() && found->second.overridden;
    }
    /// Whether the overrides say it, or a file that says otherwise than MaxText's own (Line).
    [[nodiscard]] bool own(const std::string& key) const {
        const auto found = values_.find(key);
        return found != values_.end() && found->second.own;
    }
    /// Values; the fallback where nothing is said, or an empty text. Throw sim::InputError at the value.
    [[nodiscard]] std::string text(const std::string& key, const std::string& fallback);
    [[nodiscard]] bool flag(const std::string& key, bool fallback);
    [[nodiscard]] std::int64_t whole(const std::string& key, std::int64_t least,
                                     std::int64_t fallback);
    [[nodiscard]] double number(const std::string& key, double fallback);

    /// The value was read but cannot be expressed.
    void cannot(const std::string& key, std::string why) { cannot_[key] = std::move(why); }
    /// From now on it has this value, whatever the file says.
    void put(const std::string& key, std::string value) { put_[key] = std::move(value); }
    /// What is said without being read by that.
    [[nodiscard]] std::string said(const std::string& key) const { return values_.at(key).text; }
    /// The file that says it; empty where none does.
    [[nodiscard]] std::string file_of(const std::string& key) const {
        const auto found = values_.find(key);
        return found == values_.end() ? "" : found->second.file;
    }
    /// It changes nothing, whether it was read or not.
    void pass_over(const std::string& key, std::string why) { passed_over_[key] = std::move(why); }
    [[noreturn]] void refuse(const std::string& key, const std::string& problem,
                             const std::string& remedy) const;

    /// A key, its value and what is said of it.
    struct Line {
        std::string key;
        std::string value;
        std::string why;
        bool overridden = false;  ///< by a key=value, not the file
        /// By a key=value, or a file that says otherwise than MaxText's own as far as that is known: than the files that it stands upon, than
        /// the defaults (maxtext_defaults.h), or in a few keys, which somebody wrote.
        bool own = false;
    };
    /// In alphabetical order. What is neither used nor expressible changes nothing as far as podsim knows: `why` says of what it is,
    /// or is empty for a key that podsim does not know.
    [[nodiscard]] std::vector<Line> used() const;
    [[nodiscard]] std::vector<Line> not_expressed() const;
    /// What was taken where neither file nor overrides have a key that was asked for.
    [[nodiscard]] std::vector<Line> taken() const;
    /// Whether the file has what base.yml has in every version: that it is one, or stands upon one.
    [[nodiscard]] bool is_whole() const;
    [[nodiscard]] std::vector<Line> ignored() const;

private:
    struct Value {
        std::string text;
        sim::SourceMark mark;
        std::string file{};  ///< that has the key
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
