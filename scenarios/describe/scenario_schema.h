// The JSON Schema of scenarios (draft 2020-12), for editors that complete and check YAML.
//
// Keys, their places, examples, defaults and meanings are those of the schema's table, the names and kinds of values those that the
// loader asks for (probes.h). It takes every scenario that podsim takes, and not only those: which keys go together, and what
// fits a slice, is the loader's to say. Names of chips and models are offered; others are texts, too.
#pragma once

#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

Json scenario_schema();

}  // namespace podsim::scenarios
