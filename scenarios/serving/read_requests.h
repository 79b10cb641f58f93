// The part of `serving` that says what asks: how requests come, and how long they are. Internal to this room.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "scenarios/requests/arrivals.h"
#include "scenarios/yaml/reader.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

inline constexpr std::int64_t kMostServedTokens = 1 << 24;  ///< of a prompt, an answer, a buffer

/// `80 %`, from 0 % to 100 %. Throws sim::InputError.
double parse_share(const std::string& text);

/// A key that must not be there.
void refuse_present(const Reader& key, const char* problem, const char* remedy);

/// `base` is the folder that traces are relative to. Adds all that is wrong to the reader's faults.
LoadSpec read_load(const Reader& serving, const std::filesystem::path& base);

/// Runs action(requests) as a check of this place, on the requests that the load draws, where nothing is wrong with it.
template <class Action>
void check_requests(const Reader& serving, const Reader& place, const LoadSpec& load,
                    Action&& action) {
    for (const char* const part : {"rate", "concurrency", "trace", "lengths", "requests", "seed",
                                   "prompt", "output", "prefix", "speculation"}) {
        if (!serving[part].sound()) {
            return;
        }
    }
    try {
        place.check({}, [&] { action(draw_requests(load)); });
    } catch (const sim::TimeOverflow&) {
        serving["rate"].refuse(
            "the last request comes after more than the 106 days that a run can have",
            "write a higher rate or fewer requests");
    }
}

}  // namespace podsim::scenarios
