#include "workloads/hlo/array_shape.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <string_view>
#include <utility>

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

/// What an element takes in memory; 0 of what has no bytes.
int stored_bits(const Shape& array) {
    if (array.layout.element_bits > 0) {
        return array.layout.element_bits;
    }
    const int bits = hlo::element_bits(array.element);
    return bits > 0 ? std::max(bits, kBitsOfByte) : 0;
}

std::int64_t up_to(std::int64_t length, std::int64_t tile) {
    return tile <= 0 ? length : (length + tile - 1) / tile * tile;
}

/// `T(8,128)(2,1)`: the parts in parentheses.
std::vector<std::vector<std::int64_t>> read_tiles(Text& text) {
    std::vector<std::vector<std::int64_t>> tiles;
    while (text.take("(")) {
        std::vector<std::int64_t>& tile = tiles.emplace_back();
        while (!text.take(")")) {
            // A star joins the dimension with the next one: nothing is padded there.
            tile.push_back(text.take("*") ? 1 : text.number());
            text.take(",");
        }
    }
    return tiles;
}

Layout read_layout(Text& text) {
    Layout layout;
    text.expect("{");
    while (text.peek() != ':' && text.peek() != '}') {
        layout.minor_to_major.push_back(static_cast<int>(text.number()));
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
                        static_cast<int>(text.number());
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

Shape read_tuple(Text& text, int depth);

constexpr int kMostDepth = 64;

Shape read_shape_at(Text& text, int depth) {
    if (depth > kMostDepth) {
        throw text.error("tuples within tuples, more than 64 deep");
    }
    if (text.peek() == '(') {
        return read_tuple(text, depth);
    }
    const std::size_t before = text.offset();
    Shape shape;
    shape.element = std::string(text.word());
    if (shape.element == "b" && text.peek() == '(') {
        text.expect("(");
        shape = read_shape_at(text, depth + 1);
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
    if (text.here() == '{') {  // behind a blank it is a computation's
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
    return shape;
}

Shape read_tuple(Text& text, int depth) {
    Shape shape;
    shape.kind = Shape::Kind::tuple;
    text.expect("(");
    while (!text.take(")")) {
        shape.parts.push_back(read_shape_at(text, depth + 1));
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

double Shape::elements() const {
    double count = 1;
    for (const std::int64_t dim : dims) {
        count *= static_cast<double>(dim);
    }
    return count;
}

sim::Bytes Shape::bytes() const {
    sim::Bytes sum;
    for (const Shape* const array : arrays_of(*this)) {
        sum += sim::Bytes(bits_to_bytes(array->elements(), stored_bits(*array)));
    }
    return sum;
}

sim::Bytes Shape::stored_bytes() const {
    if (kind != Kind::array) {
        sim::Bytes sum;
        for (const Shape& part : parts) {
            sum += part.stored_bytes();
        }
        return sum;
    }
    std::vector<std::int64_t> physical;  // major to minor
    for (std::size_t i = dims.size(); i-- > 0;) {
        const auto minor = layout.minor_to_major.empty()
                               ? dims.size() - 1 - i
                               : static_cast<std::size_t>(layout.minor_to_major[i]);
        physical.push_back(dims[minor]);
    }
    if (!layout.tiles.empty()) {
        const std::vector<std::int64_t>& tile = layout.tiles.front();
        for (std::size_t i = 0; i < std::min(tile.size(), physical.size()); ++i) {
            std::int64_t& length = physical[physical.size() - 1 - i];
            length = up_to(length, tile[tile.size() - 1 - i]);
        }
    }
    double count = 1;
    for (const std::int64_t length : physical) {
        count *= static_cast<double>(length);
    }
    return sim::Bytes(bits_to_bytes(count, stored_bits(*this)));
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
    return read_shape_at(text, 0);
}

}  // namespace podsim::workloads::hlo
