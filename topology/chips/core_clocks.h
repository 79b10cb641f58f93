// Clocks of a chip's cores, by the P-state that XLA's flag xla_tpu_dvfs_p_state selects on chips
// with such states.
//
// The profile `measured` holds for the default state, the state of runs that do not name another;
// `hardware.core_clock` is a factor on it. The published peak of tpu7x is that of state 7: 2 cores
// x 2 MXUs x 256 x 256 x 2 rows a cycle x 2 x 2.2 GHz = 2.307e15 FLOP/s.
// Source: openxla/xla @acb91cb, xla/benchmarks/core/platform_info.py (added 2026-08-12),
// clock_speed_ghz_by_p_state.
#pragma once

#include <cstddef>
#include <optional>

#include "topology/chips/chip.h"

namespace podsim::topology {

/// True if the chip has P-states.
inline bool has_states(const ChipSpec& chip) {
    return chip.clock_ghz.value.size() > 1;
}

/// Returns the clock in the default state of a chip whose clock was published.
inline double usual_ghz(const ChipSpec& chip) {
    return chip.clock_ghz.value.at(static_cast<std::size_t>(chip.usual_state.value));
}

/// Returns the speed of a chip's cores in a state relative to the default state, to three decimals;
/// nullopt if it has no such state.
///
/// It is the ratio of the clocks, except for state 7 of tpu7x: there 1.125 was measured instead of
/// 1.158. A step that computes all the time took 21.18 s in state 3 and 18.82 s in state 7, so the
/// chip sustains less than its clock suggests. A step of 295B on 64 chips, of which 16.8 s scale
/// with the clock, took 23.539, 22.438 and 21.670 s in states 3, 5 and 7.
/// Source: yangwhale/gpu-tpu-pedia @3fa9ce1, tpu/Hunyuan3-295B-Pretraining/EXPERIMENT-LOG.md,
/// "DVFS".
std::optional<double> pace_in_state(const ChipSpec& chip, int state);

}  // namespace podsim::topology
