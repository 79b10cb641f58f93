#include "scenarios/src/report/timeline_json.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace podsim::scenarios {
namespace {

constexpr std::string_view kMemory = "HBM memory (bytes)";

std::string_view to_string(TrackKind kind) {
    switch (kind) {
        case TrackKind::steps:
            return "steps";
        case TrackKind::layers:
            return "layers";
        case TrackKind::ops:
            return "ops";
        case TrackKind::unit:
            return "unit";
        case TrackKind::collective:
            return "collective";
        case TrackKind::transfer:
            return "transfer";
        case TrackKind::link:
            break;
    }
    return "link";
}

/// Distinct texts, numbered in order of first use.
class Words {
public:
    std::size_t of(const std::string& word) {
        const auto [found, added] = numbers_.try_emplace(word, words_.size());
        if (added) {
            words_.push_back(word);
        }
        return found->second;
    }
    [[nodiscard]] const std::vector<std::string>& all() const { return words_; }

private:
    std::map<std::string, std::size_t> numbers_;
    std::vector<std::string> words_;
};

std::string text_of(const Argument& argument) {
    return std::visit(
        [&](const auto& value) { return fmt::format("{}: {}", argument.name, value); },
        argument.value);
}

class Columns {
public:
    Json track(const Timeline::FilledTrack& track) {
        Json json = {{"kind", to_string(track.track.kind)}, {"name", track.track.name}};
        for (const char* const column :
             {"gap_ps", "duration_ps", "name_of", "category_of", "text_of", "layer_of"}) {
            json[column] = Json::array();
        }
        sim::Time before;
        for (const Slice& slice : track.slices) {
            json["gap_ps"].push_back((slice.start - before).ps);
            json["duration_ps"].push_back((slice.end - slice.start).ps);
            json["name_of"].push_back(names_.of(slice.name));
            json["category_of"].push_back(categories_.of(slice.category));
            add_arguments(slice, json);
            before = slice.end;
        }
        return json;
    }

    [[nodiscard]] Json whole(Json processes) const {
        return {{"names", names_.all()},
                {"categories", categories_.all()},
                {"texts", texts_.all()},
                {"processes", std::move(processes)}};
    }

private:
    /// Adds the layer as a column of its own, so that the text of the other arguments is the same
    /// in every layer. `op`, which only gives the position in the step, is left out.
    void add_arguments(const Slice& slice, Json& json) {
        std::int64_t layer = -1;
        std::vector<std::string> said;
        for (const Argument& argument : slice.arguments) {
            if (argument.name == "layer") {
                layer = std::get<std::int64_t>(argument.value);
            } else if (argument.name != "op") {
                said.push_back(text_of(argument));
            }
        }
        json["layer_of"].push_back(layer);
        json["text_of"].push_back(texts_.of(fmt::format("{}", fmt::join(said, "; "))));
    }

    Words names_;
    Words categories_;
    Words texts_;
};

Json steady_json(const Process& process) {
    Json array = Json::array();
    for (const SteadyWindow& window : process.steady) {
        array.push_back({{"from_ps", window.from.ps},
                         {"until_ps", window.until.ps},
                         {"layer", window.layer},
                         {"pass", window.pass}});
    }
    return array;
}

/// Returns which tracks of a process are kept; `left` is the number of slices that still fit.
std::vector<bool> kept_tracks(const Timeline::FilledProcess& process, std::size_t& left) {
    std::vector<bool> kept(process.tracks.size());
    const auto keep = [&](const auto& wanted) {
        for (std::size_t i = 0; i < kept.size(); ++i) {
            const std::size_t slices = process.tracks[i].slices.size();
            if (!kept[i] && wanted(process.tracks[i].track.kind) && slices <= left) {
                kept[i] = true;
                left -= slices;
            }
        }
    };
    keep([](TrackKind kind) { return kind == TrackKind::steps || kind == TrackKind::layers; });
    keep([](TrackKind kind) { return kind == TrackKind::ops; });
    keep([](TrackKind kind) { return kind == TrackKind::collective; });
    keep([](TrackKind kind) { return kind != TrackKind::link; });
    keep([](TrackKind) { return true; });
    return kept;
}

}  // namespace

void TimelineCollector::process(const Process& process) {
    timeline_.processes.push_back({.process = process});
}

void TimelineCollector::track(const Track& track) {
    timeline_.processes.back().tracks.push_back({.track = track});
}

void TimelineCollector::slice(const Slice& slice) {
    timeline_.processes.back().tracks.back().slices.push_back(slice);
}

void TimelineCollector::counter(const Counter& counter) {
    timeline_.processes.back().counters.push_back({.counter = counter});
}

void TimelineCollector::sample(const Sample& sample) {
    timeline_.processes.back().counters.back().samples.push_back(sample);
}

void TimelineCollector::flow(const Flow& flow) {
    timeline_.flows.push_back(flow);
}

Json timeline_json(const Timeline& timeline, std::size_t first, std::size_t most,
                   std::vector<std::string>& lost) {
    std::vector<std::size_t> order(timeline.processes.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return i != first; });
    Columns columns;
    Json processes = Json::array();
    std::size_t dropped = 0;
    std::size_t left = most;
    for (const std::size_t number : order) {
        const Timeline::FilledProcess& process = timeline.processes[number];
        const std::vector<bool> kept = kept_tracks(process, left);
        Json tracks = Json::array();
        for (std::size_t i = 0; i < kept.size(); ++i) {
            if (kept[i]) {
                tracks.push_back(columns.track(process.tracks[i]));
            }
        }
        dropped += kept.size() - tracks.size();
        if (!tracks.empty()) {
            processes.push_back({{"name", process.process.name},
                                 {"end_s", decimal_seconds(process.process.end)},
                                 {"steady", steady_json(process.process)},
                                 {"tracks", std::move(tracks)}});
        }
    }
    if (dropped > 0) {
        lost.push_back(fmt::format(
            "{} tracks of the timeline are left out to fit; podsim run --trace has them.",
            dropped));
    }
    return columns.whole(std::move(processes));
}

Json memory_json(const Timeline::FilledProcess& process, bool alone) {
    const auto found = std::ranges::find_if(
        process.counters, [](const auto& counter) { return counter.counter.name == kMemory; });
    if (found == process.counters.end()) {
        return nullptr;
    }
    Json at = Json::array();
    Json bytes = Json::array();
    for (std::size_t i = 0; i < found->counter.series.size(); ++i) {
        bytes.push_back(Json::array());
    }
    for (const Sample& sample : found->samples) {
        at.push_back(decimal_seconds(sample.at));
        for (std::size_t i = 0; i < sample.values.size(); ++i) {
            bytes[i].push_back(sample.values[i]);
        }
    }
    return {{"chip", alone ? "" : process.process.name},
            {"series", found->counter.series},
            {"at_s", std::move(at)},
            {"bytes", std::move(bytes)},
            {"end_s", decimal_seconds(process.process.end)}};
}

}  // namespace podsim::scenarios
