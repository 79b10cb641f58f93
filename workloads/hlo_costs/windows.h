// Windows of convolutions, and how often they meet an input.
//
// Position w of the window at output o stands at input position p = o stride + w rhs_dilate - pad_low of an input that is spread by
// lhs_dilate: it meets element p / lhs_dilate where p is a multiple and the element is there. Without lhs_dilate the pairs (o, w) that meet
// one are the points of a strip of a lattice in a box, which a Euclidean sum counts; with it, a row or a column of the box is
// an arithmetic progression.
// Source: openxla/xla, xla/service/hlo_cost_analysis.cc (HandleConvolutionWithWindow), which goes through all pairs.
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

/// The first `count` dimensions of `window={size=3x1 pad=1_1x0_0}`. Throws sim::InputError for what are no whole numbers.
std::vector<Window> windows_of(const Module& module, const Instruction& at, std::size_t count);

/// Throws sim::InputError for a window that no convolution has, and for lengths from 2^31 on.
void check(const Module& module, const Instruction& at, const Window& window, std::int64_t input,
           std::int64_t output);

/// Pairs of an output position and a window position that meet an input.
double meetings(const Window& window, std::int64_t input, std::int64_t output);
/// How many steps that takes.
double meeting_steps(const Window& window, std::int64_t output);

}  // namespace podsim::workloads::hlo
