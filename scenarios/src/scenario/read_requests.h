// Reads the requests of `serving`: how they arrive, and how long they are. Internal to this folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/src/scenario/arrivals.h"
#include "scenarios/src/scenario/client_request.h"
#include "scenarios/src/scenario/reader.h"

namespace podsim::scenarios {

// A trace of requests as CSV: `arrival_s,prompt,output[,prefix][,class]`, a header first, one
// request per line.
//
// Columns are found by their names, in any order; unknown ones are errors. Arrivals are seconds,
// not descending. Prompt and output are whole numbers from 1, prefix (tokens of the prompt that a
// prefix cache holds) from 0 to prompt - 1, class from 0 (lower ones go first). A trace has at most
// a million rows.

/// Parses a trace. Throws sim::InputError at file:line:column of an error.
std::vector<Request> parse_trace(std::string_view text, const std::string& file);

/// Limit of a prompt, an answer, a buffer.
inline constexpr std::int64_t kMostServedTokens = 1 << 24;

/// Reads `80 %`, from 0 % to 100 %. Throws sim::InputError.
double parse_share(const std::string& text);

/// Refuses a key that must not be present.
void refuse_present(const Reader& key, const char* problem, const char* remedy);

/// Reads the load. `base` is the folder to which traces are relative. Adds all errors to the
/// reader's faults.
LoadSpec read_load(const Reader& serving, const std::filesystem::path& base);

/// Draws the requests of a load without errors. Adds to the reader's faults if they do not fit the
/// clock.
std::optional<std::vector<Request>> draw_sound_requests(const Reader& serving,
                                                        const LoadSpec& load);

}  // namespace podsim::scenarios
