// The JSON Schema of scenarios (draft 2020-12), for editors that complete and check YAML.
//
// Keys, their positions, examples, defaults and meanings are those of the schema's table; the names
// and kinds of values are those that the loader asks for (probes.h). The schema accepts every
// scenario that podsim accepts, and others: only the loader knows which keys go together, and what
// fits a slice. Names of chips and models are offered; other texts are accepted, too.
#pragma once

#include "scenarios/src/base/json_text.h"

namespace podsim::scenarios {

Json scenario_schema();

}  // namespace podsim::scenarios
