#include "sim/memory/memory_groups.h"

#include <algorithm>
#include <map>

namespace podsim::sim {

MemoryGroups::MemoryGroups(const Workload& workload, const std::vector<bool>& at_risk,
                           bool together) {
    if (at_risk.empty()) {
        return;
    }
    const std::size_t places = workload.machine.places;
    const std::int64_t rate = workload.machine.memory_rate;
    if (together) {
        for (const bool risk : at_risk) {
            groups_.emplace_back(rate, risk);
        }
        group_of_ = workload.graph_of_place;
    } else {
        groups_.reserve(places);
        for (std::uint32_t place = 0; place < places; ++place) {
            groups_.emplace_back(rate, at_risk[workload.graph_of_place[place]]);
            group_of_.push_back(place);
        }
    }
    for (std::uint32_t place = 0; place < places; ++place) {
        groups_[group_of_[place]].places.push_back(place);
    }
    notes_.resize(groups_.size());
    count_.resize(groups_.size());
}

std::uint32_t MemoryGroups::number_of(const StreamBegun& what, const std::uint32_t* row,
                                      std::uint32_t like) {
    const std::size_t owner = owner_of(what);
    if (owner >= last_of_owner_.size()) {
        last_of_owner_.resize(owner + 1, kNone);
    }
    for (std::uint32_t i = last_of_owner_[owner]; i != kNone; i = begun_[i].before) {
        if (begun_[i].what == what) {
            return i;
        }
    }
    std::uint32_t list = like != kNone ? begun_[like].list : kNone;
    if (list == kNone) {
        list = static_cast<std::uint32_t>(lists_in_use_++);
        lists_.resize(std::max(lists_.size(), lists_in_use_));
    }
    const auto number = static_cast<std::uint32_t>(begun_.size());
    begun_.push_back({what, std::exchange(last_of_owner_[owner], number), list, row});
    return number;
}

void MemoryGroups::count() {
    const std::uint32_t* const group_of = group_of_.data();
    for (std::uint32_t number = 0; number < begun_.size(); ++number) {
        const Begun& begun = begun_[number];
        for (const std::uint32_t place : lists_[begun.list]) {
            const std::uint32_t group = group_of[begun.row == nullptr ? place : begun.row[place]];
            if (count_[group]++ == 0) {
                counted_.push_back(group);
            }
        }
        for (const std::uint32_t group : counted_) {
            const std::uint32_t places = std::exchange(count_[group], 0);
            if (groups_[group].at_risk) {
                if (notes_[group].empty()) {
                    noted_.push_back(group);
                }
                notes_[group].push_back({number, places});
            }
        }
        counted_.clear();
    }
}

bool MemoryGroups::of_all(std::uint32_t group) const {
    return std::ranges::all_of(notes_[group], [&](const Note& note) {
        return note.places == groups_[group].places.size();
    });
}

void MemoryGroups::forget() {
    for (const Begun& begun : begun_) {
        last_of_owner_[owner_of(begun.what)] = kNone;
    }
    for (std::size_t list = 0; list < lists_in_use_; ++list) {
        lists_[list].clear();
    }
    lists_in_use_ = 0;
    noted_.clear();
    begun_.clear();
}

std::uint32_t MemoryGroups::tell_apart(std::uint32_t group) {
    // By place, ascending.
    std::map<std::uint32_t, std::vector<std::uint32_t>> happened;
    for (const Note& note : notes_[group]) {
        const Begun& begun = begun_[note.begun];
        for (const std::uint32_t listed : lists_[begun.list]) {
            const std::uint32_t place = begun.row == nullptr ? listed : begun.row[listed];
            if (group_of_[place] == group) {
                happened[place].push_back(note.begun);
            }
        }
    }
    std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> alike;
    const std::vector<std::uint32_t> all = std::move(groups_[group].places);
    for (const std::uint32_t place : all) {
        alike[happened[place]].push_back(place);
    }
    const std::vector<std::uint32_t> of_first = happened[all.front()];
    const auto first = static_cast<std::uint32_t>(groups_.size());
    for (auto& [begun, places] : alike) {
        std::uint32_t number = group;
        if (begun != of_first) {
            number = static_cast<std::uint32_t>(groups_.size());
            groups_.push_back(MemoryGroup(groups_[group]));
            notes_.emplace_back();
            count_.push_back(0);
            if (!begun.empty()) {
                noted_.push_back(number);
            }
        }
        notes_[number].clear();
        for (const std::uint32_t each : begun) {
            notes_[number].push_back({each, static_cast<std::uint32_t>(places.size())});
        }
        for (const std::uint32_t place : places) {
            group_of_[place] = number;
        }
        groups_[number].places = std::move(places);
    }
    return first;
}

}  // namespace podsim::sim
