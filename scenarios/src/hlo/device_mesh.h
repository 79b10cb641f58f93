// Places the devices of a module on the chips of slices, one device a chip.
//
// Device numbers count through a mesh whose axes are factors of the slice, as the user says (`fsdp:
// x y`, `tensor: z`). Axes given by their sizes, or seen in the module's groups, are laid out as by
// JAX's create_device_mesh (topology/mesh, map_mesh_as_jax).
#pragma once

#include <string>
#include <vector>

#include "scenarios/src/hlo/hlo_request.h"
#include "topology/mesh/mesh.h"
#include "workloads/hlo/device_axes.h"

namespace podsim::scenarios {

struct PlacedDevices {
    workloads::hlo::DeviceAxes axes;
    topology::DeviceMesh mesh;  ///< axes named as those of `axes`
    /// True if the axes are those of the module's groups.
    bool seen = false;
    /// Axes whose groups have other members than JAX's.
    std::vector<std::string> unlike_jax{};
};

/// Throws sim::InputError, without a source position if the mesh is at fault.
PlacedDevices place_devices(const HloInput& input, const IdealHardware& hardware,
                            const MeshText& mesh);

}  // namespace podsim::scenarios
