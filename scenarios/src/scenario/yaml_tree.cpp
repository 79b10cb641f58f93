#include "scenarios/src/scenario/yaml_tree.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/yaml_fault.h"

namespace podsim::scenarios {
namespace {

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
}

/// Builds the tree from the parser's events, and refuses what the header excludes as soon as it
/// appears.
class TreeBuilder final : public YAML::EventHandler {
public:
    /// `text` is the parsed text.
    TreeBuilder(const std::string& text, std::string file, std::size_t most_keys)
        : text_(text), file_(std::move(file)), most_keys_(most_keys) {}

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ > 1) {
            fail(mark, "a second YAML document starts here", "write one document a file");
        }
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        refuse_anchor(mark, anchor);
        add(leaf(YamlNode::Kind::null, mark));
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse_anchor(mark, 1); }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        refuse_anchor(mark, anchor);
        refuse_tag(mark, tag);
        if (tag == "!") {
            refuse_open_quote(mark);
        }
        check_scalar(mark, value);
        YamlNode node = leaf(YamlNode::Kind::scalar, mark);
        node.text = value;
        if (tag == "?" && (value.empty() || value == "~" || value == "null")) {
            node.kind = YamlNode::Kind::null;
        }
        add(std::move(node));
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(YamlNode::Kind::sequence, mark, tag, anchor);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(YamlNode::Kind::map, mark, tag, anchor);
    }
    void OnMapEnd() override { close(); }

    /// Returns the document, after the parser has reached its end.
    [[nodiscard]] YamlNode take_root() {
        if (strange_key_.has_value()) {
            throw *strange_key_;
        }
        return std::move(root_);
    }

private:
    struct Level {
        YamlNode node;
        /// In a map: its last entry has only its key yet.
        bool expects_value = false;
    };

    [[nodiscard]] sim::SourceMark at(const YAML::Mark& mark) const {
        return {file_, mark.line + 1, mark.column + 1};
    }
    [[noreturn]] void fail(const YAML::Mark& mark, std::string problem, std::string remedy) const {
        throw sim::InputError(std::move(problem), std::move(remedy), at(mark));
    }
    void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
        if (anchor != 0) {
            fail(mark, "YAML anchors and aliases ('&name', '*name') are not allowed",
                 "write the value out, or quote it when it is text that starts with '&' or '*'");
        }
    }
    void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
        if (!tag.empty() && tag != "?" && tag != "!") {
            fail(mark, "YAML tags ('!name') are not allowed",
                 "write the plain value, or quote it when it is text that starts with '!'");
        }
    }
    /// Refuses a quote that is still open: the parser ends a quoted text with the file.
    void refuse_open_quote(const YAML::Mark& mark) const {
        auto at = static_cast<std::size_t>(mark.pos);
        if (at >= text_.size() || (text_[at] != '"' && text_[at] != '\'')) {
            return;
        }
        const char quote = text_[at++];
        for (; at < text_.size(); ++at) {
            const bool doubled =
                quote == '\'' && text_[at] == quote && text_.substr(at + 1, 1) == "'";
            if (doubled || (quote == '"' && text_[at] == '\\')) {
                ++at;
            } else if (text_[at] == quote) {
                return;
            }
        }
        fail(mark, "the quote that opens here is not closed", "close it behind its text");
    }
    /// Checks a text: quoted text can hold any character by escapes, and messages repeat it.
    void check_scalar(const YAML::Mark& mark, const std::string& value) const {
        constexpr std::size_t kLongest = 1000;
        if (value.size() > kLongest) {
            fail(mark, fmt::format("a text of {} characters", value.size()),
                 fmt::format("at most {} are allowed", kLongest));
        }
        if (has_hidden_character(value)) {
            fail(mark, fmt::format("control characters or line breaks in {}", in_quotes(value)),
                 "write the text in one line");
        }
    }
    [[nodiscard]] YamlNode leaf(YamlNode::Kind kind, const YAML::Mark& mark) const {
        YamlNode node;
        node.kind = kind;
        node.mark = at(mark);
        return node;
    }

    void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
              YAML::anchor_t anchor) {
        refuse_anchor(mark, anchor);
        refuse_tag(mark, tag);
        if (levels_.size() >= static_cast<std::size_t>(kDeepestNesting)) {
            fail(mark, fmt::format("maps and lists are nested more than {} deep", kDeepestNesting),
                 "a scenario needs 4 levels");
        }
        if (!levels_.empty() && levels_.back().node.kind == YamlNode::Kind::map &&
            !levels_.back().expects_value) {
            // Unbalanced brackets look like this too: the parser's own words come first.
            if (!strange_key_.has_value()) {
                strange_key_.emplace("a key is a list or a map", "keys are plain names", at(mark));
            }
        }
        levels_.push_back({leaf(kind, mark), false});
    }

    void close() {
        YamlNode node = std::move(levels_.back().node);
        levels_.pop_back();
        add(std::move(node));
    }

    void add(YamlNode node) {
        if (levels_.empty()) {
            root_ = std::move(node);
            return;
        }
        Level& level = levels_.back();
        if (level.node.kind == YamlNode::Kind::sequence) {
            level.node.items.push_back(std::move(node));
        } else if (level.expects_value) {
            level.node.entries.back().value = std::move(node);
            level.expects_value = false;
        } else {
            add_key(level, std::move(node));
        }
    }

    void add_key(Level& level, YamlNode key) {
        if (key.kind != YamlNode::Kind::scalar && !strange_key_.has_value()) {
            strange_key_.emplace("a key is empty, a list or a map", "keys are plain names",
                                 key.mark);
        }
        // A file of 1 MiB holds 10^5 keys: refuse long before the search for duplicates is
        // noticeable.
        if (level.node.entries.size() >= most_keys_) {
            throw sim::InputError(fmt::format("a map has more than {} keys", most_keys_),
                                  "a scenario needs fewer than 30", key.mark);
        }
        const auto earlier = std::ranges::find(level.node.entries, key.text, &YamlNode::Entry::key);
        if (earlier != level.node.entries.end() && key.kind == YamlNode::Kind::scalar) {
            throw sim::InputError(
                fmt::format("duplicate key {}", in_quotes(key.text)),
                fmt::format("it was given in line {} already: keep one of the two",
                            earlier->mark.line),
                key.mark);
        }
        level.node.entries.push_back({std::move(key.text), std::move(key.mark), {}});
        level.expects_value = true;
    }

    const std::string& text_;
    std::string file_;
    std::size_t most_keys_;
    int documents_ = 0;
    std::vector<Level> levels_;
    std::optional<sim::InputError> strange_key_;
    YamlNode root_;
};

