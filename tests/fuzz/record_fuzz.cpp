// Reads lines that `--jsonl` and `--json` have written, or may have: as records that are merged, as
// the record of a sweep that resumes (behind the head that the sweep expects, so that more than the
// head is read), and as the result of a step.
#include <filesystem>
#include <sstream>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/study/step_figures.h"
#include "scenarios/src/study/sweep.h"
#include "scenarios/src/study/sweep_merge.h"
#include "scenarios/src/study/sweep_record.h"
#include "sim/base/error.h"
#include "tests/fuzz/memory_file.h"

namespace {

using namespace podsim;

const std::string kFuzzed =
    "name: small\n"
    "hardware: {chip: v5p, slice: 2x2x2}\n"
    "model: {base: llama-3-8b, layers: 2}\n"
    "batch: {tokens: 32Ki, sequence: 4096}\n"
    "mesh: {fsdp: x y z}\n";

void check(const sim::InputError& error) {
    for (const sim::InputError& each : sim::errors_in(error)) {
        fuzz::must(!each.problem().empty());
    }
}

void merge(std::string_view text) {
    const fuzz::MemoryFile file(text);
    try {
        const scenarios::MergedSweep merged({file.path()});
        const std::size_t missing = merged.missing().size();
        fuzz::must(missing < merged.size());
        std::ostringstream out;
        merged.write(out);
        std::size_t lines = 0;
        for (const char c : out.str()) {
            lines += c == '\n' ? 1 : 0;
        }
        fuzz::must(lines == merged.size() - missing);
    } catch (const sim::InputError& error) {
        check(error);
    }
}

/// Returns a sweep that is made once, as it takes longer than its uses.
const scenarios::Sweep& small_sweep() {
    static const scenarios::Sweep sweep(
        scenarios::handed_over("/nowhere", "fuzz.yaml", kFuzzed, true), {},
        {scenarios::parse_varied("batch.tokens=32Ki,64Ki,128Ki")}, {});
    return sweep;
}

void go_on(std::string_view text) {
    const scenarios::Sweep& sweep = small_sweep();
    std::string lines;
    for (std::size_t index = 0; !text.empty() && index < sweep.size(); ++index) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines += scenarios::json_line(sweep.head(index));
        lines.back() = ',';
        lines += text.substr(0, end);
        if (end < text.size()) {
            lines += '\n';
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    const fuzz::MemoryFile file(lines);
    try {
        scenarios::SweepRecord record(sweep, {}, file.path());
        for (const scenarios::SweepRow& row : record.take_finished()) {
            fuzz::must(row.refused() || row.values.size() == scenarios::sweep_columns().size());
        }
    } catch (const sim::InputError& error) {
        check(error);
    }
}

void compare(std::string_view text) {
    try {
        if (const auto document = scenarios::document_in(std::string(text))) {
            static_cast<void>(scenarios::figures_of(*document, "fuzz.json"));
        }
    } catch (const sim::InputError& error) {
        check(error);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text_of(data, size);
    merge(text);
    go_on(text);
    compare(text);
    return 0;
}
