// Clocks of a chip's cores, by the P-state that XLA's flag xla_tpu_dvfs_p_state asks for where the chip has such states.
//
// The profile `measured` is that of the default state, in which runs are that do not say another; `hardware.core_clock` is a factor on that.
// The published peak of tpu7x is that of state 7: 2 cores x 2 MXUs x 256 x 256 x 2 rows a cycle x 2 x 2.2 GHz = 2.307e15 FLOP/s.
// Source: openxla/xla @acb91cb, xla/benchmarks/core/platform_info.py (added 2026-08-12), clock_speed_ghz_by_p_state.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace podsim::topology {

struct CoreClocks {
    std::string_view chip;
    std::span<const double> ghz;  ///< by P-state; one value: the chip has no such states
    int usual = 0;                ///< the default state

    [[nodiscard]] bool has_states() const { return ghz.size() > 1; }
    [[nodiscard]] double usual_ghz() const { return ghz[static_cast<std::size_t>(usual)]; }
};

/// Those of a chip; nothing where none were published.
std::optional<CoreClocks> core_clocks(std::string_view chip);

/// How many times as fast as in the default state the cores of a chip are in another, to three decimals; nothing where it has no such state.
/// The ratio of the clocks, but for state 7 of tpu7x: there 1.125 was measured in place of 1.158. A step that computes all the time took 21.18 s in
/// state 3 and 18.82 s in state 7, so that what the chip keeps up is less than its clock says. One of 295B on 64 chips, of which 16.8 s go by the
/// clock, took 23.539, 22.438 and 21.670 s in 3, 5 and 7.
/// Source: yangwhale/gpu-tpu-pedia @3fa9ce1, tpu/Hunyuan3-295B-Pretraining/EXPERIMENT-LOG.md, "DVFS".
std::optional<double> pace_in_state(const CoreClocks& clocks, int state);

}  // namespace podsim::topology
