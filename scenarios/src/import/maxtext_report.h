// Report on the keys of a MaxText run, as text and JSON.
#pragma once

#include <string>
#include <vector>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/import/maxtext_import.h"

namespace podsim::scenarios {

/// Returns a line for each key: used ones with values, those that change nothing with the reason,
/// those that cannot be expressed, and notes. The file's unread keys are only counted.
std::string maxtext_report(const MaxTextSettings& settings, const MaxTextImport& result);

/// Returns the reasons for which podsim does not run the scenario, though MaxText may run it; empty
/// if podsim runs it.
std::vector<std::string> maxtext_problems(const MaxTextImport& result);

/// Returns the text with `# ` before every line.
std::string as_comments(const std::string& text);

/// Returns the scenario, its notes, podsim's objections, and every key.
Json maxtext_json(const MaxTextSettings& settings, const MaxTextImport& result);

}  // namespace podsim::scenarios
