// The slice with the use of each of its links, for the page that draws it.
#pragma once

#include "scenarios/run/step_trail.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

/// Slices of more chips are not drawn.
inline constexpr int kMostChipsDrawn = 40'000;

/// `shape`, `wraps`, `twisted`; `place_of_chip`: by chip (z fastest) the place that stands for it; `links`: of every place how long
/// its six links (x up, x down, y up, ...) are held, as shares of the run (`busy`), and what they carry (`bytes`); null
/// where there is none. Of several slices the first. Null of a larger slice than is drawn.
Json torus_json(const Scenario& scenario, const StepTrail& trail);

}  // namespace podsim::scenarios
