// A scenario of `podsim serve`: a server's chips, model and mesh, and the requests that it serves.
#pragma once

#include <span>
#include <string>

#include "scenarios/serve/serving_spec.h"
#include "scenarios/spec/scenario.h"

namespace podsim::scenarios {

struct Served {
    Scenario server;  ///< a step of inference, of which the loop says what is in it
    ServingSpec serving;
    double memory = 1;  ///< share of the memory that programs may use: weights, steps and cache
};

/// Reads the file with `--set` overrides. What the file leaves open is filled in from the server: the host's time by its
/// profile, bytes of a token that goes to another server by its cache. Pages stay open. Throws sim::InputError at its place.
Served load_served(const std::string& path, std::span<const std::string> settings);

}  // namespace podsim::scenarios
