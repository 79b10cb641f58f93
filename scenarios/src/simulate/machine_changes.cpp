#include "scenarios/src/simulate/machine_changes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace podsim::scenarios {
namespace {

using topology::ChipSpec;
using topology::Efficiency;

/// A resource of the machine, and the edit with which it takes `longer` times as long; 0: no time.
struct Resource {
    const char* name;
    const char* links;  ///< MachineChange::links
    /// Name of its ceiling, at which it takes no time; empty if it has none.
    const char* ceiling;
    const char* meaning;  ///< meaning of the ceiling
    bool paced;           ///< true if it is one of paced()
    void (*take)(ChipSpec&, double longer);
};

template <class... Rates>
void divide(double by, Rates&... rates) {
    ((rates.value = by == 0 ? decltype(rates.value)::infinity() : rates.value / by), ...);
}

constexpr Resource kResources[] = {
    {"compute", "", "", "", true,
     [](ChipSpec& chip, double longer) {
         divide(longer, chip.bf16_flops, chip.int8_ops, chip.fp8_flops, chip.vpu_flops);
     }},
    {"ICI", "ici", "ici=inf",
     "links between chips, and the HBM at their ends, take no time but latency", true,
     [](ChipSpec& chip, double longer) {
         divide(longer, chip.ici_one_way_book, chip.ici_one_way_vendor);
     }},
    {"DCN", "dcn", "dcn=inf",
     "the data-centre network, and the HBM at its ends, take no time but latency", true,
     [](ChipSpec& chip, double longer) { divide(longer, chip.dcn_per_host); }},
    {"PCIe", "pcie", "pcie=inf", "PCIe, and the HBM at its ends, take no time but latency", true,
     [](ChipSpec& chip, double longer) { divide(longer, chip.pcie_one_way); }},
    {"HBM", "", "hbm=inf", "no operation waits for HBM", true,
     [](ChipSpec& chip, double longer) { divide(longer, chip.hbm_bandwidth); }},
    {"MXU", "", "mxu=inf", "matmuls take no time but HBM's", false,
     [](ChipSpec& chip, double longer) {
         divide(longer, chip.bf16_flops, chip.int8_ops, chip.fp8_flops);
     }},
    {"latency", "", "latency=0", "no link has latency; collectives choose their algorithms anew",
     true,
     [](ChipSpec& chip, double longer) {
         for (auto* latency : {&chip.ici_latency, &chip.pcie_latency, &chip.dcn_latency}) {
             latency->value = latency->value * longer;
         }
     }},
};

MachineChange change_of(const Resource& resource, double longer, std::string name,
                        std::string meaning = {}) {
    return {.name = std::move(name),
            .meaning = std::move(meaning),
            .what = resource.name,
            .links = resource.links,
            .apply = [take = resource.take, longer](IdealHardware& hardware) {
                take(hardware.chip, longer);
            }};
}

constexpr double Efficiency::*kKernelShares[] = {
    &Efficiency::mxu, &Efficiency::mxu_8bit, &Efficiency::attention, &Efficiency::vpu,
    &Efficiency::hbm, &Efficiency::fusion,   &Efficiency::gather};
constexpr double Efficiency::*kKernelCosts[] = {&Efficiency::mxu_ramp, &Efficiency::mxu_grouped,
                                                &Efficiency::grid_step_s,
                                                &Efficiency::attention_backward};

bool any(const Efficiency& efficiency, std::span<double Efficiency::*const> factors,
         double without) {
    return std::ranges::any_of(factors, [&](auto factor) { return efficiency.*factor != without; });
}

constexpr Shortfall kShortfalls[] = {
    {.name = "perturbations",
     .present = [](const IdealHardware& h) { return !h.perturbations.empty(); },
     .remove = [](IdealHardware& h) { h.perturbations.clear(); },
     .lowers_anew = true},
    {.name = "stragglers",
     .present = [](const IdealHardware& h) { return h.efficiency.straggler != 0 && h.slices > 1; },
     .remove = [](IdealHardware& h) { h.efficiency.straggler = 0; },
     .joins = "perturbations"},
    {.name = "kernels below peak",
     .present =
         [](const IdealHardware& h) {
             return h.core_clock != 1 || any(h.efficiency, kKernelShares, 1) ||
                    any(h.efficiency, kKernelCosts, 0);
         },
     .remove =
         [](IdealHardware& h) {
             for (const auto share : kKernelShares) {
                 h.efficiency.*share = 1;
             }
             for (const auto cost : kKernelCosts) {
                 h.efficiency.*cost = 0;
             }
             h.core_clock = 1;
         }},
    {.name = "links below their rate",
     .present =
         [](const IdealHardware& h) { return h.efficiency.ici != 1 || h.efficiency.dcn != 1; },
     .remove = [](IdealHardware& h) { h.efficiency.ici = h.efficiency.dcn = 1; },
     .lowers_anew = true},
    {.name = "launch",
     .present =
         [](const IdealHardware& h) {
             return h.efficiency.launch_s != 0 || h.efficiency.kernel_s != 0 ||
                    h.efficiency.sequence_s != 0 || h.chip.collective_launch.value.value() != 0;
         },
     .remove =
         [](IdealHardware& h) {
             h.efficiency.launch_s = h.efficiency.kernel_s = h.efficiency.sequence_s = 0;
             h.chip.collective_launch.value = sim::Seconds(0);
         }},
    {.name = "host between steps",
     .present = [](const IdealHardware& h) { return h.efficiency.host_s != 0; },
     .remove = [](IdealHardware& h) { h.efficiency.host_s = 0; },
     .joins = "launch"},
    {.name = "latency",
     .present =
         [](const IdealHardware& h) {
             return h.chip.ici_latency.value.value() != 0 ||
                    h.chip.pcie_latency.value.value() != 0 || h.chip.dcn_latency.value.value() != 0;
         },
     .remove = [](IdealHardware& /*unchanged*/) {},
     .latency = true},
    {.name = "HBM shared with collectives",
     .present = [](const IdealHardware& h) { return h.hbm == HbmRule::shared; },
     .remove = [](IdealHardware& h) { h.hbm = HbmRule::separate; }},
};

MachineChange of_factor(const char* name, double Efficiency::*factor, double times) {
    return {.name = fmt::format("{} {} {:.0f} %", name, times < 1 ? '-' : '+',
                                100 * std::abs(1 - times)),
            .apply = [=](IdealHardware& hardware) {
                double& value = hardware.efficiency.*factor;
                value = std::min(1.0, value * times);
            }};
}

MachineChange of_latency(double times) {
    const auto* const latency =
        std::ranges::find(kResources, std::string_view("latency"),
                          [](const Resource& r) { return std::string_view(r.name); });
    return change_of(*latency, times, fmt::format("latency x {}", times));
}

MachineChange of_launch(double times) {
    return {.name = fmt::format("launch x {}", times), .apply = [=](IdealHardware& hardware) {
                hardware.efficiency.launch_s *= times;
                hardware.chip.collective_launch.value =
                    hardware.chip.collective_launch.value * times;
            }};
}

}  // namespace

