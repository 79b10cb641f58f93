// What became of the keys of a MaxText run, as text and JSON.
#pragma once

#include <string>
#include <vector>

#include "scenarios/import/maxtext_import.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

/// A line a key: used ones with values, those that change nothing with the reason, those that cannot be expressed, notes. Of the
/// file's keys that are not read only the number.
std::string maxtext_report(const MaxTextSettings& settings, const MaxTextImport& result);

/// Why podsim does not run the scenario, though MaxText may run it; nothing where it does.
std::vector<std::string> maxtext_problems(const MaxTextImport& result);

/// Every line with `# ` before it.
std::string as_comments(const std::string& text);

/// The scenario, its notes, what podsim says against it, and every key.
Json maxtext_json(const MaxTextSettings& settings, const MaxTextImport& result);

}  // namespace podsim::scenarios
