#include "scenarios/src/scenario/program.h"

namespace podsim::scenarios {

bool is_one_collective(const Program& program) {
    return program.pieces == 1 && program.stages.size() == 1 &&
           std::holds_alternative<StageCollective>(program.stages[0].work);
}

}  // namespace podsim::scenarios
