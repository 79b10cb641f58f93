// A stage of a program that is a kernel of self-attention alone, as a microbenchmark runs it.
#pragma once

#include <string_view>
#include <vector>

#include "scenarios/spec/program.h"
#include "scenarios/yaml/reader.h"

namespace podsim::scenarios {

/// The keys of such a stage, beside `do` and `name`.
const std::vector<std::string_view>& attention_stage_keys();

/// The dot products, softmax and HBM bytes of one layer's attention on every chip (workloads/work/attention_work.h): of so many
/// sequences and heads a chip, forward, or backward with the kernels that `attention_backward` names. No projections.
StageCompute read_attention_stage(const Reader& stage, const Hardware& hardware);

}  // namespace podsim::scenarios
