// The file of a page has all its parts, each at its own position.
#include <gtest/gtest.h>
#include <string>

#include "scenarios/src/base/glossary.h"
#include "scenarios/src/base/json_text.h"
#include "scenarios/src/report/page.h"
#include "scenarios/src/report/page_parts.h"

namespace podsim::scenarios {
namespace {

TEST(PageFile, holds_its_parts_in_their_places) {
    const Page page{.kind = "collective", .title = "a <b> & c", .result = {{"bytes", 1}}};
    const std::string html = page_html(page);
    EXPECT_NE(html.find("<title>a &lt;b&gt; &amp; c</title>"), std::string::npos);
    EXPECT_EQ(html.find("<b>"), std::string::npos);
    for (const std::string_view mark :
         {"@title@", "@style@", "@library@", "@script@", "@data@", "@unpacker@"}) {
        EXPECT_EQ(html.find(mark), std::string::npos) << mark;
    }
    Json terms = Json::object();
    for (const Term& term : glossary()) {
        terms[std::string(term.name)] = term.meaning;
    }
    const std::string data = packed_text(
        R"({"kind":"collective","title":"a <b> & c","version":"0.1.0","result":{"bytes":1},"extra":{},"glossary":)" +
        json_line(terms) + "}");
    EXPECT_NE(html.find(">" + data + "<"), std::string::npos);
    EXPECT_NE(html.find(">" + base64(page_library()) + "<"), std::string::npos);
}

/// A third of the 3 MB is left for data.
TEST(PageFile, leaves_room_for_data) {
    const Page page{.kind = "run", .title = "", .result = nullptr};
    EXPECT_LT(page_html(page).size(), kMostPageBytes * 2 / 3 + 50'000);
}

/// A title that looks like a mark stays a title.
TEST(PageFile, looks_for_no_marks_in_what_it_was_given) {
    const Page page{.kind = "run", .title = "@style@", .result = nullptr};
    EXPECT_NE(page_html(page).find("<title>@style@</title>"), std::string::npos);
}

TEST(PageFile, asks_for_nothing_from_elsewhere) {
    const std::string html(page_template());
    EXPECT_EQ(html.find("http:"), std::string::npos);
    EXPECT_EQ(html.find("https:"), std::string::npos);
    EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
}

}  // namespace
}  // namespace podsim::scenarios
