#include "workloads/hlo/group_places.h"

#include <algorithm>
#include <utility>

namespace podsim::workloads::hlo {

namespace {

using Numbers = std::vector<std::int64_t>;

}  // namespace

Places places_of(const std::vector<Digit>& order) {
    Places places;
    std::int64_t at = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
        if (order[i].length == 1) {
            continue;
        }
        if (!places.empty() && order[i].stride == places.back().stride * places.back().length) {
            places.back().length *= order[i].length;  // continues the faster digit
        } else {
            places.push_back({at, order[i].stride, order[i].length});
        }
        at *= order[i].length;
    }
    std::ranges::reverse(places);
    return places;
}

bool cut_at(Places& places, std::int64_t cut) {
    const auto found = std::ranges::find_if(places, [&](const Place& place) {
        return place.at < cut && cut < place.at * place.length;
    });
    if (found == places.end()) {
        return true;
    }
    const Place whole = *found;
    if (cut % whole.at != 0 || whole.at * whole.length % cut != 0) {
        return false;
    }
    const std::int64_t inner = cut / whole.at;
    *found = {whole.at, whole.stride, inner};
    places.insert(found, {cut, whole.stride * inner, whole.length / inner});
    return true;
}

Numbers counted(const std::vector<Digit>& order) {
    Numbers all{0};
    for (const Digit& digit : order) {
        Numbers next;
        next.reserve(all.size() * static_cast<std::size_t>(digit.length));
        for (const std::int64_t base : all) {
            for (std::int64_t i = 0; i < digit.length; ++i) {
                next.push_back(base + i * digit.stride);
            }
        }
        all = std::move(next);
    }
    return all;
}

std::int64_t ids_in(const std::vector<Digit>& order) {
    std::int64_t all = 1;
    for (const Digit& digit : order) {
        all *= digit.length;
    }
    return all;
}

DeviceGroups cut_up(const Numbers& flat, std::int64_t size) {
    DeviceGroups all;
    for (std::size_t i = 0; i < flat.size(); i += static_cast<std::size_t>(size)) {
        all.groups.emplace_back(flat.begin() + static_cast<std::ptrdiff_t>(i),
                                flat.begin() + static_cast<std::ptrdiff_t>(i) + size);
    }
    return all;
}

}  // namespace podsim::workloads::hlo
