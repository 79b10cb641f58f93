// Writes the results of a sweep as a table and as CSV, in the order of the settings or sorted by a
// column.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/src/study/sweep.h"

namespace podsim::scenarios {

/// A column of the CSV by which to sort.
struct SortBy {
    std::string column;
    bool descending = false;
};

/// Returns the names of the columns behind the varied keys.
std::vector<std::string> sweep_column_names();

/// Reads `mfu` or `mfu:desc`: a varied key or a column of the CSV. Throws sim::InputError with the
/// nearest name.
SortBy parse_sort(const std::string& text, const Sweep& sweep);

/// Sorts the rows of a sweep: numbers by size, text by letter, a varied key in the order in which
/// its values were given. Equal rows stay in the order of the settings; rows without the value and
/// refused settings are last.
void sort_rows(std::vector<SweepRow>& rows, const SortBy& by, const Sweep& sweep);

/// Returns one row per setting: the varied keys, then the most important results, or why `run`
/// refuses it.
std::string sweep_table(std::span<const SweepRow> rows, const Sweep& sweep);

/// Returns a header and one row per setting: the varied keys, then the values under their JSON keys
/// (`memory.fits` for nested ones), `error` last. A cell is empty if a row lacks the value. There
/// are no wall times: the same input gives the same text.
std::string sweep_results_csv(std::span<const SweepRow> rows, const Sweep& sweep);

}  // namespace podsim::scenarios
