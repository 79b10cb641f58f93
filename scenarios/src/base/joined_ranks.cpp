#include "scenarios/src/base/joined_ranks.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

int number_in(const char* variable, int otherwise) {
    const char* const text = std::getenv(variable);
    int number = otherwise;
    if (text != nullptr) {
        std::from_chars(text, text + std::strlen(text), number);
    }
    return number;
}

}  // namespace

Launch launch() {
    return {.rank = number_in("OMPI_COMM_WORLD_RANK", 0),
            .size = number_in("OMPI_COMM_WORLD_SIZE", 1),
            .on_host = number_in("OMPI_COMM_WORLD_LOCAL_SIZE", 1)};
}

int threads_of_rank(int threads, const Launch& launch) {
    // Counts all processors, because mpirun may have bound this rank to a few of them.
    const auto processors = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    return launch.size == 1 ? threads
                            : std::clamp(processors / std::max(launch.on_host, 1), 1, threads);
}

std::unique_ptr<Ranks> join_ranks() {
    const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    std::filesystem::path module = beside / "podsim_mpi.so";
    if (!std::filesystem::exists(module)) {
        module = (beside / PODSIM_MODULES / "podsim_mpi.so").lexically_normal();  // installed
    }
    // The module is never closed, because MPI's libraries leave threads and handlers behind.
    void* const loaded = dlopen(module.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (loaded == nullptr) {
        const char* const why = dlerror();
        throw sim::InputError(
            std::filesystem::exists(module)
                ? fmt::format("cannot load MPI: {}", why)
                : std::string("several ranks were started, and podsim was built without MPI"),
            "start one process, or build what it loads: make mpi");
    }
    const auto join = reinterpret_cast<JoinRanks>(dlsym(loaded, kJoinName));
    return std::unique_ptr<Ranks>(join());
}

}  // namespace podsim::scenarios
