#include "scenarios/src/simulate/link_use.h"

#include <algorithm>
#include <fmt/format.h>

#include "collectives/paths/ports.h"

namespace podsim::scenarios {
namespace {

/// Sums over the links of one class.
class ClassUse {
public:
    explicit ClassUse(std::string name) { use_.name = std::move(name); }

    void add(const sim::LinkTotals& link) {
        busy_ += link.busy;
        carried_ += link.carried_units;
        most_.busy = std::max(most_.busy, link.busy);
        most_.carried_units = std::max(most_.carried_units, link.carried_units);
    }

    /// Returns the use over this number of links.
    LinkUse over(double links, sim::Time end) {
        if (end.ps > 0) {
            use_.busy_fraction = busy_.seconds() / links / end.seconds();
            use_.busiest_fraction = most_.busy.seconds() / end.seconds();
        }
        use_.bytes = sim::LinkTotals{.busy = {}, .carried_units = carried_}.carried() / links;
        use_.busiest_bytes = most_.carried();
        return use_;
    }

private:
    LinkUse use_;
    sim::Time busy_;
    std::int64_t carried_ = 0;
    sim::LinkTotals most_;
};

bool stands_for_host(const topology::Point& chip, const topology::Point& host_box) {
    for (std::size_t axis = 0; axis < topology::kAxes; ++axis) {
        if (chip[axis] % host_box[axis] != 0) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::vector<LinkUse> link_use(const Hardware& hardware, const Layout& layout,
                              const sim::ExecutionResult& result,
                              const topology::AxisExchange& written) {
    const topology::AxisExchange simulated = written.inverse();
    const std::size_t ports = result.links.size() / layout.simulated();
    const auto link = [&](int representative, std::size_t port) -> const sim::LinkTotals& {
        return result.links[layout.link_of(representative, port, ports)];
    };
    std::vector<LinkUse> uses;
    for (int called = 0; called < topology::kAxes; ++called) {
        const int axis = static_cast<int>(simulated.to[static_cast<std::size_t>(called)]);
        const int length = hardware.slice.length(axis);
        if (length == 1) {
            continue;
        }
        ClassUse use(fmt::format("ici_{}", topology::axis_name(called)));
        for (int place = 0; place < layout.folded.size(); ++place) {
            use.add(link(place, collectives::port_of(axis, 1)));
            use.add(link(place, collectives::port_of(axis, -1)));
        }
        // An unwrapped axis lacks the two links at its ends.
        const double per_line = hardware.slice.wraps(axis) ? 2.0 : 2.0 * (length - 1) / length;
        uses.push_back(use.over(per_line * layout.folded.size(), result.end));
    }
    if (ports == collectives::kAllPorts) {
        ClassUse pcie("pcie");
        ClassUse dcn("dcn");
        int hosts = 0;
        for (int place = 0; place < layout.folded.size(); ++place) {
            pcie.add(link(place, collectives::kPcieToHost));
            pcie.add(link(place, collectives::kPcieToChip));
            if (stands_for_host(layout.folded.point(place), layout.host_box)) {
                dcn.add(link(place, collectives::kDcnOut));
                dcn.add(link(place, collectives::kDcnIn));
                ++hosts;
            }
        }
        uses.push_back(pcie.over(2.0 * layout.folded.size(), result.end));
        if (hardware.slices > 1) {
            uses.push_back(dcn.over(2.0 * hosts, result.end));
        }
    }
    return uses;
}

}  // namespace podsim::scenarios
