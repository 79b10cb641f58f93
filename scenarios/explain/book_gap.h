// A program that is one collective, beside the reference text's time of it.
#pragma once

#include "scenarios/spec/program.h"

namespace podsim::scenarios {

/// Fills in `book`, `gap` and `gap_to_book` of a result whose `time` and `lower` are known.
void explain_collective(const Hardware& hardware, const StageCollective& stage, Fold fold,
                        ProgramResult& result);

}  // namespace podsim::scenarios
