#include "scenarios/src/scenario/reading_log.h"

namespace podsim::scenarios {

Asked& ReadingLog::at(const std::string& place, const std::string& path) {
    const auto [found, added] = place_.try_emplace(place, asked_.size());
    if (added) {
        Asked& asked = asked_.emplace_back();
        asked.place = place;
        asked.path = path;
    }
    return asked_[found->second];
}

const Asked* ReadingLog::find(std::string_view place) const {
    const auto found = place_.find(place);
    return found == place_.end() ? nullptr : &asked_[found->second];
}

void ReadingLog::settle() {
    for (Asked& asked : asked_) {
        for (const auto& [place, source] : bases_) {
            if (!asked.said && asked.place.starts_with(place + '.')) {
                asked.source = source;
                asked.of_base = true;
            }
        }
    }
}

}  // namespace podsim::scenarios
