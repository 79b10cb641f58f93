// Names of MaxText's keys: those that make up a scenario, the subjects of others, and corrections
// of misspelt ones.
// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/configs/base.yml and types.py, and its
// base.yml of 2023.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace podsim::scenarios {

/// A parallelism of MaxText, `ici_NAME_parallelism` and `dcn_NAME_parallelism`, and its counterpart
/// among the axes of a scenario; empty if it has none.
struct MaxTextParallelism {
    std::string_view name;
    std::string_view axis;
};
/// In MaxText's order, outermost first.
inline constexpr std::array kMaxTextParallelisms =
    std::to_array<MaxTextParallelism>({{"diloco", ""},
                                       {"data", "data"},
                                       {"pipeline", "pipeline"},
                                       {"fsdp", "fsdp"},
                                       {"fsdp_transpose", "fsdp"},
                                       {"sequence", ""},
                                       {"context", "context"},
                                       {"context_usp_ulysses", ""},
                                       {"context_autoregressive", ""},
                                       {"tensor", "tensor"},
                                       {"tensor_transpose", "tensor_transpose"},
                                       {"tensor_sequence", ""},
                                       {"expert", "expert"},
                                       {"autoregressive", ""}});

/// Returns the keys that are read though a file may lack them, being older or newer.
std::vector<std::string> read_keys();
bool is_read(const std::string& key);

/// Returns the read key that is a letter or two away and may be meant. Empty if there is none, or
/// if MaxText also has this one.
std::string meant_by(const std::string& key);

/// Returns the subject of a key that is not read, by a segment of its name; empty if it is unknown.
std::string_view reason_of(const std::string& key);

/// True if a key that MaxText may not have sounds as if it changed a step; a match with reason_of
/// does not excuse it.
bool shapes_steps(const std::string& key);

bool may_be_empty(const std::string& key);

/// True if the key changes a step in a manner without a counterpart (maxtext_import.cpp).
bool is_not_modelled(const std::string& key);

}  // namespace podsim::scenarios
