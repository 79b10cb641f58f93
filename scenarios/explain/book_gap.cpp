#include "scenarios/explain/book_gap.h"

#include "collectives/catalogue/bounds.h"
#include "scenarios/lower/build_machine.h"

namespace podsim::scenarios {

std::vector<Share> book_to_bound(const IdealHardware& hardware, const StageCollective& stage,
                                 sim::Seconds book, sim::Seconds lower) {
    const sim::Seconds of_bytes = collectives::book_time(
        stage.call(hardware.slice), hardware.chip.ici_one_way(hardware.ici_rates), {},
        slice_links(hardware));
    const sim::Time bytes = sim::round_down(of_bytes);
    return {{"text's latency", bytes - sim::round_down(book)},
            {"(n-1)/n", sim::round_down(lower) - bytes}};
}

}  // namespace podsim::scenarios
