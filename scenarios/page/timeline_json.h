// A timeline as columns, for the page that draws it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scenarios/text/json_text.h"
#include "scenarios/timeline/collected.h"

namespace podsim::scenarios {

/// `names`, `categories`, `texts` (what the arguments of slices say) are lists that slices point into; `processes` have tracks, and of
/// each track the columns `gap_ps` (from the end of the slice before to the start), `duration_ps`, `name_of`,
/// `category_of`, `text_of` and `layer_of` (-1: none). The process numbered `first` comes first. With more than `most`
/// slices in all, tracks of the last processes are left out but for steps and layers; then links, then whatever has too many;
/// a sentence for each such loss goes into `lost`.
Json timeline_json(const Timeline& timeline, std::size_t first, std::size_t most,
                   std::vector<std::string>& lost);

/// The counter of memory of a process: `chip`, `series`, `at_s`, `bytes` (a list by series), `end_s`. Null without one.
Json memory_json(const Timeline::FilledProcess& process, bool alone);

}  // namespace podsim::scenarios
