#include "scenarios/page/page.h"

#include <array>
#include <utility>

#include "scenarios/page/packed_text.h"
#include "scenarios/page/page_parts.h"

namespace podsim::scenarios {
namespace {

std::string escaped(std::string_view text) {
    std::string html;
    for (const char c : text) {
        switch (c) {
            case '&':
                html += "&amp;";
                break;
            case '<':
                html += "&lt;";
                break;
            case '>':
                html += "&gt;";
                break;
            default:
                html += c;
        }
    }
    return html;
}

}  // namespace

std::string page_html(const Page& page) {
    const std::string data = packed_text(json_line({{"kind", page.kind},
                                                    {"title", page.title},
                                                    {"version", PODSIM_VERSION},
                                                    {"result", page.result},
                                                    {"extra", page.extra}}));
    const std::string title = escaped(page.title);
    const std::string library = base64(page_library());
    const std::string script = base64(page_script());
    const std::array<std::pair<std::string_view, std::string_view>, 6> parts{{
        {"@title@", title},
        {"@style@", page_style()},
        {"@library@", library},
        {"@script@", script},
        {"@data@", data},
        {"@unpacker@", page_unpacker()},
    }};
    // In the order of the template, so that nothing is looked for in what was put in.
    std::string html;
    std::string_view rest = page_template();
    for (const auto& [mark, part] : parts) {
        const std::size_t at = rest.find(mark);
        html.append(rest.substr(0, at)).append(part);
        rest.remove_prefix(at + mark.size());
    }
    return html.append(rest);
}

}  // namespace podsim::scenarios
