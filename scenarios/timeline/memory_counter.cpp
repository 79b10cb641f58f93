#include "scenarios/timeline/memory_counter.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "scenarios/explain/memory.h"
#include "workloads/program/memory_peak.h"

namespace podsim::scenarios {
namespace {

using Held = std::array<double, workloads::kMemoryClasses.size()>;

struct Level {
    sim::Time at;
    Held held{};
};

/// After all that changes at an instant. Bytes of a class come back to 0 when all of it is freed, whatever was added up.
std::vector<Level> levels_of(const std::vector<MemoryChange>& changes) {
    std::vector<Level> levels{{}};
    std::array<std::int64_t, workloads::kMemoryClasses.size()> buffers{};
    for (const MemoryChange& change : changes) {
        if (change.at != levels.back().at) {
            levels.push_back({change.at, levels.back().held});
        }
        double& held = levels.back().held.at(change.memory_class);
        std::int64_t& count = buffers.at(change.memory_class);
        count += change.bytes < 0 ? -1 : 1;
        held = count == 0 ? 0 : std::max(0.0, held + change.bytes);
    }
    return levels;
}

/// The most of each class in equal parts of the time.
std::vector<Level> most_in_bins(const std::vector<Level>& levels, sim::Time end) {
    const std::int64_t width = std::max<std::int64_t>(1, end.ps / kMemoryBins + 1);
    std::vector<Level> bins;
    Held before{};
    for (const Level& level : levels) {
        const sim::Time start{level.at.ps / width * width};
        if (bins.empty() || bins.back().at != start) {
            if (!bins.empty() && bins.back().at + sim::Time{width} < start) {
                bins.push_back({bins.back().at + sim::Time{width}, before});
            }
            bins.push_back({start, before});
        }
        for (std::size_t i = 0; i < before.size(); ++i) {
            bins.back().held.at(i) = std::max(bins.back().held.at(i), level.held.at(i));
        }
        before = level.held;
    }
    return bins;
}

}  // namespace

void tell_memory(const ChipView& view, TimelineSink& sink) {
    std::vector<Level> levels = levels_of(memory_changes(view.program, view.chip));
    if (!view.whole) {
        levels = most_in_bins(levels, view.trail.run.result.end);
    }
    Counter counter{.name = "HBM memory (bytes)"};
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < workloads::kMemoryClasses.size(); ++i) {
        if (std::ranges::any_of(levels, [&](const Level& level) { return level.held.at(i) > 0; })) {
            used.push_back(i);
            counter.series.emplace_back(workloads::to_string(workloads::kMemoryClasses.at(i)));
        }
    }
    if (used.empty()) {
        return;
    }
    sink.counter(counter);
    for (const Level& level : levels) {
        Sample sample{.at = level.at};
        for (const std::size_t i : used) {
            sample.values.push_back(std::round(level.held.at(i)));
        }
        sink.sample(sample);
    }
}

}  // namespace podsim::scenarios
