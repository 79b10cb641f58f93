// What real chips reach of their ideal rates: the profile `measured`, a handful of factors for each generation.
//
// Every factor has a physical name and the measurement that fixes it; none belongs to a model or a scenario. The
// profile `ideal` is all ones, and zero overheads. docs/fidelity.md says how the factors were found and how well they
// predict steps that they were not fitted to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace podsim::topology {

struct Efficiency {
    double mxu = 1;  ///< share of the peak that a matmul of large dimensions reaches
    double mxu_ramp =
        0;  ///< a matmul whose smallest dimension is d reaches d / (d + mxu_ramp) of that share
    double mxu_8bit =
        1;  ///< of that share, what matmuls of 8 bits (int8, fp8) reach of their own peak
    double mxu_grouped =
        0;  ///< share of the peak in the tiles of grouped matmuls (experts); 0: that of other matmuls
    double grid_step_s =
        0;  ///< seconds of each step of such a kernel's grid, or of flash attention's, beside its tile
    double attention =
        1;  ///< share of the peak that the dot products of a flash-attention kernel reach
    double attention_backward = 0;  ///< the same of its gradient's kernels; 0: as those
    double vpu = 1;                 ///< share of the vector unit's rate
    double hbm = 1;                 ///< share of HBM bandwidth
    double fusion =
        1;  ///< share of elementwise time that hides beneath the matmul it is fused with
    double gather =
        1;  ///< share of HBM bandwidth that rows reach which indices name (experts' tokens, sorted)
    double ici = 1;       ///< share of an ICI link's rate
    double dcn = 1;       ///< share of a host's network rate
    double launch_s = 0;  ///< seconds before the first byte of a collective moves
    double straggler =
        0;  ///< compute takes 1 + straggler x log2(hosts / hosts of a slice) as long: the slowest sets the pace

    double kernel_s =
        0;  ///< seconds of every kernel beside its work: its start, first tiles in, last tiles out
    /// Seconds that attention with a cache spends on each sequence beside its bytes and FLOPs: the kernel goes from one to the next,
    /// looking up pages and filling its pipeline anew.
    double sequence_s = 0;
    double host_s =
        0;  ///< seconds of a host between two steps of inference: scheduling, inputs, the tokens

    friend bool operator==(const Efficiency&, const Efficiency&) = default;
};

/// A factor as the catalogue and the calibration name it.
struct EfficiencyFactor {
    std::string_view name;
    double Efficiency::*value;
    double least;  ///< values outside [least, most] make no sense
    double most;
};
std::span<const EfficiencyFactor> efficiency_factors();

/// The versions of the profile `measured` by name, the newest first: a number that an older one gave can be had again.
std::span<const std::string_view> profile_versions();

/// The profile `measured` of a chip, of the newest version or of a named one; none where nothing was measured then.
std::optional<Efficiency> measured_efficiency(std::string_view chip);
std::optional<Efficiency> measured_efficiency(std::string_view chip, std::string_view version);

/// What steps of inference take beside those factors (kernel_s, sequence_s, host_s), fitted to published decode steps and serving
/// runs: training steps, whose profile was fitted without them, have none.
Efficiency with_inference_overheads(Efficiency efficiency, std::string_view version = {});

/// Where a factor of the newest version comes from.
std::string_view efficiency_source(std::string_view chip, std::string_view factor);

}  // namespace podsim::topology
