// Groups of places that have done the same at the same times since the start, and share one memory.
//
// On a large machine most places do the same as hundreds of others at the same instant, so their
// memory is shared out once. At first all places of a graph are one group. A stream that begins is
// noted with its places, and processed before the clock advances. If it has begun at all places of
// a group, it begins at the group's memory. If not, the group splits into those at which the same
// streams have begun. Groups never merge, so places that a slowdown has split once stay apart.
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
    /// `at_risk` is by graph (at_risk.h); empty: no groups. `together`: the places of one graph are
    /// a group; otherwise each place is one.
    MemoryGroups(const Workload& workload, const std::vector<bool>& at_risk, bool together);

    [[nodiscard]] bool empty() const { return groups_.empty(); }
    [[nodiscard]] std::uint32_t number_of(std::uint32_t place) const { return group_of_[place]; }
    /// Valid until the next group splits.
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

    // The current instant, if places are grouped.
    /// Returns the number of a stream that begins; equal streams have the same number until the
    /// instant is over. It begins at the places in places_of(), or at those to which `row` maps
    /// them. If `like` is given, the stream shares its list of places.
    std::uint32_t number_of(const StreamBegun& what, const std::uint32_t* row = nullptr,
                            std::uint32_t like = kNone);
    [[nodiscard]] std::vector<std::uint32_t>& places_of(std::uint32_t number) {
        return lists_[begun_[number].list];
    }
    [[nodiscard]] bool any_begun() const { return !begun_.empty(); }
    /// Calls fell_apart(new group) for each split, and begins(group, StreamBegun) for each stream
    /// that has begun at all of the group's places.
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
    /// The number of places of a group at which a stream has begun.
    struct Note {
        std::uint32_t begun = 0;
        std::uint32_t places = 0;
    };

    [[nodiscard]] std::size_t owner_of(const StreamBegun& what) const {
        return std::size_t{what.owner.number} * kKinds + what.owner.kind;
    }
    void count();
    /// True if all of the group's notes cover each of its places.
    [[nodiscard]] bool of_all(std::uint32_t group) const;
    /// Moves places whose streams differ from those of the first place into groups of their own,
    /// with their notes. Returns the number of the first new group.
    std::uint32_t tell_apart(std::uint32_t group);
    void forget();

    std::vector<MemoryGroup> groups_;
    std::vector<std::uint32_t> group_of_;  ///< [place]
    // State of the current instant.
    std::vector<Begun> begun_;
    std::vector<std::uint32_t> last_of_owner_;  ///< [owner]: index in begun_
    /// Lists of places; the first lists_in_use_ are in use.
    std::deque<std::vector<std::uint32_t>> lists_;
    std::size_t lists_in_use_ = 0;
    std::vector<std::vector<Note>> notes_;  ///< [group]
    std::vector<std::uint32_t> noted_;      ///< groups that have notes
    std::vector<std::uint32_t> count_;      ///< [group]: zero except during a count
    std::vector<std::uint32_t> counted_;    ///< groups
};

}  // namespace podsim::sim
