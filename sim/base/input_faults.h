// What is wrong in one input, gathered while it is read, so that a user sees all of it at once.
//
// Places in the input are paths, `hardware.slice`, `perturb[0].kind`. A place at which an error was found is not sound, nor is
// one whose value could not be worked out because of another. Two places are related when they are equal or one holds the other.
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
    /// Where a place stands in the user's text.
    using Locate = std::function<SourceMark(std::string_view place)>;

    /// Gathers nothing: the first error is thrown as it comes.
    InputFaults() = default;
    /// Gathers; errors without a mark get that of their place.
    explicit InputFaults(Locate locate) : locate_(std::move(locate)) {}

    /// An error at a place; left out where a related place is not sound, from which it may only follow.
    void add(std::string_view place, const InputError& error);
    /// An error that follows from no other, such as a name that does not exist; `place` is not sound from now on.
    void add_always(std::string_view place, const InputError& error);

    /// Whether nothing is wrong at a place, in it and around it.
    [[nodiscard]] bool sound(std::string_view place) const;

    /// Runs action(), a check of the value at `place` that also needs those at `needs`, and takes what it throws as an error at
    /// `place`. It is not run when one of `needs` is not sound; what it throws after it has added an error is left out.
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

    /// The same of an action that works out the value at `place` from those at `needs`: without them it is not sound.
    template <class Action>
    void derive(std::string_view place, std::initializer_list<std::string_view> needs,
                Action&& action) {
        if (locate_ && !all_sound(needs)) {
            unsound_.emplace_back(place);
        } else {
            check(place, {}, std::forward<Action>(action));
        }
    }

    /// Throws what was gathered: one error as it is, several as InputErrors by file, line and column; nothing when there is none.
    void throw_all() const;

private:
    [[nodiscard]] bool all_sound(std::initializer_list<std::string_view> places) const;

    Locate locate_;
    std::vector<InputError> errors_;
    std::vector<std::string> unsound_;
};

}  // namespace podsim::sim
