// Which places' memories are one: of places that have done the same at the same times since the beginning.
//
// On a machine of many places most do what hundreds of others do at the same instant, and what their memories share out is worked out
// once. At first all places of a graph are one group. What begins at a memory is noted with its places, and looked at before the clock goes
// on: if the same has begun at all places of a group, it begins at the group's memory; if not, the group falls apart into those at which
// the same has begun. Groups never grow, so that places told apart once, by whatever slows one of them, stay so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "sim/memory/memory_group.h"
#include "sim/workload/task_graph.h"

namespace podsim::sim {

class MemoryGroups {
public:
    /// `at_risk`: by graph (at_risk.h); empty: no groups. `together`: places of one graph are one group, otherwise each is one.
    MemoryGroups(const Workload& workload, const std::vector<bool>& at_risk, bool together);

    [[nodiscard]] bool empty() const { return groups_.empty(); }
    [[nodiscard]] std::uint32_t number_of(std::uint32_t place) const { return group_of_[place]; }
    /// Until the next falls apart.
    [[nodiscard]] MemoryGroup& operator[](std::size_t number) { return groups_[number]; }
    [[nodiscard]] const MemoryGroup& operator[](std::size_t number) const {
        return groups_[number];
    }
    [[nodiscard]] MemoryGroup& of(std::uint32_t place) { return groups_[group_of_[place]]; }
    [[nodiscard]] const MemoryGroup& of(std::uint32_t place) const {
        return groups_[group_of_[place]];
    }
    [[nodiscard]] std::vector<MemoryGroup>::iterator begin() { return groups_.begin(); }
    [[nodiscard]] std::vector<MemoryGroup>::iterator end() { return groups_.end(); }
    [[nodiscard]] std::vector<MemoryGroup>::const_iterator begin() const { return groups_.begin(); }
    [[nodiscard]] std::vector<MemoryGroup>::const_iterator end() const { return groups_.end(); }

    // Of this instant, where places are taken together.
    /// What begins, and at which places: those that are put in places_of() it, or where `row` leads from there. The same for the same, until the
    /// instant is over; `list` is that of `like` where it is given.
    std::uint32_t number_of(const StreamBegun& what, const std::uint32_t* row = nullptr,
                            std::uint32_t like = kNone);
    [[nodiscard]] std::vector<std::uint32_t>& places_of(std::uint32_t number) {
        return lists_[begun_[number].list];
    }
    [[nodiscard]] bool any_begun() const { return !begun_.empty(); }
    /// Calls fell_apart(new group) for each, and begins(group, StreamBegun) for what has begun at all of its places.
    template <class FellApart, class Begins>
    void take_begun(const FellApart& fell_apart, const Begins& begins) {
        count();
        const std::size_t noted = noted_.size();
        for (std::size_t i = 0; i < noted; ++i) {
            if (!of_all(noted_[i])) {
                for (std::uint32_t made = tell_apart(noted_[i]); made < groups_.size(); ++made) {
                    fell_apart(made);
                }
            }
        }
        for (const std::uint32_t group : noted_) {
            for (const Note& note : notes_[group]) {
                begins(group, begun_[note.begun].what);
            }
            notes_[group].clear();
        }
        forget();
    }

    static constexpr std::uint32_t kNone = 0xffffffff;

private:
    static constexpr std::size_t kKinds = 4;

    struct Begun {
        StreamBegun what;
        std::uint32_t before = kNone;  ///< the last of the same owner
        std::uint32_t list = 0;
        const std::uint32_t* row = nullptr;
    };
    /// At how many places of a group.
    struct Note {
        std::uint32_t begun = 0;
        std::uint32_t places = 0;
    };

    [[nodiscard]] std::size_t owner_of(const StreamBegun& what) const {
        return std::size_t{what.owner.number} * kKinds + what.owner.kind;
    }
    void count();
    /// Whether all of the group's notes are of each of its places.
    [[nodiscard]] bool of_all(std::uint32_t group) const;
    /// Moves places at which something else has begun than at the first into groups of their own, with their notes. The number of the
    /// first such.
    std::uint32_t tell_apart(std::uint32_t group);
    void forget();

    std::vector<MemoryGroup> groups_;
    std::vector<std::uint32_t> group_of_;  ///< [place]
    // Of this instant.
    std::vector<Begun> begun_;
    std::vector<std::uint32_t> last_of_owner_;      ///< [owner]: in begun_
    std::deque<std::vector<std::uint32_t>> lists_;  ///< of places; the first so many are in use
    std::size_t lists_in_use_ = 0;
    std::vector<std::vector<Note>> notes_;  ///< [group]
    std::vector<std::uint32_t> noted_;      ///< groups that have notes
    std::vector<std::uint32_t> count_;      ///< [group]: zero but while one is counted
    std::vector<std::uint32_t> counted_;    ///< groups
};

}  // namespace podsim::sim
