// Names of MaxText's keys: those that a scenario is made of, what others are of, and what a misspelt one may mean.
// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/configs/base.yml and types.py, and its base.yml of 2023.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace podsim::scenarios {

/// A parallelism of MaxText, `ici_NAME_parallelism` and `dcn_NAME_parallelism`, and the axis of a scenario that is like it; an empty
/// one has none.
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

/// Keys that are read though a file may lack them, being older or newer.
std::vector<std::string> read_keys();
bool is_read(const std::string& key);

/// The key that is read and a letter or two away, which may be meant; empty where there is none, or MaxText has this one, too.
std::string meant_by(const std::string& key);

/// What a key that is not read is of, by a part of its name; empty where that is not known.
std::string_view reason_of(const std::string& key);

/// Whether a key that MaxText may not have sounds as if it changed a step: parts of other names do not excuse it.
bool shapes_steps(const std::string& key);

bool may_be_empty(const std::string& key);

/// Whether the key changes a step in a way that has no counterpart (maxtext_not_modelled.cpp).
bool is_not_modelled(const std::string& key);

}  // namespace podsim::scenarios
