// The element types of a matmul's operands, by name.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace podsim::workloads {

/// The element type of a matmul's operands: it decides the chip's peak rate for the matmul.
enum class MatmulDtype { bf16, int8, fp8 };

/// The names that scenarios and reports use, in the order of the enumeration.
inline constexpr std::array<std::pair<std::string_view, MatmulDtype>, 3> kMatmulDtypes{
    {{"bf16", MatmulDtype::bf16}, {"int8", MatmulDtype::int8}, {"fp8", MatmulDtype::fp8}}};

constexpr std::string_view to_string(MatmulDtype dtype) {
    return kMatmulDtypes[static_cast<std::size_t>(dtype)].first;
}

}  // namespace podsim::workloads
