#include "scenarios/src/study/sweep_record.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <sstream>
#include <utility>
#include <variant>

#include "scenarios/src/base/file_error.h"
#include "scenarios/src/base/memory_limit.h"
#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

std::string read_whole(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

/// Returns the start of a setting's line, up to the brace that closes its head.
std::string start_of_line(const Sweep& sweep, std::size_t index) {
    std::string text = json_line(sweep.head(index));
    text.pop_back();
    return text;
}

[[noreturn]] void refuse(const std::string& path, std::size_t line) {
    throw sim::InputError("the file holds something else than the results of this sweep",
                          "give --jsonl another path, or remove the file to begin anew",
                          {path, static_cast<int>(line), 1});
}

/// True if an unfinished line may be the beginning of the setting's.
bool may_become(const std::string& cut, const Sweep& sweep, std::size_t index) {
    if (index >= sweep.size()) {
        return false;
    }
    const std::string start = start_of_line(sweep, index);
    const std::size_t common = std::min(start.size(), cut.size());
    return start.compare(0, common, cut, 0, common) == 0;
}

/// True if a value is of its quantity's kind. A value without a number of its own is not.
bool is_of_kind(const Value& value, ValueUnit unit) {
    return unit == ValueUnit::text    ? std::holds_alternative<std::string>(value)
           : unit == ValueUnit::truth ? std::holds_alternative<bool>(value)
                                      : std::holds_alternative<std::int64_t>(value) ||
                                            std::holds_alternative<double>(value);
}

/// True if a line says that podsim might not take an amount of memory that it may take now.
bool may_run_now(const std::string& text) {
    const Value needs = value_at(Json::parse(text), kNeedsMemory);
    return number_of(needs) > 0 && number_of(needs) <= memory_limit();
}

/// True for a column that every step has.
bool is_of_every_step(const QuantityName& column) {
    return column.part == JsonPart::times || column.part == JsonPart::rates ||
           column.part == JsonPart::memory || column.name == "bound" ||
           column.name == "roofline_lower";
}

}  // namespace

SweepShard parse_shard(const std::string& text) {
    const auto refuse = [&] {
        return sim::InputError(
            fmt::format("{} is no shard", in_quotes(text)),
            fmt::format("write i/n, as in 3/16: i from 0 to n - 1, n at most {}", kMostShards));
    };
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) {
        throw refuse();
    }
    std::int64_t number = 0;
    std::int64_t of = 0;
    try {
        number = parse_count(text.substr(0, slash));
        of = parse_count(text.substr(slash + 1));
    } catch (const sim::InputError&) {
        throw refuse();
    }
    if (number < 0 || of < 1 || number >= of || of > static_cast<std::int64_t>(kMostShards)) {
        throw refuse();
    }
    return {static_cast<std::size_t>(number), static_cast<std::size_t>(of)};
}

bool holds_row(const std::string& text) {
    const Json line = Json::parse(text, nullptr, false);
    if (!line.is_object() || text.ends_with('\r')) {
        return false;
    }
    if (line.contains("error")) {
        return line["error"].is_string();
    }
    if (line.contains("warnings") &&
        !(line["warnings"].is_array() &&
          std::ranges::all_of(line["warnings"], [](const Json& one) { return one.is_string(); }))) {
        return false;
    }
    return std::ranges::all_of(sweep_columns(), [&](const QuantityName& column) {
        const Value value = value_at(line, column.key);
        return std::holds_alternative<std::monostate>(value) ? !is_of_every_step(column)
                                                             : is_of_kind(value, column.unit);
    });
}

SweepRow sweep_row(const std::string& text, std::size_t index) {
    const Json line = Json::parse(text);
    SweepRow row;
    row.index = index;
    if (line.contains("error")) {
        row.error = line["error"].get<std::string>();
        return row;
    }
    for (const QuantityName& column : sweep_columns()) {
        row.values.push_back(value_at(line, column.key));
    }
    if (line.contains("warnings")) {
        row.warnings = line["warnings"].get<std::vector<std::string>>();
    }
    return row;
}

SweepRecord::SweepRecord(const Sweep& sweep, const SweepShard& shard, const std::string& path)
    : path_(path), lock_(path, "sweep") {
    std::size_t kept = 0;
    if (std::filesystem::is_regular_file(path)) {
        const std::string text = read_whole(path);
        // offset and number of the lines before
        std::optional<std::pair<std::size_t, std::size_t>> again;
        for (std::size_t end = 0; (end = text.find('\n', kept)) != std::string::npos;
             kept = end + 1) {
            const std::string line = text.substr(kept, end - kept);
            const std::size_t index = shard.setting(finished_.size());
            checks_.look_at(line, {path, static_cast<int>(finished_.size() + 1), 1});
            if (index >= sweep.size() || !line.starts_with(start_of_line(sweep, index)) ||
                !holds_row(line)) {
                refuse(path, finished_.size() + 1);
            }
            SweepRow row = sweep_row(line, index);
            if (!again.has_value() && row.refused() && may_run_now(line)) {
                again = {kept, finished_.size()};
            }
            finished_.push_back(std::move(row));
        }
        const std::string rest = text.substr(kept);
        if (!rest.empty()) {
            if (!may_become(rest, sweep, shard.setting(finished_.size()))) {
                refuse(path, finished_.size() + 1);
            }
            std::filesystem::resize_file(path, kept);
        }
        if (again.has_value()) {
            finished_.resize(again->second);
            std::filesystem::resize_file(path, again->first);
        }
    }
    errno = 0;
    file_.open(path, std::ios::binary | std::ios::app);
    if (!file_) {
        throw cannot_write("--jsonl", path, errno);
    }
}

void SweepRecord::add(const SweepLine& line) {
    errno = 0;
    file_ << line.text << std::flush;
    if (!file_) {
        throw cannot_write("--jsonl", path_, errno);
    }
}

}  // namespace podsim::scenarios
