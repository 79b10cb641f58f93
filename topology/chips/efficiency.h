// The fractions of their ideal rates that real chips reach: the profile `measured`, a handful of
// factors for each generation.
//
// Every factor has a physical name and the measurement that fixes it; none belongs to a model or a
// scenario. The profile `ideal` is all ones, and zero overheads. docs/fidelity.md says how the
// factors were found, and how well they predict steps to which they were not fitted.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace podsim::topology {

struct Efficiency {
    /// Fraction of the peak that a matmul of large dimensions reaches.
    double mxu = 1;
    /// A matmul whose smallest dimension is d reaches d / (d + mxu_ramp) of that fraction.
    double mxu_ramp = 0;
    /// Factor on `mxu` for matmuls of 8 bits (int8, fp8), relative to their own peak.
    double mxu_8bit = 1;
    /// Fraction of the peak in the tiles of grouped matmuls (experts); 0: as in other matmuls.
    double mxu_grouped = 0;
    /// Seconds of each grid step of such a kernel, or of flash attention, in addition to its tile.
    double grid_step_s = 0;
    /// Fraction of the peak that the dot products of a flash-attention kernel reach.
    double attention = 1;
    /// Like `attention`, for its gradient's kernels; 0: equal to `attention`.
    double attention_backward = 0;
    double vpu = 1;  ///< fraction of the vector unit's rate
    double hbm = 1;  ///< fraction of HBM bandwidth
    /// Fraction of elementwise time that hides beneath the matmul it is fused with.
    double fusion = 1;
    /// Fraction of HBM bandwidth for rows that are addressed by indices (experts' tokens, sorted).
    double gather = 1;
    double ici = 1;       ///< fraction of an ICI link's rate
    double dcn = 1;       ///< fraction of a host's network rate
    double launch_s = 0;  ///< seconds before the first byte of a collective moves
    /// Compute takes 1 + straggler x log2(hosts / hosts of a slice) as long: the slowest sets the
    /// pace.
    double straggler = 0;

    /// Seconds of every kernel in addition to its work: its start, first tiles in, last tiles out.
    double kernel_s = 0;
    /// Seconds per sequence of attention with a cache, in addition to its bytes and FLOPs: for each
    /// sequence the kernel looks up pages and refills its pipeline.
    double sequence_s = 0;
    /// Seconds of a host between two steps of inference: scheduling, inputs, the tokens.
    double host_s = 0;

    friend bool operator==(const Efficiency&, const Efficiency&) = default;
};

/// A factor, as the catalogue and the calibration name it.
struct EfficiencyFactor {
    std::string_view name;
    double Efficiency::*value;
    double least;  ///< values outside [least, most] make no sense
    double most;
};
std::span<const EfficiencyFactor> efficiency_factors();

/// The version of the profile `measured`: results name it, and scenarios may (`measured@11`).
inline constexpr std::string_view kMeasuredVersion = "11";

/// Returns the factors of the profile `measured` of a chip; nullopt if the chip was not measured.
std::optional<Efficiency> measured_efficiency(std::string_view chip);

/// Adds the factors that only inference has (kernel_s, sequence_s, host_s), fitted to published
/// decode steps and serving runs. Training steps have none, since their factors are fitted without
/// them.
Efficiency with_inference_overheads(Efficiency efficiency);

/// Returns the source of a factor.
std::string_view efficiency_source(std::string_view chip, std::string_view factor);

}  // namespace podsim::topology
