// The order of folders and rooms (CONTRIBUTING.md) as a table, with the includes that it allows.
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace podsim::house {

/// Files that a code folder may include: from the project (path prefixes)
/// and from libraries (prefixes of names in <>; the standard library has
/// no slash and no suffix). Its own files are always allowed.
struct Layer {
    std::string folder;
    /// The folder of its tests, which have the same rooms.
    std::string tests;
    std::vector<std::string> project;
    std::vector<std::string> libraries;
    /// The rooms, floor by floor: a room includes its own files and rooms of earlier floors.
    std::vector<std::vector<std::string>> floors;

    friend std::ostream& operator<<(std::ostream& out, const Layer& layer) {
        return out << layer.folder;
    }
};

/// Returns the code folders, each after those that it may include.
const std::vector<Layer>& layers();

struct Include {
    std::string name;
    bool quoted = false;
};

/// Returns the name that a line includes; nothing if it is not an #include.
std::optional<Include> include_of(std::string_view line);

/// True if a folder may include a file of another folder, or a library's.
bool allowed(const Layer& layer, const Include& include);

/// Returns the floor of a file or an included path,
/// `folder/room/file`; nothing if it is in no room.
std::optional<std::size_t> floor_of(const Layer& layer, std::string_view path);

/// True if a file of a folder may include another file of that folder.
bool room_allows(const Layer& layer, const std::string& from, const std::string& name);

}  // namespace podsim::house
