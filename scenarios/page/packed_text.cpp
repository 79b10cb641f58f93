#include "scenarios/page/packed_text.h"

#include <algorithm>
#include <ios>

#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/transform_width.hpp>
#include <boost/iostreams/device/back_inserter.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>

namespace podsim::scenarios {
namespace {

std::string gzip(std::string_view text) {
    std::string bytes;
    boost::iostreams::filtering_ostream out;
    out.push(boost::iostreams::gzip_compressor(
        boost::iostreams::gzip_params(boost::iostreams::gzip::best_compression)));
    out.push(boost::iostreams::back_inserter(bytes));
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.reset();  // writes what is left
    return bytes;
}

}  // namespace

/// Three bytes are four letters; the last ones are filled up with zeros, whose letters are `=`.
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

}  // namespace podsim::scenarios
