// What a step did, when and on what, as a viewer shows it: processes with tracks, slices on them, counters, and flows
// from one slice to another. No file format.
//
// A process is a chip that stands for all that do the same. Its tracks are told of one after the other, and the slices
// of a track in order of time: each begins when the one before it has ended, or later. Names say what kind of thing
// something is and so add up over layers (`qkv`, `AllGather weights`); which one it is stands in the arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/base/time.h"

namespace podsim::scenarios {

/// What is said of a slice beside its name and times. The unit, where there is one, ends the name: `bytes`, `bound_us`.
struct Argument {
    std::string name;
    std::variant<std::int64_t, double, std::string> value;

    friend bool operator==(const Argument&, const Argument&) = default;
};

struct Slice {
    std::string name;      ///< `qkv`, `AllGather weights`, `wait for AllGather weights`, `forward`
    std::string category;  ///< the pass, what a collective is for, or `wait`: slices of one colour
    sim::Time start;
    sim::Time end;  ///< after the start, on every track
    std::vector<Argument> arguments{};
};

enum class TrackKind {
    steps,       ///< the step, in one slice
    layers,      ///< passes over layers, ends of the model, the optimizer
    ops,         ///< the compute stream: operations and waits, which add up to the step
    unit,        ///< how long an operation keeps MXU, VPU or HBM busy
    collective,  ///< of one kind over one mesh axis, on as many lanes as overlap
    transfer,    ///< between stages, and with the host
    link,        ///< messages on one link that leads away from the chip
};

struct Track {
    TrackKind kind{};
    std::string name;  ///< unique within its process
};

/// A stretch of time that is told of in full, links included: a pass over a layer in the middle of the step.
struct SteadyWindow {
    sim::Time from;
    sim::Time until;
    int layer = 0;
    std::string pass;  ///< `forward`, or `backward` with what is recomputed
};

struct Process {
    std::string name;  ///< `/device:TPU:0 stage 1 of 4, context rank 3`
    int stage = 0;
    std::string member{};  ///< where members of a stage do unequal work: `context rank 3`
    sim::Time end;         ///< of the run
    std::vector<SteadyWindow> steady{};  ///< in order of time
};

/// From a slice to the one that waited for it, by their tracks (numbered from 0 in their process) and starts.
struct Flow {
    struct End {
        std::size_t process = 0;
        std::size_t track = 0;
        sim::Time start;
        sim::Time end;
    };
    End from;
    End to;
};

/// Values that change with time, of one chip.
struct Counter {
    std::string name;                   ///< `HBM memory (bytes)`
    std::vector<std::string> series{};  ///< what it consists of: `parameters`, `activations`
};

struct Sample {
    sim::Time at;
    std::vector<double> values{};  ///< by series, from then on; never below 0
};

/// Hears of a timeline in this order: a process; its tracks, each followed by its slices; its counters, each followed by
/// its samples in order of time; then the next process. Flows come last of all.
class TimelineSink {
public:
    TimelineSink() = default;
    TimelineSink(const TimelineSink&) = delete;
    TimelineSink& operator=(const TimelineSink&) = delete;
    virtual ~TimelineSink() = default;

    virtual void process(const Process& process) = 0;
    virtual void track(const Track& track) = 0;
    virtual void slice(const Slice& slice) = 0;
    virtual void counter(const Counter& counter) = 0;
    virtual void sample(const Sample& sample) = 0;
    virtual void flow(const Flow& flow) = 0;
};

/// How much is told.
enum class Detail {
    /// Links only in the steady windows; operations too, by layer elsewhere, where a step has many (kOpsInFull).
    steady,
    all,
};

}  // namespace podsim::scenarios
