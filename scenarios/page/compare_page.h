// Scenarios beside their references as a page.
#pragma once

#include "scenarios/page/page.h"

namespace podsim::scenarios {

/// `result`: what --json writes.
Page compare_page(Json result);

}  // namespace podsim::scenarios
