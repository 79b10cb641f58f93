// Faults of one input: which are reported, in which order, and which only follow from another.
#include "sim/base/input_faults.h"

#include <gtest/gtest.h>

namespace podsim::sim {
namespace {

/// `a` is in line 1, `b` in line 2, ...
SourceMark line_of(std::string_view place) {
    return {"f", place.front() - 'a' + 1, 1};
}

std::string text_of(const InputFaults& faults) {
    try {
        faults.throw_all();
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(InputFaults, AreSaidInTheOrderOfTheirPlaces) {
    InputFaults faults(line_of);
    EXPECT_EQ(text_of(faults), "");
    faults.add("b", InputError("second"));
    EXPECT_EQ(text_of(faults), "f:2:1: second");
    faults.add("a", InputError("first", "mend it"));
    faults.add("c", InputError("elsewhere", "", {"e", 9, 9}));
    EXPECT_EQ(text_of(faults), "e:9:9: elsewhere\nf:1:1: first; mend it\nf:2:1: second");
    try {
        faults.throw_all();
    } catch (const InputError& error) {
        EXPECT_EQ(error.problem(), "elsewhere");
        EXPECT_EQ(errors_in(error).size(), 3U);
        EXPECT_EQ(errors_in(errors_in(error)[2]).size(), 1U);
    }
}

// A map and its entries are related; a name with the same beginning is not.
TEST(InputFaults, AtARelatedPlaceOnlyFollow) {
    InputFaults faults(line_of);
    faults.add("a.x[1]", InputError("one"));
    for (const char* related : {"a", "a.x", "a.x[1]", "a.x[1].y"}) {
        EXPECT_FALSE(faults.sound(related)) << related;
        faults.add(related, InputError("follows"));
    }
    for (const char* other : {"a.xx", "a.x[11]", "a.x[2]", "a.y", "b"}) {
        EXPECT_TRUE(faults.sound(other)) << other;
    }
    EXPECT_EQ(text_of(faults), "f:1:1: one");
    faults.add_always("a.x", InputError("another"));
    EXPECT_EQ(text_of(faults), "f:1:1: one\nf:1:1: another");
}

// b derives from a, and c needs b: neither is checked once a is wrong. d needs neither and is
// checked. A check that did not run reports nothing about its own place.
TEST(InputFaults, ChecksOfWhatIsNotSoundDoNotRun) {
    InputFaults faults(line_of);
    const auto refuse = [](const char* what) { return [what] { throw InputError(what); }; };
    faults.check("a", {}, refuse("a is wrong"));
    faults.derive("b", {"a"}, refuse("b is wrong"));
    faults.check("c", {"b"}, refuse("c is wrong"));
    EXPECT_FALSE(faults.sound("b"));
    EXPECT_TRUE(faults.sound("c"));
    faults.derive("d", {"e"}, refuse("d is wrong"));
    EXPECT_EQ(text_of(faults), "f:1:1: a is wrong\nf:4:1: d is wrong");
}

// An error that a check throws after it has added one may follow from that one.
TEST(InputFaults, TheLastErrorOfACheckIsLeftOutBehindOthers) {
    InputFaults faults(line_of);
    faults.check("a", {}, [&] {
        faults.add("a.x", InputError("no number"));
        throw InputError("zero members");
    });
    EXPECT_EQ(text_of(faults), "f:1:1: no number");
    EXPECT_FALSE(faults.sound("a.y"));
}

TEST(InputFaults, WithoutPlacesAreThrownAsTheyCome) {
    InputFaults faults;
    EXPECT_THROW(faults.add("a", InputError("one")), InputError);
    EXPECT_THROW(faults.check("a", {"b"}, [] { throw InputError("two"); }), InputError);
    EXPECT_TRUE(faults.sound("a"));
    EXPECT_NO_THROW(faults.throw_all());
}

}  // namespace
}  // namespace podsim::sim
