#include "workloads/hlo/array_shape.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <utility>

#include "workloads/hlo/checked.h"

namespace podsim::workloads::hlo {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 35> kElements{{{"pred", 8},
                                                                      {"s1", 1},
                                                                      {"s2", 2},
                                                                      {"s4", 4},
                                                                      {"s8", 8},
                                                                      {"s16", 16},
                                                                      {"s32", 32},
                                                                      {"s64", 64},
                                                                      {"u1", 1},
                                                                      {"u2", 2},
                                                                      {"u4", 4},
                                                                      {"u8", 8},
                                                                      {"u16", 16},
                                                                      {"u32", 32},
                                                                      {"u64", 64},
                                                                      {"f4e2m1fn", 4},
                                                                      {"f6e3m2fn", 6},
                                                                      {"f6e2m3fn", 6},
                                                                      {"f8e3m4", 8},
                                                                      {"f8e4m3", 8},
                                                                      {"f8e4m3fn", 8},
                                                                      {"f8e4m3fnuz", 8},
                                                                      {"f8e4m3b11fnuz", 8},
                                                                      {"f8e5m2", 8},
                                                                      {"f8e5m2fnuz", 8},
                                                                      {"f8e8m0fnu", 8},
                                                                      {"bf16", 16},
                                                                      {"f16", 16},
                                                                      {"f32", 32},
                                                                      {"f64", 64},
                                                                      {"c64", 64},
                                                                      {"c128", 128},
                                                                      {"token", 0},
                                                                      {"opaque", 0},
                                                                      {"b", 0}}};

constexpr int kBitsOfByte = 8;

double bits_to_bytes(double elements, int bits) {
    return elements * bits / kBitsOfByte;
}

/// Returns the bits of an element in memory; 0 if it has no bytes.
int stored_bits(const Shape& array) {
    if (array.layout.element_bits > 0) {
        return array.layout.element_bits;
    }
    const int bits = hlo::element_bits(array.element);
    return bits > 0 ? std::max(bits, kBitsOfByte) : 0;
}

/// Appends the dimensions as in memory, major to minor, padded to the first tile. Returns false if
/// one overflows.
bool lay_out(const Shape& array, std::vector<std::int64_t>& physical) {
    const Layout& layout = array.layout;
    for (std::size_t i = array.dims.size(); i-- > 0;) {
        const auto minor = layout.minor_to_major.empty()
                               ? array.dims.size() - 1 - i
                               : static_cast<std::size_t>(layout.minor_to_major[i]);
        physical.push_back(array.dims[minor]);
    }
    if (layout.tiles.empty()) {
        return true;
    }
    const std::vector<std::int64_t>& tile = layout.tiles.front();
    for (std::size_t i = 0; i < std::min(tile.size(), physical.size()); ++i) {
        std::int64_t& length = physical[physical.size() - 1 - i];
        const std::int64_t size = tile[tile.size() - 1 - i];
        length = length / size + (length % size > 0 ? 1 : 0);
        if (!multiply(length, size)) {
            return false;
        }
    }
    return true;
}

/// Returns the number of elements, 0 if one dimension is 0; nothing if their bytes overflow 64
/// bits.
std::optional<double> counted(const std::vector<std::int64_t>& dims, std::int64_t bytes_of_each) {
    if (std::ranges::find(dims, 0) != dims.end()) {
        return 0;
    }
    std::int64_t bytes = bytes_of_each;
    double count = 1;
    for (const std::int64_t dim : dims) {
        if (!multiply(bytes, dim)) {
            return std::nullopt;
        }
        count *= static_cast<double>(dim);
    }
    return count;
}

/// Computes the sums of an array or a token; returns false if they overflow.
bool measure(Shape& shape) {
    if (shape.kind != Shape::Kind::array) {
        return true;
    }
    const int bits = stored_bits(shape);
    const std::int64_t bytes_of_each = std::max(1, (bits + kBitsOfByte - 1) / kBitsOfByte);
    std::vector<std::int64_t> physical;
    const auto elements = counted(shape.dims, bytes_of_each);
    if (!elements || !lay_out(shape, physical)) {
        return false;
    }
    const auto padded = counted(physical, bytes_of_each);
    if (!padded) {
        return false;
    }
    ShapeSums& sums = shape.sums;
    sums.elements = *elements;
    sums.bytes = sim::Bytes(bits_to_bytes(*elements, bits));
    sums.stored = sim::Bytes(bits_to_bytes(*padded, bits));
    sums.first_space = shape.layout.memory_space;
    sums.in_hbm = sums.first_space == kHbmSpace ? sums.stored : sim::Bytes();
    sums.at_host = sums.first_space == kHostSpace;
    return true;
}

void add(ShapeSums& sums, const ShapeSums& part) {
    sums.elements += part.elements;
    sums.bytes += part.bytes;
    sums.stored += part.stored;
    sums.in_hbm += part.in_hbm;
    sums.first_space = sums.first_space < 0 ? part.first_space : sums.first_space;
    sums.at_host = sums.at_host || part.at_host;
}

/// Reads a number of a layout: an axis, bits, a memory space.
int small_number(Text& text, int least) {
    constexpr std::int64_t kMost = 1 << 16;
    const std::size_t at = text.offset();
    const std::int64_t number = text.number();
    if (number < least || number > kMost) {
        text.go_to(at);
        throw text.error(
            fmt::format("{} stands in a layout where {} to {} may", number, least, kMost));
    }
    return static_cast<int>(number);
}

/// Reads the lists in parentheses of `T(8,128)(2,1)`.
std::vector<std::vector<std::int64_t>> read_tiles(Text& text) {
    std::vector<std::vector<std::int64_t>> tiles;
    while (text.take("(")) {
        std::vector<std::int64_t>& tile = tiles.emplace_back();
        while (!text.take(")")) {
            // A star joins the dimension with the next one, without padding.
            tile.push_back(text.take("*") ? 1 : text.number());
            if (tile.back() < 1) {
                throw text.error("a tile of a length below 1");
            }
            text.take(",");
        }
    }
    return tiles;
}

Layout read_layout(Text& text) {
    Layout layout;
    text.expect("{");
    while (text.peek() != ':' && text.peek() != '}') {
        layout.minor_to_major.push_back(small_number(text, 0));
        text.take(",");
    }
    if (text.take(":")) {
        while (text.peek() != '}') {
            const std::size_t at = text.offset();
            const char what = text.peek();
            text.go_to(at + 1);
            if (what == 'T') {
                layout.tiles = read_tiles(text);
            } else if (what == 'E' || what == 'S') {
                if (text.take("(")) {
                    (what == 'E' ? layout.element_bits : layout.memory_space) =
                        small_number(text, what == 'E' ? 1 : 0);
                    text.expect(")");
                } else if (text.word(); text.peek() == '(') {
                    text.take("(");
                    text.balanced(")");
                    text.expect(")");
                }
            } else {
                text.word();
                if (text.take("(")) {
                    text.balanced(")");
                    text.expect(")");
                } else if (text.offset() == at) {
                    throw text.error("expected a layout");
                }
            }
            if (text.at_end()) {
                throw text.error("a layout is not closed");
            }
        }
    }
    text.expect("}");
    return layout;
}

Shape read_tuple(Text& text, int depth, std::size_t& parts);

constexpr int kMostDepth = 64;

Shape read_shape_at(Text& text, int depth, std::size_t& parts) {
    if (depth > kMostDepth) {
        throw text.error("tuples within tuples, more than 64 deep");
    }
    if (text.peek() == '(') {
        return read_tuple(text, depth, parts);
    }
    const std::size_t before = text.offset();
    Shape shape;
    shape.element = std::string(text.word());
    if (shape.element == "b" && text.peek() == '(') {
        text.expect("(");
        shape = read_shape_at(text, depth + 1, parts);
        text.expect(")");
        return shape;
    }
    if (std::ranges::find(kElements, shape.element, [](const auto& row) { return row.first; }) ==
        kElements.end()) {
        text.go_to(before);
        throw text.error(fmt::format("unknown element type '{}'", shape.element));
    }
    if (shape.element == "token" || shape.element == "opaque") {
        shape.kind = Shape::Kind::token;
    }
    text.expect("[");
    while (!text.take("]")) {
        if (text.take("?")) {
            throw text.error("a dimension of unknown length");
        }
        text.take("<=");
        shape.dims.push_back(text.number());
        if (shape.dims.back() < 0) {
            throw text.error("a dimension below 0");
        }
        text.take(",");
    }
    if (text.here() == '{') {  // behind a blank, a brace opens a computation
        shape.layout = read_layout(text);
        if (!shape.layout.minor_to_major.empty()) {
            std::vector<int> sorted = shape.layout.minor_to_major;
            std::ranges::sort(sorted);
            for (std::size_t i = 0; i < sorted.size(); ++i) {
                if (sorted.size() != shape.dims.size() || sorted[i] != static_cast<int>(i)) {
                    throw text.error("the layout does not fit the dimensions");
                }
            }
        }
    }
    if (!measure(shape)) {
        text.go_to(before);
        throw text.error("an array of 2^63 bytes or more");
    }
    return shape;
}

Shape read_tuple(Text& text, int depth, std::size_t& parts) {
    Shape shape;
    shape.kind = Shape::Kind::tuple;
    text.expect("(");
    while (!text.take(")")) {
        if (++parts > kMostParts) {
            throw text.error(fmt::format("a shape of more than {} parts", kMostParts));
        }
        shape.parts.push_back(read_shape_at(text, depth + 1, parts));
        add(shape.sums, shape.parts.back().sums);
        if (!text.take(",") && text.peek() != ')') {
            text.expect(")");
        }
    }
    return shape;
}

}  // namespace

int element_bits(const std::string& element) {
    const auto found =
        std::ranges::find(kElements, element, [](const auto& row) { return row.first; });
    return found == kElements.end() ? 0 : found->second;
}

bool is_floating(const std::string& element) {
    return element.starts_with("f") || element.starts_with("bf");
}

std::vector<const Shape*> arrays_of(const Shape& shape) {
    if (shape.kind == Shape::Kind::array) {
        return {&shape};
    }
    std::vector<const Shape*> all;
    for (const Shape& part : shape.parts) {
        for (const Shape* const array : arrays_of(part)) {
            all.push_back(array);
        }
    }
    return all;
}

Shape read_shape(Text& text) {
    std::size_t parts = 0;
    return read_shape_at(text, 0, parts);
}

}  // namespace podsim::workloads::hlo
