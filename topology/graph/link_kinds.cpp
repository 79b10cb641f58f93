#include "topology/graph/link_kinds.h"

#include <array>
#include <fmt/format.h>

namespace podsim::topology {

std::string_view to_string(LinkClass link_class) {
    constexpr std::array<std::string_view, kLinkClasses> kNames{"hbm", "ici", "pcie", "dcn"};
    return kNames[static_cast<std::size_t>(link_class)];
}

std::vector<LinkKind> link_kinds() {
    std::vector<LinkKind> kinds(kLinkKinds);
    for (std::uint32_t port = 0; port < kIciPorts; ++port) {
        kinds[port].link_class = LinkClass::ici;
        kinds[port].name =
            fmt::format("{}{}", direction_of(port) > 0 ? '+' : '-', axis_name(axis_of(port)));
    }
    const auto name = [&](std::uint32_t kind, LinkClass link_class, const char* text) {
        kinds[kind].link_class = link_class;
        kinds[kind].name = text;
    };
    name(kPcieToHost, LinkClass::pcie, "to host");
    name(kPcieToChip, LinkClass::pcie, "to chip");
    name(kDcnOut, LinkClass::dcn, "out");
    name(kDcnIn, LinkClass::dcn, "in");
    name(kHbmRead, LinkClass::hbm, "read");
    name(kHbmWrite, LinkClass::hbm, "write");
    return kinds;
}

std::vector<LinkKind> link_kinds(const ChipSpec& chip, IciRates rates, double oversubscription) {
    std::vector<LinkKind> kinds = link_kinds();
    for (std::size_t port = 0; port < kIciPorts; ++port) {
        kinds[port].rate =
            rates == IciRates::book ? chip.ici_one_way_book : chip.ici_one_way_vendor;
        kinds[port].latency = chip.ici_latency;
    }
    for (const std::uint32_t kind : {kPcieToHost, kPcieToChip}) {
        kinds[kind].rate = chip.pcie_one_way;
        kinds[kind].latency = chip.pcie_latency;
    }
    Sourced<sim::BytesPerSecond> dcn = chip.dcn_per_host;
    dcn.value = dcn.value / oversubscription;
    if (oversubscription != 1) {
        dcn.source += fmt::format("; a network oversubscribed {:.4g} times", oversubscription);
    }
    kinds[kDcnOut].rate = dcn;
    kinds[kDcnOut].latency = chip.dcn_latency;
    kinds[kDcnIn].rate = dcn;
    kinds[kDcnIn].latency.source = "by definition: counted on the way out to the network";
    for (const std::uint32_t kind : {kHbmRead, kHbmWrite}) {
        kinds[kind].rate = chip.hbm_bandwidth;
        kinds[kind].rate_is_of_pair = true;
        kinds[kind].latency.source =
            "by definition: in the latency of the link that brings or takes";
    }
    return kinds;
}

}  // namespace podsim::topology
