// The folders' and rooms' order (CONTRIBUTING.md) as a table, and what it allows to include.
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace podsim::house {

/// What a code folder may include: of the project (path prefixes) and of the libraries (prefixes of
/// what stands in <>; the standard library has no slash and no suffix). Its own files always.
struct Layer {
    std::string folder;
    std::vector<std::string> project;
    std::vector<std::string> libraries;
    /// The rooms, floor by floor: a room includes its own files and rooms of floors before its own.
    std::vector<std::vector<std::string>> floors;

    friend std::ostream& operator<<(std::ostream& out, const Layer& layer) {
        return out << layer.folder;
    }
};

/// The code folders, each after those that it may include.
const std::vector<Layer>& layers();

struct Include {
    std::string name;
    bool quoted = false;
};

/// What a line includes; nothing where it is no #include.
std::optional<Include> include_of(std::string_view line);

/// Whether a folder may include a file of another folder, or a library's.
bool allowed(const Layer& layer, const Include& include);

/// The floor of a file or an included path, `folder/room/file`; nothing where it is in no room.
std::optional<std::size_t> floor_of(const Layer& layer, std::string_view path);

/// Whether a file of a folder may include a file of that folder.
bool room_allows(const Layer& layer, const std::string& from, const std::string& name);

}  // namespace podsim::house
