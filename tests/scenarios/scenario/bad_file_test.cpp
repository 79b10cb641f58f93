// Files that cannot be read, or are not YAML: exit status 2 and one message, verbatim.
#include <cerrno>
#include <sys/prctl.h>
#include <system_error>
#include <unistd.h>

#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using BadFile = CommandTest;

/// While it lives, a test that runs as root has the rights of nobody.
class Unprivileged {
public:
    Unprivileged() {
        if (root_ && ::seteuid(65534) != 0) {
            throw std::system_error(errno, std::generic_category(), "seteuid");
        }
    }
    ~Unprivileged() {
        if (root_) {
            EXPECT_EQ(::seteuid(0), 0);
            ::prctl(PR_SET_DUMPABLE, 1);  // lost with the user id; the leak check needs it
        }
    }
    Unprivileged(const Unprivileged&) = delete;
    Unprivileged& operator=(const Unprivileged&) = delete;

private:
    bool root_ = ::geteuid() == 0;
};

TEST_F(BadFile, FilesThatCannotBeRead) {
    const Outcome none = podsim({"run", path("none.yaml")});
    EXPECT_EQ(none.status, 2);
    EXPECT_EQ(plain(none.err),
              "none.yaml: cannot read the file: No such file or directory; check the path and its "
              "permissions\n");
    std::filesystem::create_directory(path("folder"));
    const Outcome folder = podsim({"run", path("folder")});
    EXPECT_EQ(folder.status, 2);
    EXPECT_EQ(plain(folder.err), "folder: this is a directory; name a YAML file\n");
}

TEST_F(BadFile, FilesWithoutPermission) {
    const std::string file = write(kGood);
    std::filesystem::permissions(file, std::filesystem::perms::none);
    Outcome outcome;
    {
        const Unprivileged nobody;  // root reads everything
        outcome = podsim({"run", file});
    }
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(plain(outcome.err),
              "s.yaml: cannot read the file: Permission denied; check the path and its "
              "permissions\n");
}

TEST_F(BadFile, WhatIsNotYaml) {
    expect_refused("a: [1, 2\nb: }\n",
                   "s.yaml:2:2: this is not valid YAML: end of sequence flow not found; check the "
                   "brackets, quotes and indentation here");
    // Earlier quotes do not matter if they are closed, doubled or escaped, within words or
    // in comments.
    const char* const open = "the quote that opens here is not closed; close it behind its text";
    expect_refused("a: \"b\\\"\" # no: \"\nc: 'it''s'\nd: don't\ne: [1, \"f]\ng: 1\n",
                   std::string("s.yaml:4:8: ") + open);
    // The same outside brackets, where the parser takes everything up to the end for text.
    expect_refused("name: \"abc\nhardware: {chip: v5p}\n", std::string("s.yaml:1:7: ") + open);
    expect_refused("a: 1\nname: 'abc\nb: \"c\"\n", std::string("s.yaml:2:7: ") + open);
    // Text that only looks like an open quote.
    for (const char* const name : {"rate - 'tis fine", "v5p, 'til it fits", "why? 'cause",
                                   "(5 - \"x)", "it is\n  'tis fine", "'it''s'", "\"a\\\"b\""}) {
        EXPECT_EQ(
            podsim({"run", write(std::string(kGood) + "name: " + name + "\n"), "--no-explain"})
                .status,
            0)
            << name;
    }
    expect_refused("name: 'a'\n# batch: > 3\nmodel: 'abc\n", std::string("s.yaml:3:8: ") + open);
    expect_refused(
        "a: {b: *other, c: 1}\n",
        "s.yaml:1:8: '*other' stands for nothing; write the value out, or quote it when it is "
        "text that starts with '*'");
    expect_refused(
        "name: a\xc2\x9b"
        "31m\n",
        "s.yaml:1:7: control characters or line breaks in 'a\\xc2\\x9b31m'; write the "
        "text in one line");
    expect_refused("hardware:\n\tchip: v5p\n",
                   "s.yaml:2:6: this is not valid YAML: illegal map value; indent this line with "
                   "spaces: it begins with a tab");
    expect_refused(
        "", std::string("s.yaml:1:1: the file is empty; a scenario has the keys ") + kTopKeys);
    expect_refused("just words\n",
                   std::string("s.yaml:1:1: the file holds text, not a map of keys; a scenario has "
                               "the keys ") +
                       kTopKeys);
    expect_refused("[a, b]: c\n", "s.yaml:1:1: a key is a list or a map; keys are plain names");
    expect_refused(std::string(kGood) + "---\n" + kGood,
                   "s.yaml:5:1: a second YAML document starts here; write one document a file");
    expect_refused(std::string("hardware: \0 {}\n", 15),
                   "s.yaml:1:11: the character \\x00 is not text; a scenario is a YAML text in "
                   "UTF-8");
    expect_refused(
        "name: !!str a\n",
        "s.yaml:1:7: YAML tags ('!name') are not allowed; write the plain value, or quote "
        "it when it is text that starts with '!'");
}

