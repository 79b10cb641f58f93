#include "workloads/hlo_costs/matmuls.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "workloads/hlo_costs/matmul_passes.h"

namespace podsim::workloads::hlo {
namespace {

using Dims = std::vector<std::int64_t>;

constexpr int kByteBits = 8;

bool is_whole(const Shape& shape) {
    return (shape.element.starts_with('s') || shape.element.starts_with('u')) &&
           element_bits(shape.element) <= kByteBits;
}

bool is_narrow(const Shape& shape) {
    return is_floating(shape.element) && element_bits(shape.element) < kByteBits;
}

/// Whole numbers of fewer bits go through the array as int8.
MatmulDtype dtype_of(const Shape& left, const Shape& right) {
    if (left.element.starts_with("f8") && right.element.starts_with("f8")) {
        return MatmulDtype::fp8;
    }
    return is_whole(left) && is_whole(right) ? MatmulDtype::int8 : MatmulDtype::bf16;
}

/// All but the shape and what is multiplied.
Matmul kind_of(const Module& module, const Instruction& at, const Shape& left, const Shape& right) {
    MatmulPasses passes = passes_of(module, at, left, right);
    std::string types = left.element;
    if (right.element != left.element) {
        types += " x " + right.element;
    }
    if (!passes.precision.empty()) {
        types += ' ' + passes.precision;
    }
    return {.shape = {},
            .dtype = dtype_of(left, right),
            .passes = passes.passes,
            .types = std::move(types),
            .narrow = is_narrow(left) || is_narrow(right)};
}

double product_of(const Module& module, const Instruction& at, const Shape& shape,
                  const Dims& which) {
    double product = 1;
    for (const std::int64_t dim : which) {
        if (dim < 0 || dim >= static_cast<std::int64_t>(shape.dims.size())) {
            throw module.error(at, "a dimension that its operand does not have");
        }
        product *= static_cast<double>(shape.dims[static_cast<std::size_t>(dim)]);
    }
    return product;
}

Matmul dot(const Module& module, const Instruction& at, const Shape& left, const Shape& right) {
    const Dims contracted = at.numbers("lhs_contracting_dims");
    const double k = product_of(module, at, left, contracted);
    const double batch = product_of(module, at, left, at.numbers("lhs_batch_dims"));
    const double of_right = product_of(module, at, right, at.numbers("rhs_contracting_dims")) *
                            product_of(module, at, right, at.numbers("rhs_batch_dims"));
    const double of_left = k * batch;
    Matmul found = kind_of(module, at, left, right);
    found.shape = {.m = of_left > 0 ? left.elements() / of_left : 0,
                   .k = k,
                   .n = of_right > 0 ? right.elements() / of_right : 0,
                   .count = batch};
    found.multiplications = found.shape.m * found.shape.k * found.shape.n * found.shape.count;
    return found;
}

/// Groups along a dimension of the left operand: rows, the contraction or batches.
Matmul ragged_dot(const Module& module, const Instruction& at, const Shape& left,
                  const Shape& right, const Shape& sizes) {
    const Dims ragged = at.numbers("lhs_ragged_dims");
    if (ragged.size() != 1) {
        throw module.error(at, "a ragged-dot has one ragged dimension");
    }
    product_of(module, at, left, ragged);  // it is one of the operand's
    Matmul found = dot(module, at, left, right);
    MatmulShape& shape = found.shape;
    const double matrices = product_of(module, at, right, at.numbers("rhs_group_dims"));
    shape.n = matrices > 0 ? shape.n / matrices : 0;
    found.multiplications = shape.m * shape.k * shape.n * shape.count;
    const auto is_among = [&](const char* key) {
        return std::ranges::count(at.numbers(key), ragged.front()) > 0;
    };
    if (is_among("lhs_batch_dims")) {
        return found;
    }
    const bool contracted = is_among("lhs_contracting_dims");
    const double of_sizes = sizes.dims.empty() ? 1 : static_cast<double>(sizes.dims.back());
    const double groups = std::max(1.0, contracted ? of_sizes : matrices);
    (contracted ? shape.k : shape.m) /= groups;
    shape.count *= groups;
    return found;
}

/// One spatial dimension of a convolution's window.
struct Window {
    std::int64_t size = 1;
    std::int64_t stride = 1;
    std::int64_t pad_low = 0;
    std::int64_t lhs_dilate = 1;
    std::int64_t rhs_dilate = 1;
};

/// `1x3`, `0_1x2_2` (the first number of each), as far as they go.
Dims numbers_by_dimension(std::string_view written) {
    Dims all;
    while (!written.empty()) {
        std::int64_t value = 0;
        const char* const end = written.data() + written.size();
        const auto [behind, failure] = std::from_chars(written.data(), end, value);
        if (failure != std::errc()) {
            break;
        }
        all.push_back(value);
        const std::size_t next = written.find('x');
        if (next == std::string_view::npos) {
            break;
        }
        written.remove_prefix(next + 1);
    }
    return all;
}

std::vector<Window> windows_of(const Instruction& at, std::size_t count) {
    std::vector<Window> all(count);
    std::string_view window = at.find("window").value_or(std::string_view());
    const auto read = [&](std::string_view key, std::int64_t Window::*member) {
        const std::size_t found = window.find(std::string(key) + "=");
        if (found == std::string_view::npos) {
            return;
        }
        std::string_view rest = window.substr(found + key.size() + 1);
        rest = rest.substr(0, rest.find_first_of(" }"));
        const Dims numbers = numbers_by_dimension(rest);
        for (std::size_t i = 0; i < std::min(numbers.size(), count); ++i) {
            all[i].*member = numbers[i];
        }
    };
    read("size", &Window::size);
    read("stride", &Window::stride);
    read("pad", &Window::pad_low);
    read("lhs_dilate", &Window::lhs_dilate);
    read("rhs_dilate", &Window::rhs_dilate);
    return all;
}

/// More positions are no program's.
constexpr double kMostPositions = 1e8;

void check(const Module& module, const Instruction& at, const Window& window, std::int64_t output) {
    const bool sound =
        window.size >= 1 && window.stride >= 1 && window.lhs_dilate >= 1 && window.rhs_dilate >= 1;
    const double positions = static_cast<double>(output) *
                             (window.lhs_dilate > 1 ? static_cast<double>(window.size) : 1);
    if (!sound || positions > kMostPositions) {
        throw module.error(at, "a window that no convolution has");
    }
}

/// Pairs of an output position and a window position that meet an input.
double meetings(const Window& window, std::int64_t input, std::int64_t output) {
    const std::int64_t last = (input - 1) * window.lhs_dilate;
    double count = 0;
    for (std::int64_t o = 0; o < output; ++o) {
        const std::int64_t base = o * window.stride - window.pad_low;
        if (window.lhs_dilate == 1) {
            // 0 <= base + w d <= last
            const std::int64_t d = window.rhs_dilate;
            const std::int64_t from = base >= 0 ? 0 : (-base + d - 1) / d;
            const std::int64_t to = base > last ? -1 : std::min((last - base) / d, window.size - 1);
            count += static_cast<double>(std::max<std::int64_t>(0, to - from + 1));
            continue;
        }
        for (std::int64_t w = 0; w < window.size; ++w) {
            const std::int64_t position = base + w * window.rhs_dilate;
            count += position >= 0 && position <= last && position % window.lhs_dilate == 0;
        }
    }
    return count;
}

/// Where a letter stands among the dimensions of a label, `b0f`.
std::size_t place_of(const Module& module, const Instruction& at, std::string_view label,
                     char letter, const Shape& shape) {
    const std::size_t place = label.find(letter);
    if (place >= shape.dims.size()) {
        throw module.error(at, "dim_labels that do not fit the operands");
    }
    return place;
}

double group_count(const Instruction& at, std::string_view key) {
    const Dims one = numbers_by_dimension(at.find(key).value_or("1"));
    return one.empty() || one.front() < 1 ? 1 : static_cast<double>(one.front());
}

Matmul convolution(const Module& module, const Instruction& at, const Shape& left,
                   const Shape& right) {
    const std::string_view labels = at.find("dim_labels").value_or(std::string_view());
    const std::size_t under = labels.find('_');
    const std::size_t arrow = labels.find("->");
    if (under == std::string_view::npos || arrow == std::string_view::npos || under > arrow) {
        throw module.error(at, "a convolution without dim_labels");
    }
    const std::string_view lhs = labels.substr(0, under);
    const std::string_view rhs = labels.substr(under + 1, arrow - under - 1);
    const std::string_view out = labels.substr(arrow + 2);
    if (lhs.size() != left.dims.size() || rhs.size() != right.dims.size() ||
        out.size() != at.shape.dims.size()) {
        throw module.error(at, "dim_labels that do not fit the operands");
    }
    const auto length = [&](std::string_view label, char letter, const Shape& shape) {
        return static_cast<double>(shape.dims[place_of(module, at, label, letter, shape)]);
    };
    MatmulShape shape{.m = length(lhs, 'b', left) / group_count(at, "batch_group_count"),
                      .k = length(rhs, 'i', right),
                      .n = length(out, 'f', at.shape)};
    double multiplications = shape.m * shape.k * shape.n;
    const std::vector<Window> windows = windows_of(at, lhs.size() >= 2 ? lhs.size() - 2 : 0);
    for (std::size_t d = 0; d < windows.size(); ++d) {
        const char letter = static_cast<char>('0' + d);
        const auto input = static_cast<std::int64_t>(length(lhs, letter, left));
        const auto output = static_cast<std::int64_t>(length(out, letter, at.shape));
        check(module, at, windows[d], output);
        const double met = meetings(windows[d], input, output);
        multiplications *= met;
        if (output == 1) {
            shape.k *= met;
        } else if (met == static_cast<double>(output) && windows[d].size >= output) {
            shape.count *= met;  // each with weights of its own
        } else {
            shape.m *= static_cast<double>(output);
            shape.k *= met / static_cast<double>(output);
        }
    }
    Matmul found = kind_of(module, at, left, right);
    found.shape = shape;
    found.depthwise = length(rhs, 'i', right) == 1 && group_count(at, "feature_group_count") > 1;
    found.multiplications = multiplications;
    return found;
}

}  // namespace

bool is_matmul(const Instruction& instruction) {
    return instruction.opcode == "dot" || instruction.opcode == "convolution" ||
           instruction.opcode == "ragged-dot" || instruction.opcode == "scaled-dot";
}

Matmul matmul_of(const Module& module, const Computation& computation,
                 const Instruction& instruction) {
    if (instruction.operands.size() < 2) {
        throw module.error(instruction, "a matmul of fewer than two operands");
    }
    const Shape& left = computation.instructions[instruction.operands[0]].shape;
    const Shape& right = computation.instructions[instruction.operands[1]].shape;
    if (instruction.opcode == "convolution") {
        return convolution(module, instruction, left, right);
    }
    if (instruction.opcode == "ragged-dot") {
        if (instruction.operands.size() < 3) {
            throw module.error(instruction, "a ragged-dot without the sizes of its groups");
        }
        const Shape& sizes = computation.instructions[instruction.operands[2]].shape;
        return ragged_dot(module, instruction, left, right, sizes);
    }
    return dot(module, instruction, left, right);
}

}  // namespace podsim::workloads::hlo
