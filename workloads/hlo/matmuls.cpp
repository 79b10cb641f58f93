#include "workloads/hlo/matmuls.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "workloads/hlo/matmul_passes.h"
#include "workloads/hlo/windows.h"

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

/// Whole numbers of fewer bits also go through the array as int8.
MatmulDtype dtype_of(const Shape& left, const Shape& right) {
    if (left.element.starts_with("f8") && right.element.starts_with("f8")) {
        return MatmulDtype::fp8;
    }
    return is_whole(left) && is_whole(right) ? MatmulDtype::int8 : MatmulDtype::bf16;
}

/// Returns a matmul without its shape and its multiplications.
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
    std::vector<bool> taken(shape.dims.size());
    for (const std::int64_t dim : which) {
        if (dim < 0 || dim >= static_cast<std::int64_t>(shape.dims.size())) {
            throw module.error(at, "a dimension that its operand does not have");
        }
        if (taken[static_cast<std::size_t>(dim)]) {
            throw module.error(at, fmt::format("the dimension {} of an operand twice", dim));
        }
        taken[static_cast<std::size_t>(dim)] = true;
        product *= static_cast<double>(shape.dims[static_cast<std::size_t>(dim)]);
    }
    return product;
}

Dims both_of(Dims one, const Dims& other) {
    one.insert(one.end(), other.begin(), other.end());
    return one;
}

/// Dimensions of an operand.
struct Side {
    const Shape& shape;
    const Dims& dims;
};

/// Throws sim::InputError unless both sides have as many dimensions, of the same lengths.
void check_sizes(const Module& module, const Instruction& at, const Side& left, const Side& right,
                 const char* what) {
    const auto length = [](const Shape& shape) {
        return [&shape](std::int64_t dim) { return shape.dims[static_cast<std::size_t>(dim)]; };
    };
    if (!std::ranges::equal(left.dims, right.dims, {}, length(left.shape), length(right.shape))) {
        throw module.error(at, fmt::format("{} dimensions of its operands that differ", what));
    }
}

Matmul dot(const Module& module, const Instruction& at, const Shape& left, const Shape& right) {
    const Dims contracted = module.numbers(at, "lhs_contracting_dims");
    const Dims batches = module.numbers(at, "lhs_batch_dims");
    const Dims right_contracted = module.numbers(at, "rhs_contracting_dims");
    const Dims right_batches = module.numbers(at, "rhs_batch_dims");
    const double k = product_of(module, at, left, contracted);
    const double batch = product_of(module, at, left, batches);
    const double of_left = product_of(module, at, left, both_of(contracted, batches));
    const double of_right = product_of(module, at, right, both_of(right_contracted, right_batches));
    check_sizes(module, at, {left, contracted}, {right, right_contracted}, "contracting");
    check_sizes(module, at, {left, batches}, {right, right_batches}, "batch");
    Matmul found = kind_of(module, at, left, right);
    found.shape = {.m = of_left > 0 ? left.elements() / of_left : 0,
                   .k = k,
                   .n = of_right > 0 ? right.elements() / of_right : 0,
                   .count = batch};
    found.multiplications = found.shape.m * found.shape.k * found.shape.n * found.shape.count;
    return found;
}

