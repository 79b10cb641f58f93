// A tensor as operations hand it on: which operations make it, and the buffer that holds it.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// A buffer whose end may be set later; kNoBuffer where nothing is held.
using BufferId = std::uint32_t;
inline constexpr BufferId kNoBuffer = 0xffffffff;

/// Operations that together make what is read: all of them must have ended. Empty: it is there from the step's start.
using Sources = std::vector<OpIndex>;

struct Tensor {
    OpIndex from = kWholeStep;     ///< the first operation that writes it: it is held from then on
    OpIndex through = kWholeStep;  ///< the last operation of the chip's order that writes it
    Sources made_by{};
    BufferId buffer = kNoBuffer;

    [[nodiscard]] bool kept() const { return buffer != kNoBuffer; }
};

/// What makes all of several tensors.
template <class... Tensors>
Sources made_by(const Tensors&... tensors) {
    Sources all;
    (all.insert(all.end(), tensors.made_by.begin(), tensors.made_by.end()), ...);
    return all;
}

inline Sources operator+(Sources one, const Sources& other) {
    one.insert(one.end(), other.begin(), other.end());
    return one;
}

}  // namespace podsim::workloads
