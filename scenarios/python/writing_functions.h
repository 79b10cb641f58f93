// The functions that help to write scenarios: show, check, estimate, init, search, imports.
#pragma once

#include <pybind11/pybind11.h>

namespace podsim::scenarios {

/// Adds them to the module.
void define_writing(pybind11::module_& module);

}  // namespace podsim::scenarios