/// Reads a ragged-dot whose groups divide a dimension of the left operand: rows, the contraction or
/// batches.
Matmul ragged_dot(const Module& module, const Instruction& at, const Shape& left,
                  const Shape& right, const Shape& sizes) {
    const Dims ragged = module.numbers(at, "lhs_ragged_dims");
    if (ragged.size() != 1) {
        throw module.error(at, "a ragged-dot has one ragged dimension");
    }
    product_of(module, at, left, ragged);  // throws if the operand does not have it
    Matmul found = dot(module, at, left, right);
    MatmulShape& shape = found.shape;
    const double matrices = product_of(module, at, right, module.numbers(at, "rhs_group_dims"));
    shape.n = matrices > 0 ? shape.n / matrices : 0;
    found.multiplications = shape.m * shape.k * shape.n * shape.count;
    const auto is_among = [&](const char* key) {
        return std::ranges::count(module.numbers(at, key), ragged.front()) > 0;
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

/// Returns the index of a letter among the dimensions of a label, `b0f`.
std::size_t place_of(const Module& module, const Instruction& at, std::string_view label,
                     char letter, const Shape& shape) {
    const std::size_t place = label.find(letter);
    if (place >= shape.dims.size()) {
        throw module.error(at, "dim_labels that do not fit the operands");
    }
    return place;
}

/// Throws sim::InputError unless the number of groups divides these lengths.
double group_count(const Module& module, const Instruction& at, std::string_view key,
                   std::initializer_list<std::int64_t> lengths) {
    const std::string_view written = at.find(key).value_or("1");
    std::int64_t count = 0;
    const char* const end = written.data() + written.size();
    const auto [behind, failure] = std::from_chars(written.data(), end, count);
    if (failure != std::errc() || behind != end || count < 1) {
        throw module.error(
            at, fmt::format("{}={:.24}, which is no whole number of at least 1", key, written));
    }
    for (const std::int64_t length : lengths) {
        if (length % count != 0) {
            throw module.error(at, fmt::format("{}={} does not divide {}", key, count, length));
        }
    }
    return static_cast<double>(count);
}

Matmul convolution(const Module& module, const Instruction& at, const Shape& left,
                   const Shape& right, Budget& budget) {
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
        return shape.dims[place_of(module, at, label, letter, shape)];
    };
    MatmulShape shape{.m = static_cast<double>(length(lhs, 'b', left)) /
                           group_count(module, at, "batch_group_count",
                                       {length(lhs, 'b', left), length(rhs, 'o', right)}),
                      .k = static_cast<double>(length(rhs, 'i', right)),
                      .n = static_cast<double>(length(out, 'f', at.shape))};
    const double feature_groups = group_count(module, at, "feature_group_count",
                                              {length(lhs, 'f', left), length(rhs, 'o', right)});
    double multiplications = shape.m * shape.k * shape.n;
    const std::vector<Window> windows =
        windows_of(module, at, lhs.size() >= 2 ? lhs.size() - 2 : 0);
    for (std::size_t d = 0; d < windows.size(); ++d) {
        const char letter = static_cast<char>('0' + d);
        const std::int64_t input = length(lhs, letter, left);
        const std::int64_t output = length(out, letter, at.shape);
        check(module, at, windows[d], input, output);
        budget.spend(at, meeting_steps(windows[d], output));
        const double met = meetings(windows[d], input, output);
        multiplications *= met;
        if (output <= 1) {
            shape.k *= met;
        } else if (met == static_cast<double>(output) && windows[d].size >= output) {
            shape.count *= met;  // each position has its own weights
        } else {
            shape.m *= static_cast<double>(output);
            shape.k *= met / static_cast<double>(output);
        }
    }
    Matmul found = kind_of(module, at, left, right);
    found.shape = shape;
    found.depthwise = length(rhs, 'i', right) == 1 && feature_groups > 1;
    found.multiplications = multiplications;
    return found;
}

}  // namespace

bool is_matmul(const Instruction& instruction) {
    return instruction.opcode == "dot" || instruction.opcode == "convolution" ||
           instruction.opcode == "ragged-dot" || instruction.opcode == "scaled-dot";
}

Matmul matmul_of(const Module& module, const Computation& computation,
                 const Instruction& instruction, Budget& budget) {
    if (instruction.operands.size() < 2) {
        throw module.error(instruction, "a matmul of fewer than two operands");
    }
    const Shape& left = computation.instructions[instruction.operands[0]].shape;
    const Shape& right = computation.instructions[instruction.operands[1]].shape;
    if (instruction.opcode == "convolution") {
        return convolution(module, instruction, left, right, budget);
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
