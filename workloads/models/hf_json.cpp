#include "workloads/models/hf_json.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "sim/base/nearest.h"

namespace podsim::workloads {
namespace {

using nlohmann::json;

constexpr std::size_t kLargestFile = 1 << 20;
constexpr std::size_t kDeepestNesting = 64;
constexpr std::size_t kLongestQuote = 160;
constexpr std::size_t kLongestName = 100;  // longer ones are not compared with ours

/// Returns line and column of the byte at `offset`; the column counts bytes.
sim::SourceMark mark_at(const std::string& path, const std::string& text, std::size_t offset) {
    sim::SourceMark mark{path, 1, 1};
    for (std::size_t i = 0; i < offset && i < text.size(); ++i) {
        if (text[i] == '\n') {
            ++mark.line;
            mark.column = 1;
        } else {
            ++mark.column;
        }
    }
    return mark;
}

/// Finds the position at which the text stops being JSON.
class SyntaxCheck : public nlohmann::json_sax<json> {
public:
    explicit SyntaxCheck(const std::string& path, const std::string& text)
        : path_(path), text_(text) {}

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool key(string_t&) override { return true; }
    bool start_object(std::size_t) override { return true; }
    bool start_array(std::size_t) override { return true; }
    bool end_object() override { return true; }
    bool end_array() override { return true; }

    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception& error) override {
        // `[json.exception.x.1] parse error at line 1, column 2: <detail to keep>; last read: ...`
        std::string_view detail = error.what();
        for (const std::string_view before : {"] ", "parse error at ", ": "}) {
            const std::size_t at = detail.find(before);
            if (at != std::string_view::npos) {
                detail.remove_prefix(at + before.size());
            }
        }
        detail = detail.substr(0, detail.find("; last read"));
        throw sim::InputError(fmt::format("not valid JSON: {}", clip(detail)),
                              "JSON has texts in double quotes, no comments, and no comma before "
                              "a closing bracket",
                              mark_at(path_, text_, position > 0 ? position - 1 : 0));
    }

private:
    const std::string& path_;
    const std::string& text_;
};

/// Returns the end of the JSON string whose quote is at `begin`: the offset after its last quote.
std::size_t end_of_string(const std::string& text, std::size_t begin) {
    std::size_t i = begin + 1;
    while (i < text.size() && text[i] != '"') {
        i += text[i] == '\\' ? 2 : 1;
    }
    return std::min(i + 1, text.size());
}

/// Refuses nesting that no config has, before the parser meets it. The text need not be JSON.
void check_nesting(const std::string& path, const std::string& text) {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') {
            i = end_of_string(text, i) - 1;
        } else if (c == '}' || c == ']') {
            depth -= depth > 0 ? 1 : 0;
        } else if ((c == '{' || c == '[') && ++depth > kDeepestNesting) {
            throw sim::InputError(
                fmt::format("JSON nested deeper than {} levels is not a model's config.json",
                            kDeepestNesting),
                "name a model's config.json", mark_at(path, text, i));
        }
    }
}

std::string read_file(const std::string& path) {
    std::error_code ignored;
    std::ifstream file;
    const bool folder = std::filesystem::is_directory(path, ignored);
    errno = 0;
    if (!folder) {
        file.open(path, std::ios::binary);
    }
    if (!file.is_open()) {
        const std::error_code reason(folder ? EISDIR : errno, std::generic_category());
        throw sim::InputError(fmt::format("cannot read the file: {}", reason.message()),
                              "name a model's config.json", {path, 0, 0});
    }
    std::string text;
    std::array<char, 16384> block{};
    do {
        file.read(block.data(), block.size());
        text.append(block.data(), static_cast<std::size_t>(file.gcount()));
    } while (file && text.size() <= kLargestFile);
    if (text.size() > kLargestFile) {
        throw sim::InputError("larger than 1 MiB, so not a model's config.json",
                              "name a model's config.json", {path, 0, 0});
    }
    if (const std::size_t nul = text.find('\0'); nul != std::string::npos) {
        throw sim::InputError("a NUL byte, which no JSON text has",
                              "name a model's config.json, as a text in UTF-8",
                              mark_at(path, text, nul));
    }
    return text;
}

