// A step or a program as a page.
#pragma once

#include <cstddef>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/report/page.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/scenario/yaml_tree.h"
#include "scenarios/src/simulate/simulate.h"
#include "scenarios/src/simulate/step_result.h"
#include "scenarios/src/simulate/step_trail.h"

namespace podsim::scenarios {

/// Returns data of the reported chip, at the rates of the catalogue:
///   `operations`  by name, pass and amount of work: `count`, `flops`, `vector_flops` and
///                 `hbm_bytes` of one, and the mean time of one (`time_s`)
///   `flops`       of all of them
///   `peaks`       of the MXU for each dtype in use, and of the VPU, in FLOP/s
///   `rates`       of HBM, all ICI links that leave a chip, PCIe, and the chip's fraction of its
///                 host's DCN (if any), in B/s
///   `moved`       bytes that a chip moves over each of these
Json roofline_json(const Scenario& scenario, const StepResult& result, const StepTrail& trail);

/// Larger slices are not drawn.
inline constexpr int kMostChipsDrawn = 40'000;

/// Returns `shape`, `wraps`, `twisted`, `place_of_chip` and `links`. `place_of_chip` has, by chip
/// (z fastest), the simulated chip that stands for it. `links` has, for every simulated chip, how
/// long its six links (x up, x down, y up, ...) are held as fractions of the run (`busy`), and
/// their `bytes`; null if there is no link. Several slices are represented by the first. Null for a
/// slice too large to draw.
Json torus_json(const Scenario& scenario, const StepTrail& trail);

/// Number of timeline slices that a page holds if they fit.
inline constexpr std::size_t kMostSlicesShown = 60'000;

/// `json` is the document of --json. `tree` is the scenario's YAML with all settings, for the
/// sources of inputs. The result was made with StepOptions::keep_trail. The page has at most `most`
/// slices of the timeline.
Page step_page(const Scenario& scenario, const StepResult& result, const Json& json,
               const YamlNode& tree, std::size_t most);

Page program_page(const Scenario& scenario, const Json& json);

}  // namespace podsim::scenarios