TEST_F(BadFile, BytesThatAreNotUtf8) {
    const auto expect_bad_byte = [&](const std::string& name, const std::string& byte, int column) {
        expect_refused(std::string(kGood) + "name: " + name + "\n",
                       "s.yaml:5:" + std::to_string(column) + ": the byte \\x" + byte +
                           " is not valid UTF-8; a scenario is a YAML text in UTF-8");
    };
    expect_bad_byte("a\xff", "ff", 8);
    expect_bad_byte("\x80", "80", 7);
    expect_bad_byte("\xc3(", "c3", 7);             // a second byte is missing
    expect_bad_byte("\xe2\x82", "e2", 7);          // a third
    expect_bad_byte("\xc0\xaf", "c0", 7);          // overlong
    expect_bad_byte("\xe0\x80\xaf", "e0", 7);      // overlong
    expect_bad_byte("\xed\xa0\x80", "ed", 7);      // a surrogate
    expect_bad_byte("\xf4\x90\x80\x80", "f4", 7);  // beyond U+10FFFF
    expect_bad_byte("\xc3\xa9\xff", "ff", 9);      // columns count bytes
    EXPECT_EQ(podsim({"run", write(std::string(kGood) + "name: \xc3\xa9 \xe2\x82\xac "
                                                        "\xf0\x9f\x98\x80\n")})
                  .err,
              "");
    expect_refused(
        kGood,
        "--set name=a\\xff: the byte \\xff is not valid UTF-8; a scenario is a YAML text "
        "in UTF-8",
        {"--set", "name=a\xff"});
}

TEST_F(BadFile, DuplicateKey) {
    expect_refused(std::string(kGood) + "model: llama-3-70b\n",
                   "s.yaml:5:1: duplicate key 'model'; it was given in line 2 already: keep one of "
                   "the two");
}

TEST_F(BadFile, HugeLines) {
    expect_refused("name: " + std::string(10'000'000, 'x'),
                   "s.yaml: the file is larger than 1 MiB; a scenario needs a few kB");
    expect_refused("name: " + std::string(1'000'000, 'x'),
                   "s.yaml:1:7: a text of 1000000 characters; at most 1000 are allowed");
}

TEST_F(BadFile, DeepNesting) {
    expect_refused("a: " + std::string(100'000, '[') + std::string(100'000, ']'),
                   "s.yaml:1:19: maps and lists are nested more than 16 deep; a scenario needs 4 "
                   "levels");
    std::string block;
    for (int depth = 0; depth < 1000; ++depth) {
        block += std::string(static_cast<std::size_t>(depth), ' ') + "a:\n";
    }
    expect_refused(block,
                   "s.yaml:17:17: maps and lists are nested more than 16 deep; a scenario needs 4 "
                   "levels");
    std::string dashes;
    for (int depth = 0; depth < 100'000; ++depth) {
        dashes += "- ";
    }
    expect_refused(dashes,
                   "s.yaml:1:33: maps and lists are nested more than 16 deep; a scenario needs 4 "
                   "levels");
}

TEST_F(BadFile, AliasBomb) {
    std::string bomb = "a0: &a0 [lol, lol]\n";
    for (int level = 1; level < 30; ++level) {
        const std::string below = std::to_string(level - 1);
        const std::string here = std::to_string(level);
        bomb += "a" + here + ": &a" + here + " [*a" + below + ", *a" + below + "]\n";
    }
    expect_refused(bomb,
                   "s.yaml:1:5: YAML anchors and aliases ('&name', '*name') are not allowed; write "
                   "the value out, or quote it when it is text that starts with '&' or '*'");
}

TEST_F(BadFile, StarsAndAmpersandsInTextAreText) {
    const Outcome outcome =
        podsim({"run", write(std::string(kGood) + "name: \"a * b & c\"\nmodle: x\n")});
    EXPECT_NE(outcome.err.find("s.yaml:6:1: unknown key 'modle'"), std::string::npos);
}

TEST_F(BadFile, MessagesHoldNoControlCharacters) {
    expect_refused(
        std::string(kGood) + "name: \"\\e[31m\"\n",
        "s.yaml:5:7: control characters or line breaks in '\\x1b[31m'; write the text in "
        "one line");
}

}  // namespace
}  // namespace podsim::scenarios
