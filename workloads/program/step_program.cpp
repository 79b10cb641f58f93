#include "workloads/program/step_program.h"

#include "workloads/plan/axis_names.h"

namespace podsim::workloads {

std::string_view to_string(Pass pass) {
    switch (pass) {
        case Pass::forward:
            return "forward";
        case Pass::recompute:
            return "recompute";
        case Pass::backward:
            return "backward";
        case Pass::optimizer:
            return "optimizer";
    }
    return "?";
}

std::string_view to_string(Purpose purpose) {
    switch (purpose) {
        case Purpose::tensor:
            return axis::tensor;
        case Purpose::context:
            return axis::context;
        case Purpose::expert:
            return axis::expert;
        case Purpose::weights:
            return "weights";
        case Purpose::gradients:
            return "gradients";
        case Purpose::pipeline:
            return axis::pipeline;
    }
    return "?";
}

std::string_view to_string(MemoryClass memory_class) {
    switch (memory_class) {
        case MemoryClass::parameters:
            return "parameters";
        case MemoryClass::gradients:
            return "gradients";
        case MemoryClass::optimizer:
            return "optimizer";
        case MemoryClass::activations:
            return "activations";
        case MemoryClass::gathered_weights:
            return "gathered_weights";
        case MemoryClass::kv_cache:
            return "kv_cache";
        case MemoryClass::buffers:
            return "buffers";
    }
    return "?";
}

}  // namespace podsim::workloads
