#include "scenarios/src/report/event_file.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <fstream>
#include <ostream>
#include <variant>

#include <boost/iostreams/categories.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/base/whole_file.h"

namespace podsim::scenarios {
namespace {

/// Chromium's reader leaves events that begin at 0 out of the bounds of its view (trace_engine,
/// MetaHandler).
constexpr std::int64_t kBegin = 1000;

/// Returns the time in the trace: whole nanoseconds, to the nearest.
std::int64_t nanoseconds(sim::Time time) {
    constexpr std::int64_t kPicoseconds = 1000;
    return kBegin + time.ps / kPicoseconds + (time.ps % kPicoseconds >= kPicoseconds / 2 ? 1 : 0);
}

bool shows(sim::Time start, sim::Time end) {
    return nanoseconds(start) < nanoseconds(end);
}

double microseconds(std::int64_t ns) {
    return static_cast<double>(ns) / 1e3;
}

/// Returns microseconds with up to three decimals, without trailing zeros.
std::string decimals(std::int64_t ns) {
    std::string text = fmt::format("{}.{:03}", ns / 1000, ns % 1000);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') {
        text.pop_back();
    }
    return text;
}

std::string duration_text(sim::Time start, sim::Time end) {
    const std::int64_t ns = nanoseconds(end) - nanoseconds(start);
    const double duration = trace_duration(start, end);
    return duration == microseconds(ns) ? decimals(ns) : fmt::format("{}", duration);
}

std::string json_string(const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string number_or_null(double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

std::string value_text(const Argument& argument) {
    if (const auto* const text = std::get_if<std::string>(&argument.value)) {
        return json_string(*text);
    }
    if (const auto* const whole = std::get_if<std::int64_t>(&argument.value)) {
        return fmt::format("{}", *whole);
    }
    return number_or_null(std::get<double>(argument.value));
}

std::size_t thread_id(std::size_t process, std::size_t track) {
    return 1000 * (process + 1) + track + 1;
}

/// Flows bind only slices of their own category.
const char* category(const Slice& slice) {
    return slice.category == "wait" ? "wait" : "op";
}

/// A file that accepts all bytes, even after an error of the file: boost's filters would retry
/// forever on a sink that accepts none.
class PatientFile {
public:
    using char_type = char;
    using category = boost::iostreams::sink_tag;

    explicit PatientFile(std::ofstream& file) : file_(&file) {}
    std::streamsize write(const char* bytes, std::streamsize count) {
        if (*file_) {
            file_->write(bytes, count);
        }
        return count;
    }

private:
    std::ofstream* file_;
};

}  // namespace

double trace_duration(sim::Time start, sim::Time end) {
    const double from = microseconds(nanoseconds(start));
    const double until = microseconds(nanoseconds(end));
    double duration = microseconds(nanoseconds(end) - nanoseconds(start));
    if (from + duration > until) {
        duration = std::min(duration, until - from);
    }
    while (from + duration > until) {
        duration = std::nextafter(duration, 0.0);
    }
    return duration;
}

TraceEvents::TraceEvents(std::ostream& out, const std::string& name) : out_(out) {
    out_ << R"({"displayTimeUnit":"ms","otherData":{"simulator":"podsim","scenario":)"
         << json_string(name) << "},\"traceEvents\":[";
}

void TraceEvents::finish() {
    out_ << "\n]}\n";
}

void TraceEvents::event(const std::string& text) {
    out_ << (first_ ? "\n" : ",\n") << text;
    first_ = false;
}

void TraceEvents::metadata(std::string_view name, std::size_t thread, std::string_view key,
                           const std::string& value) {
    event(fmt::format(R"({{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{"{}":{}}}}})", name,
                      processes_, thread, key, value));
}

void TraceEvents::process(const Process& process) {
    ++processes_;
    tracks_ = 0;
    const std::size_t thread = thread_id(processes_ - 1, 0);
    metadata("process_name", thread, "name", json_string(process.name));
    metadata("process_sort_index", thread, "sort_index", fmt::format("{}", processes_));
}

void TraceEvents::track(const Track& track) {
    const std::size_t thread = thread_id(processes_ - 1, tracks_++);
    metadata("thread_name", thread, "name", json_string(track.name));
    metadata("thread_sort_index", thread, "sort_index", fmt::format("{}", tracks_));
}

void TraceEvents::slice(const Slice& slice) {
    if (!shows(slice.start, slice.end)) {
        return;
    }
    std::string arguments;
    for (const Argument& argument : slice.arguments) {
        arguments += fmt::format("{}\"{}\":{}", arguments.empty() ? "" : ",", argument.name,
                                 value_text(argument));
    }
    event(fmt::format(
        R"({{"name":{},"cat":"{}","ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
        json_string(slice.name), category(slice), processes_,
        thread_id(processes_ - 1, tracks_ - 1), decimals(nanoseconds(slice.start)),
        duration_text(slice.start, slice.end), arguments));
}

void TraceEvents::counter(const Counter& counter) {
    counter_ = counter;
}

void TraceEvents::sample(const Sample& sample) {
    std::string values;
    for (std::size_t i = 0; i < sample.values.size(); ++i) {
        values += fmt::format("{}{}:{}", i == 0 ? "" : ",", json_string(counter_.series.at(i)),
                              number_or_null(sample.values[i]));
    }
    event(fmt::format(R"({{"name":{},"ph":"C","pid":{},"ts":{},"args":{{{}}}}})",
                      json_string(counter_.name), processes_, decimals(nanoseconds(sample.at)),
                      values));
}

void TraceEvents::flow(const Flow& flow) {
    if (!shows(flow.from.start, flow.from.end) || !shows(flow.to.start, flow.to.end)) {
        return;
    }
    ++flows_;
    const auto phase = [&](const char* text, const Flow::End& end) {
        event(
            fmt::format(R"({{"name":"wait","cat":"op","ph":{},"id":{},"pid":{},"tid":{},"ts":{}}})",
                        text, flows_, end.process + 1, thread_id(end.process, end.track),
                        decimals(nanoseconds(end.start))));
    };
    phase(R"("s")", flow.from);
    phase(R"("f","bp":"e")", flow.to);
}

void write_event_file(const std::string& path, const std::string& name,
                      const std::function<void(TimelineSink&)>& tell) {
    WholeFile file("--trace", path);
    {
        boost::iostreams::filtering_ostream out;
        if (path.ends_with(".gz")) {
            out.push(boost::iostreams::gzip_compressor());
        }
        out.push(PatientFile(file.stream()));
        TraceEvents events(out, name);
        tell(events);
        events.finish();
    }
    file.keep();
}

}  // namespace podsim::scenarios
