// The names of the logical axes of a device mesh: in scenarios, in programs and in reports.
// plan/axes.h has their meanings.
#pragma once

namespace podsim::workloads::axis {

inline constexpr const char* data = "data";
inline constexpr const char* fsdp = "fsdp";
inline constexpr const char* context = "context";
inline constexpr const char* tensor = "tensor";
inline constexpr const char* tensor_transpose = "tensor_transpose";
inline constexpr const char* cache = "cache";
inline constexpr const char* expert = "expert";
inline constexpr const char* pipeline = "pipeline";

}  // namespace podsim::workloads::axis
