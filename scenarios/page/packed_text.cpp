#include "scenarios/page/packed_text.h"

#include <stdexcept>
#include <zlib.h>

#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/transform_width.hpp>

namespace podsim::scenarios {
namespace {

std::string gzip(std::string_view text) {
    constexpr int kGzipWindow = 15 + 16;  // the largest window, with gzip's header
    constexpr int kMemory = 9;
    z_stream stream{};
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        throw std::runtime_error("zlib cannot begin");
    }
    std::string bytes(deflateBound(&stream, text.size()), '\0');
    // NOLINTBEGIN(*-reinterpret-cast, *-const-cast): zlib's interface; it only reads
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    // NOLINTEND(*-reinterpret-cast, *-const-cast)
    stream.avail_in = static_cast<uInt>(text.size());
    stream.avail_out = static_cast<uInt>(bytes.size());
    const int end = deflate(&stream, Z_FINISH);
    bytes.resize(stream.total_out);
    deflateEnd(&stream);
    if (end != Z_STREAM_END) {
        throw std::runtime_error("zlib cannot end");
    }
    return bytes;
}

/// Three bytes are four letters; the last ones are filled up with zeros, whose letters are `=`.
std::string base64(std::string bytes) {
    using Bytes = std::string::const_iterator;
    using Letters = boost::archive::iterators::base64_from_binary<
        boost::archive::iterators::transform_width<Bytes, 6, 8>>;
    const std::size_t filled = (3 - bytes.size() % 3) % 3;
    bytes.append(filled, '\0');
    std::string text(Letters(bytes.cbegin()), Letters(bytes.cend()));
    return text.replace(text.size() - filled, filled, filled, '=');
}

}  // namespace

std::string packed_text(std::string_view text) {
    return base64(gzip(text));
}

}  // namespace podsim::scenarios