/// A pipe or a device yields its content once, and another setting or a second reading of the
/// scenario asks again.
std::string read_text(const std::string& path) {
    std::error_code unknown;
    if (std::filesystem::is_regular_file(path, unknown)) {
        return read_file(path);
    }
    static std::mutex reading;
    static std::map<std::string, std::string> texts;
    const std::scoped_lock lock(reading);
    const std::string place = std::filesystem::absolute(path, unknown).lexically_normal().string();
    if (const auto found = texts.find(place); found != texts.end()) {
        return found->second;
    }
    return texts.emplace(place, read_file(path)).first->second;
}

}  // namespace

std::string clip(std::string_view text) {
    std::string line(text.substr(0, kLongestQuote));
    for (char& c : line) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            c = ' ';
        }
    }
    return text.size() > kLongestQuote ? line + "..." : line;
}

/// Returns the keys of the first object at or after `begin` of a valid JSON text, in their order.
std::vector<HfConfig::KeyPlace> HfConfig::keys_of(const std::string& text, std::size_t begin) {
    std::vector<KeyPlace> keys;
    std::size_t depth = 0;
    bool expects_key = false;
    for (std::size_t i = begin; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') {
            const std::size_t end = end_of_string(text, i);
            if (depth == 1 && expects_key) {
                keys.push_back({json::parse(text.substr(i, end - i)).get<std::string>(), i});
                expects_key = false;
            }
            i = end - 1;
        } else if (c == '{' || c == '[') {
            ++depth;
            expects_key = depth == 1 && c == '{';
        } else if (c == '}' || c == ']') {
            if (--depth == 0) {
                break;
            }
        } else if (c == ',') {
            expects_key = depth == 1;
        }
    }
    return keys;
}

HfConfig::HfConfig(const std::string& path, std::span<const std::string_view> known)
    : path_(path), text_(read_text(path)), known_(known) {
    check_nesting(path_, text_);
    SyntaxCheck check(path_, text_);
    json::sax_parse(text_, &check);
    root_ = json::parse(text_);
    if (!root_.is_object()) {
        throw sim::InputError("the top level is not a JSON object",
                              "a model's config.json is one object", {path_, 1, 1});
    }
    keys_ = keys_of(text_, 0);
    note_repeated();
}

/// Python's json takes the last of several, too.
void HfConfig::note_repeated() {
    std::set<std::string_view> seen;
    std::set<std::string_view> told;
    for (const KeyPlace& place : keys_) {
        if (!seen.insert(place.key).second && told.insert(place.key).second) {
            note(fmt::format("'{}' stands there more than once: the last, in line {}, counts",
                             clip(place.key), mark(place.key).line));
        }
    }
}

bool HfConfig::enter(const char* key) {
    const auto entry = root_.find(key);
    if (entry == root_.end() || !entry->is_object() || entry->empty()) {
        return false;
    }
    const auto place = std::find_if(keys_.rbegin(), keys_.rend(),
                                    [&](const KeyPlace& of) { return of.key == key; });
    keys_ = keys_of(text_, end_of_string(text_, place->offset));
    json inner = *entry;
    wrapper_ = std::move(root_);
    root_ = std::move(inner);
    nested_ = true;
    note_repeated();
    return true;
}

sim::SourceMark HfConfig::mark(std::string_view key) const {
    const auto found = std::find_if(keys_.rbegin(), keys_.rend(),
                                    [&](const KeyPlace& place) { return place.key == key; });
    return mark_at(path_, text_, found == keys_.rend() ? 0 : found->offset);
}

void HfConfig::refuse(std::string_view key, std::string problem, std::string remedy) const {
    throw sim::InputError(std::move(problem), std::move(remedy), mark(key));
}

