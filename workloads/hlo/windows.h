// Windows of convolutions, and the number of their positions that meet an input element.
//
// At output o, window position w is at input position p = o stride + w rhs_dilate - pad_low of an
// input that is spread by lhs_dilate. It meets element p / lhs_dilate if p is a multiple of
// lhs_dilate and the element exists. Without lhs_dilate, the pairs (o, w) that meet an element are
// the lattice points of a strip in a box; a Euclidean sum counts them. With lhs_dilate, those of a
// row or column of the box are an arithmetic progression.
// Source: openxla/xla, xla/service/hlo_cost_analysis.cc (HandleConvolutionWithWindow), which
// enumerates all pairs.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

/// One spatial dimension.
struct Window {
    std::int64_t size = 1;
    std::int64_t stride = 1;
    std::int64_t pad_low = 0;
    std::int64_t lhs_dilate = 1;
    std::int64_t rhs_dilate = 1;
};

/// Reads the `count` dimensions of `window={size=3x1 pad=1_1x0_0}`. Throws sim::InputError if a
/// number is not whole, if there is another number of them, and for unknown keys.
std::vector<Window> windows_of(const Module& module, const Instruction& at, std::size_t count);

/// Throws sim::InputError for a window that no convolution has, and for lengths of 2^31 or more.
void check(const Module& module, const Instruction& at, const Window& window, std::int64_t input,
           std::int64_t output);

/// Returns the number of pairs of output and window position that meet an input element.
double meetings(const Window& window, std::int64_t input, std::int64_t output);
/// Returns the steps (Budget) that meetings() takes.
double meeting_steps(const Window& window, std::int64_t output);

}  // namespace podsim::workloads::hlo
