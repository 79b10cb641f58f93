// A tensor that operations pass on: the operations that make it, and the buffer that holds it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// A buffer whose end may be set later; kNoBuffer if nothing is held.
using BufferId = std::uint32_t;
inline constexpr BufferId kNoBuffer = 0xffffffff;

/// Operations that together make the data that is read: all of them must have ended. Empty: it is
/// there from the step's start.
using Sources = std::vector<OpIndex>;

/// Sorts operations and removes duplicates.
inline void sort_once(Sources& ops) {
    std::ranges::sort(ops);
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
}

struct Tensor {
    OpIndex from = kWholeStep;     ///< the first operation that writes it: it is held from then on
    OpIndex through = kWholeStep;  ///< the last operation of the chip's order that writes it
    Sources made_by{};
    BufferId buffer = kNoBuffer;

    [[nodiscard]] bool kept() const { return buffer != kNoBuffer; }
};

/// Returns the operations that make several tensors.
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