void HfConfig::refuse_missing(std::string_view key, const std::string& remedy) const {
    std::vector<std::string> others;
    for (const KeyPlace& place : keys_) {
        if (place.key.size() <= kLongestName && !std::ranges::count(known_, place.key)) {
            others.push_back(place.key);
        }
    }
    if (has(key)) {
        refuse(key, fmt::format("'{}' is null", key), remedy);
    }
    const std::string near = sim::nearest(key, others);
    const std::string question =
        near.empty() ? "" : fmt::format("is it '{}' in line {}? ", clip(near), mark(near).line);
    throw sim::InputError(fmt::format("the key '{}' is missing", key), question + remedy,
                          {path_, 1, 1});
}

void HfConfig::assume_default(const char* key, std::int64_t value) {
    if (!has(key)) {
        assume(key, value);
        note(fmt::format("the file lacks '{}': {}, as its class has it", key, value));
    }
}

const json* HfConfig::find(const char* key) {
    asked_.insert(key);
    const auto entry = root_.find(key);
    return entry == root_.end() || entry->is_null() ? nullptr : &*entry;
}

std::pair<const json*, sim::SourceMark> HfConfig::find_anywhere(
    std::initializer_list<const char*> keys) {
    const std::vector<KeyPlace> around = nested_ ? keys_of(text_, 0) : std::vector<KeyPlace>{};
    for (const char* const key : keys) {
        if (const json* const here = root_.contains(key) ? find(key) : nullptr) {
            return {here, mark(key)};
        }
        const auto entry = wrapper_.find(key);
        if (nested_ && entry != wrapper_.end() && !entry->is_null()) {
            const auto place = std::ranges::find(around, key, &KeyPlace::key);
            return {&*entry, mark_at(path_, text_, place->offset)};
        }
    }
    return {nullptr, {}};
}

std::optional<std::int64_t> HfConfig::whole(const char* key, std::int64_t limit,
                                            std::int64_t least) {
    const json* value = find(key);
    if (value == nullptr) {
        const auto assumed = assumed_.find(key);
        return assumed == assumed_.end() ? std::nullopt : std::optional(assumed->second);
    }
    if (!value->is_number_integer()) {
        refuse(key,
               fmt::format("'{}' is {}, not a whole number", key,
                           clip(value->dump(-1, ' ', true, json::error_handler_t::replace))),
               fmt::format("allowed are {} to {}", least, limit));
    }
    const bool huge = value->is_number_unsigned() &&
                      value->get<std::uint64_t>() > static_cast<std::uint64_t>(limit);
    if (huge || value->get<std::int64_t>() < least) {
        refuse(key, fmt::format("'{}' = {} is out of range", key, value->dump()),
               fmt::format("allowed are {} to {}", least, limit));
    }
    return value->get<std::int64_t>();
}

std::int64_t HfConfig::required(const char* key, std::int64_t limit, std::int64_t least) {
    const std::optional<std::int64_t> value = whole(key, limit, least);
    if (!value) {
        refuse_missing(key, fmt::format("give a whole number from {} to {}", least, limit));
    }
    return *value;
}

bool HfConfig::flag(const char* key, bool fallback) {
    const json* value = find(key);
    if (value == nullptr) {
        return fallback;
    }
    if (!value->is_boolean()) {
        refuse(key, fmt::format("'{}' is {}, not true or false", key,
                                clip(value->dump(-1, ' ', true, json::error_handler_t::replace))));
    }
    return value->get<bool>();
}

bool HfConfig::flag_of_wrapper(const char* key, bool fallback) const {
    const auto entry = wrapper_.find(key);
    return entry != wrapper_.end() && entry->is_boolean() ? entry->get<bool>() : fallback;
}

std::vector<std::string> HfConfig::keys() const {
    std::vector<std::string> names;
    for (const KeyPlace& place : keys_) {
        if (!std::ranges::count(names, place.key)) {
            names.push_back(place.key);
        }
    }
    return names;
}

std::vector<std::string> HfConfig::missing() const {
    std::vector<std::string> names;
    std::ranges::copy_if(asked_, std::back_inserter(names),
                         [&](const std::string& key) { return !root_.contains(key); });
    return names;
}

std::string HfConfig::text_of(const std::string& key) const {
    return clip(root_.at(key).dump(-1, ' ', true, json::error_handler_t::replace));
}

}  // namespace podsim::workloads
