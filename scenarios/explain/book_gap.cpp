#include "scenarios/explain/book_gap.h"

#include "collectives/catalogue/bounds.h"
#include "scenarios/lower/lowering.h"

namespace podsim::scenarios {
bool is_one_collective(const Program& program) {
    return program.pieces == 1 && program.stages.size() == 1 &&
           std::holds_alternative<StageCollective>(program.stages[0].work);
}

void explain_collective(const Hardware& hardware, const StageCollective& stage, Fold fold,
                        ProgramResult& result) {
    const CollectiveResult alone = simulate_collective({.hardware = hardware,
                                                        .operation = stage.operation,
                                                        .members = stage.members,
                                                        .bytes = stage.bytes,
                                                        .algorithm = stage.algorithm,
                                                        .ends = stage.ends},
                                                       fold);
    result.gap = alone.gap;
    result.book = alone.book;
    const sim::Seconds of_bytes = collectives::book_time(
        stage.operation, hardware.slice, stage.members, stage.bytes,
        hardware.chip.ici_one_way(hardware.ici_rates), {}, slice_links(hardware), stage.ends);
    const sim::Time bytes = sim::round_down(of_bytes);
    result.gap_to_book = {{"text's latency", bytes - sim::round_down(alone.book)},
                          {"(n-1)/n", sim::round_down(result.lower) - bytes}};
    result.gap_to_book.insert(result.gap_to_book.end(), alone.gap.begin(), alone.gap.end());
}

}  // namespace podsim::scenarios
