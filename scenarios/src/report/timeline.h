// The history of a step as a viewer shows it: processes with tracks, slices on them, counters, and
// flows from one slice to another. It has no file format.
//
// A process is a chip that stands for all chips with the same work. Its tracks follow one after the
// other, and a track's slices in order of time: none begins before its predecessor has ended. A
// name is that of a kind, so that times add up over layers (`qkv`, `AllGather weights`); the
// arguments identify the instance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/base/time.h"

namespace podsim::scenarios {

/// A property of a slice beside its name and times. A unit, if any, ends the name: `bytes`,
/// `bound_us`.
struct Argument {
    std::string name;
    std::variant<std::int64_t, double, std::string> value;

    friend bool operator==(const Argument&, const Argument&) = default;
};

struct Slice {
    std::string name;  ///< `qkv`, `AllGather weights`, `wait for AllGather weights`, `forward`
    /// The pass, the purpose of a collective, or `wait`: slices of one colour.
    std::string category;
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
    link,        ///< messages on one link that leaves the chip
};

struct Track {
    TrackKind kind{};
    std::string name;  ///< unique within its process
};

/// A pass over a layer in the middle of the step, which is shown in full, links included.
struct SteadyWindow {
    sim::Time from;
    sim::Time until;
    int layer = 0;
    std::string pass;  ///< `forward`, or `backward` with its recomputation
};

struct Process {
    std::string name;  ///< `/device:TPU:0 stage 1 of 4, context rank 3`
    int stage = 0;
    /// Set if members of a stage do unequal work: `context rank 3`.
    std::string member{};
    sim::Time end;                       ///< of the run
    std::vector<SteadyWindow> steady{};  ///< in order of time
};

/// From a slice to the one that waited for it, by their tracks (numbered from 0 in their process)
/// and starts.
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

/// Values of one chip that change with time.
struct Counter {
    std::string name;  ///< `HBM memory (bytes)`
    /// Its components: `parameters`, `activations`.
    std::vector<std::string> series{};
};

struct Sample {
    sim::Time at;
    std::vector<double> values{};  ///< by series, from then on; never below 0
};

/// Receiver of a timeline. The order of calls is: a process; its tracks, each followed by its
/// slices; its counters, each followed by its samples in order of time; then the next process.
/// Flows come last.
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

/// Amount of detail in a timeline.
enum class Detail {
    /// Links only in the steady windows. In a step of many operations (kOpsInFull) so are
    /// operations, with layers elsewhere.
    steady,
    all,
};

}  // namespace podsim::scenarios
