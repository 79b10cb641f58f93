// Changes of a step's machine that podsim simulates: one catalogue for the gap, the ceilings, order noise and sensitivity.
//
// A row is one resource or one shortfall of the machine. What is asked of it differs:
//   shortfalls()       the ways in which a machine falls short of an ideal one, each of which can be removed
//   ceilings()         a resource takes no time at all                   `podsim run --what-if`
//   paced(longer)      a resource takes `longer` times as long           the order noise, and what faster hardware saves
//   within_band(...)   a factor of the profile is off by its error band  the stability of a search's best plans
// Each is a name, a meaning for people, and an edit of the scenario's hardware; simulate/try_changes.h runs them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/spec/hardware.h"

namespace podsim::scenarios {

struct MachineChange {
    std::string name;         ///< `ici=inf`, `10 % faster ICI`, `ici - 6 %`
    std::string meaning{};    ///< `no operation waits for HBM`; empty where the name says it
    std::string_view what{};  ///< the resource: `ICI`
    /// The class of links that it is about, as LinkUse names them; empty: not about links. It changes nothing of a step
    /// that does not use them.
    std::string_view links{};
    std::function<void(IdealHardware&)> apply;
};

/// A way in which the machine falls short of an ideal one.
struct Shortfall {
    const char* name;
    /// False where removing it cannot change a time.
    bool (*present)(const IdealHardware&);
    void (*remove)(IdealHardware&);
    /// The links themselves change: a step is lowered anew. Else its operations take other times on the same links.
    bool lowers_anew = false;
    /// Links lose their latency. They keep their collectives' algorithms, so this is an edit of the lowered step.
    bool latency = false;
    /// The shortfall that it is one with where too many are present; nullptr: none.
    const char* joins = nullptr;
};

/// Perturbations, stragglers, kernels, links, launch, the host between steps, latency, shared HBM: in the order of reports.
std::span<const Shortfall> shortfalls();

/// Of resources that take no time.
std::vector<MachineChange> ceilings();

/// Each resource takes `longer` times as long: 1.01 is 1 % slower, 1 / 1.1 is 10 % faster.
std::vector<MachineChange> paced(double longer);

/// Each factor of the profile lower and higher by the share `band`, none above 1; latency and launch half and twice.
std::vector<MachineChange> within_band(const Hardware& hardware, double band);

}  // namespace podsim::scenarios
