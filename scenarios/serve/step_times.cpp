#include "scenarios/serve/step_times.h"

#include "sim/base/random.h"

namespace podsim::scenarios {

std::size_t StepShapeHash::operator()(const StepShape& shape) const {
    std::uint64_t mixed = 0;
    for (const std::int64_t part :
         {shape.decoding, shape.decode_cached, shape.decode_tokens, shape.padding, shape.prefilling,
          shape.prefill_tokens, shape.prefill_cached, shape.finishing}) {
        mixed ^= static_cast<std::uint64_t>(part);
        mixed = sim::next_random(mixed);
    }
    return static_cast<std::size_t>(mixed);
}

sim::Time MemoisedStepTimes::time_of(const StepShape& shape) {
    const auto found = times_.find(shape);
    if (found != times_.end()) {
        return found->second;
    }
    return times_.emplace(shape, exact_.time_of(shape)).first->second;
}

}  // namespace podsim::scenarios