std::span<const Shortfall> shortfalls() {
    return kShortfalls;
}

std::vector<MachineChange> ceilings() {
    std::vector<MachineChange> changes;
    for (const Resource& resource : kResources) {
        if (*resource.ceiling != '\0') {
            changes.push_back(change_of(resource, 0, resource.ceiling, resource.meaning));
        }
    }
    return changes;
}

std::vector<MachineChange> paced(double longer) {
    const std::string pace = longer < 1 ? fmt::format("{:.0f} % faster", 100 * (1 / longer - 1))
                                        : fmt::format("{:.0f} % slower", 100 * (longer - 1));
    std::vector<MachineChange> changes;
    for (const Resource& resource : kResources) {
        if (resource.paced) {
            changes.push_back(
                change_of(resource, longer, fmt::format("{} {}", pace, resource.name)));
        }
    }
    return changes;
}

std::vector<MachineChange> within_band(const Hardware& hardware, double band) {
    std::vector<MachineChange> changes;
    for (const double times : {1 - band, 1 + band}) {
        changes.push_back(of_factor("mxu", &Efficiency::mxu, times));
        changes.push_back(of_factor("attention", &Efficiency::attention, times));
        changes.push_back(of_factor("hbm", &Efficiency::hbm, times));
        changes.push_back(of_factor("ici", &Efficiency::ici, times));
        if (hardware.slices > 1) {
            changes.push_back(of_factor("dcn", &Efficiency::dcn, times));
        }
    }
    for (const double times : {0.5, 2.0}) {
        changes.push_back(of_latency(times));
        changes.push_back(of_launch(times));
    }
    return changes;
}

}  // namespace podsim::scenarios
