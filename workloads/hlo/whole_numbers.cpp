#include "workloads/hlo/whole_numbers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace podsim::workloads::hlo {
namespace {

/// Every whole number up to 2 to this power is one of the type.
constexpr std::array<std::pair<std::string_view, int>, 4> kExactBits{
    {{"bf16", 8}, {"f16", 11}, {"f32", 24}, {"f64", 53}}};

constexpr int kWordBits = 64;

}  // namespace

bool NumberRange::can_be_written(Wide value) const {
    const Wide word = Wide{1} << kWordBits;
    return holds(value) || (most == word - 1 && value < 0 && value >= -(word >> 1));
}

std::optional<Wide> NumberRange::wrapped(Wide value) const {
    if (holds(value)) {
        return value;
    }
    if (!whole) {
        return std::nullopt;
    }
    const Wide count = most - least + 1;
    const Wide above = (value - least) % count;
    return least + (above < 0 ? above + count : above);
}

std::optional<Wide> NumberRange::difference(Wide value) const {
    if (!whole) {
        return holds(value) ? std::optional(value) : std::nullopt;
    }
    const Wide half = (most - least + 1) >> 1;
    return NumberRange{-half, half - 1}.wrapped(value);
}

std::optional<NumberRange> range_of(const Shape& shape) {
    if (shape.kind != Shape::Kind::array) {
        return std::nullopt;
    }
    const std::string_view element = shape.element;
    const auto found =
        std::ranges::find(kExactBits, element, [](const auto& row) { return row.first; });
    if (found != kExactBits.end()) {
        const Wide most = Wide{1} << found->second;
        return NumberRange{-most, most, false};
    }
    const int bits = element_bits(shape.element);
    if (bits == 0 || (!element.starts_with('s') && !element.starts_with('u'))) {
        return std::nullopt;
    }
    const Wide count = Wide{1} << bits;
    return element.starts_with('u') ? NumberRange{0, count - 1}
                                    : NumberRange{-(count >> 1), (count >> 1) - 1};
}

std::optional<Wide> wide_in(std::string_view text) {
    constexpr Wide kBeyondAll = Wide{1} << 100;
    constexpr int kTen = 10;
    const bool below = text.starts_with('-');
    text.remove_prefix(below ? 1 : 0);
    const bool digits = std::ranges::all_of(
        text, [](char each) { return std::isdigit(static_cast<unsigned char>(each)) != 0; });
    if (text.empty() || !digits) {
        return std::nullopt;
    }
    Wide value = 0;
    for (const char digit : text) {
        value = std::min(value * kTen + (digit - '0'), kBeyondAll);
    }
    return below ? -value : value;
}

}  // namespace podsim::workloads::hlo
