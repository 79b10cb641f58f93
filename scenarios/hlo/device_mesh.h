// The devices of a module on the chips of slices, one device a chip.
//
// Device numbers count through a mesh whose axes lie on factors of the slice: as the user says (`fsdp: x y`, `tensor: z`), or, of axes
// given by their sizes or seen in the module's groups, as JAX's create_device_mesh lays out such sizes (topology/mesh, map_mesh_as_jax).
#pragma once

#include <string>
#include <vector>

#include "scenarios/hlo/hlo_request.h"
#include "topology/mesh/mesh.h"
#include "workloads/hlo_step/device_axes.h"

namespace podsim::scenarios {

struct PlacedDevices {
    workloads::hlo::DeviceAxes axes;
    topology::DeviceMesh mesh;              ///< its axes are those of `axes`, by name
    bool seen = false;                      ///< the axes are those of the module's groups
    std::vector<std::string> unlike_jax{};  ///< axes whose groups have other members than JAX's
};

/// Throws sim::InputError, without a place where the mesh is at fault.
PlacedDevices place_devices(const HloInput& input, const IdealHardware& hardware,
                            const MeshText& mesh);

}  // namespace podsim::scenarios
