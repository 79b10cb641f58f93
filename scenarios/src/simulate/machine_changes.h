// Catalogue of changes to a step's machine that podsim simulates, for the gap, the ceilings, order
// noise and sensitivity.
//
// A row is one resource or one shortfall of the machine. Each function asks another question:
//   shortfalls()       removable differences between the machine and an ideal one
//   ceilings()         a resource takes no time at all                   `podsim run --what-if`
//   paced(longer)      a resource takes `longer` times as long: the order noise, and the savings of
//                      faster hardware
//   within_band(...)   a factor of the profile is off by its error band: the stability of a
//                      search's best plans
// A change is a name, a meaning for people, and an edit of the scenario's hardware;
// simulate/try_changes.h runs them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/src/scenario/hardware.h"

namespace podsim::scenarios {

struct MachineChange {
    std::string name;  ///< `ici=inf`, `10 % faster ICI`, `ici - 6 %`
    /// Text such as `no operation waits for HBM`; empty if the name says it.
    std::string meaning{};
    std::string_view what{};  ///< the resource: `ICI`
    /// The class of links that the change concerns, as in LinkUse; empty if none. The change has no
    /// effect on a step that does not use such links.
    std::string_view links{};
    std::function<void(IdealHardware&)> apply;
};

/// A removable difference between the machine and an ideal one.
struct Shortfall {
    const char* name;
    /// False if removing it cannot change a time.
    bool (*present)(const IdealHardware&);
    void (*remove)(IdealHardware&);
    /// True if the links themselves change, so that a step is lowered anew. Otherwise its
    /// operations take other times on the same links.
    bool lowers_anew = false;
    /// True if links lose their latency. Collectives keep their algorithms, so this edits the
    /// lowered step.
    bool latency = false;
    /// The shortfall with which it merges if too many are present; nullptr if it never merges.
    const char* joins = nullptr;
};

/// Returns perturbations, stragglers, kernels, links, launch, the host between steps, latency and
/// shared HBM, in the order of reports.
std::span<const Shortfall> shortfalls();

/// Returns changes after which a resource takes no time.
std::vector<MachineChange> ceilings();

/// Returns changes after which a resource takes `longer` times as long: 1.01 is 1 % slower, 1 / 1.1
/// is 10 % faster.
std::vector<MachineChange> paced(double longer);

/// Returns changes of each factor of the profile, lower and higher by the fraction `band` and none
/// above 1, and half and twice the latency and launch.
std::vector<MachineChange> within_band(const Hardware& hardware, double band);

}  // namespace podsim::scenarios
