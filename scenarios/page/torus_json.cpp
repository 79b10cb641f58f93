#include "scenarios/page/torus_json.h"

#include <optional>

#include "collectives/paths/ports.h"
#include "scenarios/spec/training_step.h"

namespace podsim::scenarios {
namespace {

constexpr int kDirections[] = {1, -1};

/// `simulated`: where what is called x, y and z lies in the run.
Json links_of_place(const Hardware& hardware, const topology::AxisExchange& simulated,
                    const StepTrail& trail, int place) {
    const Layout& layout = trail.step.layout;
    const sim::ExecutionResult& result = trail.run.result;
    const std::size_t ports = result.links.size() / layout.simulated();
    Json busy = Json::array();
    Json bytes = Json::array();
    for (const std::size_t lies : simulated.to) {
        const int axis = static_cast<int>(lies);
        for (const int direction : kDirections) {
            const int length = hardware.slice.length(axis);
            const int at = layout.folded.point(place)[static_cast<std::size_t>(axis)];
            const bool edge = !hardware.slice.wraps(axis) && at == (direction > 0 ? length - 1 : 0);
            if (length == 1 || edge) {
                busy.push_back(nullptr);
                bytes.push_back(nullptr);
                continue;
            }
            const sim::LinkTotals& link =
                result.links[layout.link_of(place, collectives::port_of(axis, direction), ports)];
            busy.push_back(link.busy.seconds() / result.end.seconds());
            bytes.push_back(link.carried().value());
        }
    }
    return {{"busy", std::move(busy)}, {"bytes", std::move(bytes)}};
}

}  // namespace

Json torus_json(const Scenario& scenario, const StepTrail& trail) {
    const topology::AxisExchange simulated = scenario.step().mesh.written().inverse();
    const topology::Lattice& slice = scenario.hardware.slice;
    const topology::Places& folded = trail.step.layout.folded;
    if (slice.size() > kMostChipsDrawn || trail.run.result.end.ps == 0) {
        return nullptr;
    }
    Json place_of_chip = Json::array();
    for (int chip = 0; chip < slice.size(); ++chip) {
        place_of_chip.push_back(
            folded.chips.index(*folded.chips.canonical(simulated.of(slice.point(chip)))));
    }
    Json links = Json::array();
    for (int place = 0; place < folded.chips.size(); ++place) {
        links.push_back(links_of_place(scenario.hardware, simulated, trail, place));
    }
    return {{"shape", slice.lengths},
            {"wraps", slice.wrapped},
            {"twisted", slice.twisted()},
            {"place_of_chip", std::move(place_of_chip)},
            {"links", std::move(links)}};
}

}  // namespace podsim::scenarios
