// podsim's exceptions as Python's.
#pragma once

namespace podsim::scenarios {

/// From here on, what functions of this module throw becomes
///   sim::InputError                   podsim.ScenarioError, with each fault
///   sim::TimeOverflow                 the same
///   std::filesystem::filesystem_error OSError
///   std::bad_alloc                    MemoryError
///   any other std::exception          podsim.InternalError
void translate_errors();

}  // namespace podsim::scenarios
