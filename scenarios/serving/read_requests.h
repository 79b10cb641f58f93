// The part of `serving` that says what asks: how requests come, and how long they are. Internal to this room.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/requests/arrivals.h"
#include "scenarios/yaml/reader.h"

namespace podsim::scenarios {

inline constexpr std::int64_t kMostServedTokens = 1 << 24;  ///< of a prompt, an answer, a buffer

/// `80 %`, from 0 % to 100 %. Throws sim::InputError.
double parse_share(const std::string& text);

/// A key that must not be there.
void refuse_present(const Reader& key, const char* problem, const char* remedy);

/// `base` is the folder that traces are relative to. Adds all that is wrong to the reader's faults.
LoadSpec read_load(const Reader& serving, const std::filesystem::path& base);

/// The requests that the load draws, where nothing is wrong with it; adds to the reader's faults where they do not fit the clock.
std::optional<std::vector<Request>> draw_sound_requests(const Reader& serving,
                                                        const LoadSpec& load);

}  // namespace podsim::scenarios
