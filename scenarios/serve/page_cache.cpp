#include "scenarios/serve/page_cache.h"

#include <algorithm>

namespace podsim::scenarios {

bool PageCache::take(std::int64_t pages) {
    if (pages_.has_value() && used_ + pages > *pages_) {
        return false;
    }
    used_ += pages;
    peak_ = std::max(peak_, used_);
    return true;
}

}  // namespace podsim::scenarios
