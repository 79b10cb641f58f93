// Collects all faults of one input while it is read, so that a user sees them at once.
//
// A place in the input is a path such as `hardware.slice` or `perturb[0].kind`. It is unsound if an
// error was found there, or if its value depends on an unsound one. Two places are related if they
// are equal or one contains the other.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/error.h"

namespace podsim::sim {

class InputFaults {
public:
    /// Maps a place to its position in the user's text.
    using Locate = std::function<SourceMark(std::string_view place)>;

    /// Collects nothing: throws the first error at once.
    InputFaults() = default;
    /// Collects errors; an error without a mark gets that of its place.
    explicit InputFaults(Locate locate) : locate_(std::move(locate)) {}

    /// Adds an error at `place`. Drops it if a related place is unsound, since it may be a
    /// consequence.
    void add(std::string_view place, const InputError& error);
    /// Adds an error that follows from no other, such as an unknown name, and marks `place` as
    /// unsound.
    void add_always(std::string_view place, const InputError& error);

    /// True if no fault is recorded at `place`, inside it or around it.
    [[nodiscard]] bool sound(std::string_view place) const;

    /// Runs action(), which checks the value at `place` and also reads those at `needs`. An error
    /// that it throws is added at `place`. The action is skipped if one of `needs` is unsound; an
    /// error that it throws after it has added one itself is dropped.
    template <class Action>
    void check(std::string_view place, std::initializer_list<std::string_view> needs,
               Action&& action) {
        if (!locate_) {
            action();
            return;
        }
        if (!all_sound(needs)) {
            return;
        }
        const std::size_t before = errors_.size();
        try {
            action();
        } catch (const InputError& error) {
            if (errors_.size() == before) {
                add(place, error);
            }
            unsound_.emplace_back(place);
        }
    }

    /// Like check(), for an action that computes the value at `place` from those at `needs`. If one
    /// of them is unsound, `place` becomes unsound too.
    template <class Action>
    void derive(std::string_view place, std::initializer_list<std::string_view> needs,
                Action&& action) {
        if (locate_ && !all_sound(needs)) {
            unsound_.emplace_back(place);
        } else {
            check(place, {}, std::forward<Action>(action));
        }
    }

    /// Throws the collected errors: one as it is, several as InputErrors sorted by file, line and
    /// column. Does nothing if there are none.
    void throw_all() const;

private:
    [[nodiscard]] bool all_sound(std::initializer_list<std::string_view> places) const;

    Locate locate_;
    std::vector<InputError> errors_;
    std::vector<std::string> unsound_;
};

}  // namespace podsim::sim