/// Refuses NUL and control characters, which YAML does not allow and terminals obey.
void check_characters(const std::string& text, const std::string& file, const char* written) {
    sim::SourceMark mark{file, 1, 1};
    for (const char c : text) {
        if (is_control(c) && c != '\n' && c != '\r' && c != '\t') {
            throw sim::InputError(fmt::format("the character \\x{:02x} is not text", c), written,
                                  mark);
        }
        if (c == '\n') {
            ++mark.line;
            mark.column = 1;
        } else {
            ++mark.column;
        }
    }
}

/// Refuses bytes that are no UTF-8, which the parser would replace.
void check_utf8(const std::string& text, const std::string& file) {
    sim::SourceMark mark{file, 1, 1};
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = character_length(std::string_view(text).substr(i));
        if (length == 0) {
            throw sim::InputError(fmt::format("the byte \\x{:02x} is not valid UTF-8",
                                              static_cast<unsigned char>(text[i])),
                                  FileLimit().written, mark);
        }
        if (text[i] == '\n') {
            ++mark.line;
            mark.column = 1;
        } else {
            mark.column += static_cast<int>(length);
        }
        i += length;
    }
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
    const auto entry = std::ranges::find(entries, key, &Entry::key);
    return entry == entries.end() ? nullptr : &entry->value;
}

YamlNode* YamlNode::find(std::string_view key) {
    return const_cast<YamlNode*>(std::as_const(*this).find(key));
}

std::string_view describe(YamlNode::Kind kind) {
    switch (kind) {
        case YamlNode::Kind::null:
            return "nothing";
        case YamlNode::Kind::scalar:
            return "text";
        case YamlNode::Kind::sequence:
            return "a list";
        case YamlNode::Kind::map:
            return "a map";
    }
    return "unknown";
}

std::string read_text_file(const std::string& path, const FileLimit& limit) {
    const sim::SourceMark mark{path, 0, 0};
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        throw sim::InputError("this is a directory", fmt::format("name {}", limit.what), mark);
    }
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        const int reason = errno;
        throw sim::InputError(fmt::format("cannot read the file: {}",
                                          reason == 0 ? "unknown reason" : std::strerror(reason)),
                              "check the path and its permissions", mark);
    }
    constexpr std::size_t kAtOnce = std::size_t{1} << 16;
    std::string text;
    while (file && text.size() <= limit.bytes) {
        const std::size_t read = text.size();
        text.resize(std::min(read + kAtOnce, limit.bytes + 1));
        file.read(text.data() + read, static_cast<std::streamsize>(text.size() - read));
        text.resize(read + static_cast<std::size_t>(file.gcount()));
    }
    if (file.bad()) {
        throw sim::InputError("cannot read the file to its end", "check the disk", mark);
    }
    check_text(text, path, limit);
    return text;
}

void check_text(const std::string& text, const std::string& file, const FileLimit& limit) {
    if (text.size() > limit.bytes) {
        throw sim::InputError(fmt::format("the file is larger than {} MiB", limit.bytes >> 20U),
                              limit.remedy, {file, 0, 0});
    }
    check_characters(text, file, limit.written);
}

YamlNode parse_yaml(const std::string& text, const std::string& file, std::size_t most_keys) {
    check_characters(text, file, FileLimit().written);
    check_utf8(text, file);
    TreeBuilder builder(text, file, most_keys);
    try {
        std::istringstream stream(text);
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const YAML::Exception& error) {
        sim::SourceMark mark{file, 0, 0};
        if (!error.mark.is_null()) {
            mark.line = error.mark.line + 1;
            mark.column = error.mark.column + 1;
        }
        throw yaml_fault(text, error.msg, mark);
    }
    YamlNode root = builder.take_root();
    if (root.mark.file.empty()) {
        root.mark = {file, 1, 1};
    }
    return root;
}

}  // namespace podsim::scenarios
