#include "scenarios/src/report/page.h"

#include <algorithm>
#include <array>
#include <ios>
#include <utility>

#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/transform_width.hpp>
#include <boost/iostreams/device/back_inserter.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>

#include "scenarios/src/base/glossary.h"
#include "scenarios/src/report/page_parts.h"

namespace podsim::scenarios {
namespace {

std::string gzip(std::string_view text) {
    std::string bytes;
    boost::iostreams::filtering_ostream out;
    out.push(boost::iostreams::gzip_compressor(
        boost::iostreams::gzip_params(boost::iostreams::gzip::best_compression)));
    out.push(boost::iostreams::back_inserter(bytes));
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.reset();  // flushes the rest
    return bytes;
}

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

Json glossary_json() {
    Json json = Json::object();
    for (const Term& term : glossary()) {
        json[std::string(term.name)] = term.meaning;
    }
    return json;
}

}  // namespace

/// Encodes three bytes as four letters; the last group is padded with `=`.
std::string base64(std::string_view text) {
    std::string bytes(text);
    using Bytes = std::string::const_iterator;
    using Letters = boost::archive::iterators::base64_from_binary<
        boost::archive::iterators::transform_width<Bytes, 6, 8>>;
    const std::size_t filled = (3 - bytes.size() % 3) % 3;
    bytes.append(filled, '\0');
    std::string letters(Letters(bytes.cbegin()), Letters(bytes.cend()));
    std::fill_n(letters.rbegin(), filled, '=');
    return letters;
}

std::string packed_text(std::string_view text) {
    return base64(gzip(text));
}

std::string page_html(const Page& page) {
    const std::string data = packed_text(json_line({{"kind", page.kind},
                                                    {"title", page.title},
                                                    {"version", PODSIM_VERSION},
                                                    {"result", page.result},
                                                    {"extra", page.extra},
                                                    {"glossary", glossary_json()}}));
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
    // Replaces in the order of the template, so that replaced text is not searched.
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
