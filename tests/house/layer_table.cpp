#include "tests/house/layer_table.h"

#include <algorithm>
#include <filesystem>

namespace podsim::house {
namespace {

std::string_view without_blanks_before(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

bool starts_with_any(const std::string& text, const std::vector<std::string>& prefixes) {
    return std::ranges::any_of(prefixes, [&](const auto& p) { return text.starts_with(p); });
}

bool standard_header(const std::string& name) {
    return name.find_first_of("/.") == std::string::npos;
}

}  // namespace

const std::vector<Layer>& layers() {
    static const std::vector<Layer> all{
        {"sim",
         "tests/sim",
         {},
         {"sys/mman.h"},
         {{"base"}, {"queue", "workload"}, {"memory"}, {"state"}, {"folding"}, {"executor"}}},
        {"topology",
         "tests/topology",
         {"sim/base/"},
         {"boost/", "fmt/"},
         {{"lattice"}, {"chips"}, {"graph"}, {"mesh"}}},
        {"collectives",
         "tests/collectives",
         {"sim/base/", "sim/workload/", "topology/"},
         {"fmt/"},
         {{"vocabulary"}, {"paths"}, {"algorithms"}, {"catalogue"}}},
        // A step is built from units, the machine's shape and the words for collectives. It knows
        // no link servers, events or schedules.
        {"workloads",
         "tests/workloads",
         {"sim/base/", "topology/", "collectives/vocabulary/", "collectives/catalogue/bounds.h"},
         {"fmt/", "nlohmann/", "re2/"},
         {{"models"}, {"plan"}, {"program"}, {"bounds", "work"}, {"hlo", "step"}}},
        {"scenarios/src",
         "tests/scenarios",
         {"sim/", "topology/", "collectives/", "workloads/"},
         {"Eigen/", "boost/", "dlfcn.h", "fcntl.h", "fmt/", "mpi.h", "nlohmann/", "pybind11/",
          "re2/", "sched.h", "sys/file.h", "sys/ioctl.h", "sys/resource.h", "sys/stat.h",
          "unistd.h", "unsupported/Eigen/", "yaml-cpp/"},
         {{"base"},
          {"scenario"},
          {"import", "simulate"},
          {"advise"},
          {"report"},
          {"hlo", "serve"},
          {"study"},
          {"search"},
          {"cli"},
          {"python"}}},
    };
    return all;
}

std::optional<Include> include_of(std::string_view line) {
    for (const std::string_view word : {"#", "include"}) {
        line = without_blanks_before(line);
        if (!line.starts_with(word)) {
            return std::nullopt;
        }
        line.remove_prefix(word.size());
    }
    line = without_blanks_before(line);
    if (line.empty() || (line[0] != '"' && line[0] != '<')) {
        return std::nullopt;
    }
    const bool quoted = line[0] == '"';
    line.remove_prefix(1);
    return Include{std::string(line.substr(0, line.find(quoted ? '"' : '>'))), quoted};
}

bool allowed(const Layer& layer, const Include& include) {
    if (include.quoted) {
        return include.name.starts_with(layer.folder + '/') ||
               starts_with_any(include.name, layer.project);
    }
    return standard_header(include.name) || starts_with_any(include.name, layer.libraries);
}

std::optional<std::size_t> floor_of(const Layer& layer, std::string_view path) {
    const std::filesystem::path room = std::filesystem::path(path).parent_path();
    for (std::size_t floor = 0; floor < layer.floors.size(); ++floor) {
        for (const std::string& name : layer.floors[floor]) {
            if (room == std::filesystem::path(layer.folder) / name) {
                return floor;
            }
        }
    }
    return std::nullopt;
}

bool room_allows(const Layer& layer, const std::string& from, const std::string& name) {
    if (std::filesystem::path(from).parent_path() == std::filesystem::path(name).parent_path()) {
        return true;
    }
    const std::optional<std::size_t> here = floor_of(layer, from);
    const std::optional<std::size_t> there = floor_of(layer, name);
    return here && there && *there < *here;
}

}  // namespace podsim::house
