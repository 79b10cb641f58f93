#include "sim/base/input_faults.h"

#include <algorithm>
#include <tuple>

namespace podsim::sim {
namespace {

/// True if `inner` equals `outer` or lies inside it.
bool holds(std::string_view outer, std::string_view inner) {
    return inner.starts_with(outer) && (inner.size() == outer.size() ||
                                        inner[outer.size()] == '.' || inner[outer.size()] == '[');
}

}  // namespace

void InputFaults::add(std::string_view place, const InputError& error) {
    if (!locate_ || sound(place)) {
        add_always(place, error);
    }
}

void InputFaults::add_always(std::string_view place, const InputError& error) {
    if (!locate_) {
        throw error;
    }
    errors_.push_back(error.at(locate_(place)));
    unsound_.emplace_back(place);
}

bool InputFaults::sound(std::string_view place) const {
    return std::ranges::none_of(unsound_, [&](const std::string& wrong) {
        return holds(wrong, place) || holds(place, wrong);
    });
}

bool InputFaults::all_sound(std::initializer_list<std::string_view> places) const {
    return std::ranges::all_of(places, [&](std::string_view place) { return sound(place); });
}

void InputFaults::throw_all() const {
    if (errors_.empty()) {
        return;
    }
    if (errors_.size() == 1) {
        throw errors_.front();
    }
    std::vector<InputError> sorted = errors_;
    std::ranges::stable_sort(sorted, {}, [](const InputError& error) {
        const SourceMark& mark = error.mark();
        return std::tuple(mark.file, mark.line, mark.column);
    });
    throw InputErrors(std::move(sorted));
}

}  // namespace podsim::sim
