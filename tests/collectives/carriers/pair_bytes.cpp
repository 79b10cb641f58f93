#include "tests/collectives/carriers/pair_bytes.h"

#include <gtest/gtest.h>
#include <optional>
#include <vector>

#include "collectives/paths/group_graph.h"

namespace podsim::collectives {
namespace {

/// Adds up the bytes that arrive, by source and destination.
class PairBytes : public sim::Observer {
public:
    PairBytes(const topology::Lattice& slice, const CollectiveSchedule& built)
        : places_(static_cast<std::size_t>(slice.size())),
          schedule_(built.schedule),
          bytes_(places_ * places_) {}

    void transfer_arrived(sim::OperationId /*op*/, sim::PlaceId source, sim::PlaceId destination,
                          std::uint32_t transfer, sim::Time /*now*/) override {
        bytes_[source.index() * places_ + destination.index()] +=
            schedule_.transfers[transfer].bytes.value();
    }

    [[nodiscard]] double between(std::size_t source, std::size_t destination) const {
        return bytes_[source * places_ + destination];
    }

private:
    std::size_t places_;
    const sim::Schedule& schedule_;
    std::vector<double> bytes_;
};

/// Returns the member of the chip's group at coordinate 0 of every factor.
int first_of_group(const Case& c, int chip) {
    topology::Point p = c.slice.point(chip);
    for (const topology::AxisFactor& f : c.group) {
        const int digit = p[static_cast<std::size_t>(f.axis)] / f.stride % f.length;
        p = p - topology::along(f.axis, digit * f.stride);
    }
    return c.slice.index(p);
}

}  // namespace

void expect_pairs_exchange(const Case& c) {
    std::optional<PairBytes> pairs;
    run_on(c.slice, c, [&](const CollectiveSchedule& built, sim::Workload&) {
        return &pairs.emplace(c.slice, built);
    });
    const int members = group_size(c.group);
    const double each = c.v.value() / members / members;
    const GroupGraph group_of(c.slice, c.group);
    const auto load = [&](int source, int destination) {
        const int member =
            group_of.member_of(c.slice.point(c.ends.returning ? source : destination));
        return c.ends.loads.empty() ? 1 : c.ends.loads[static_cast<std::size_t>(member)];
    };
    for (int source = 0; source < c.slice.size(); ++source) {
        const int group = first_of_group(c, source);
        for (int destination = 0; destination < c.slice.size(); ++destination) {
            const bool pair = source != destination && group == first_of_group(c, destination);
            const double bytes = pairs->between(static_cast<std::size_t>(source),
                                                static_cast<std::size_t>(destination));
            ASSERT_NEAR(bytes, pair ? each * load(source, destination) : 0, 1e-9 * each)
                << source << " to " << destination << " in " << describe(c);
        }
    }
}

}  // namespace podsim::collectives
