#include "scenarios/trace/event_file.h"

#include <cerrno>
#include <fstream>

#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>

#include "scenarios/text/file_error.h"
#include "scenarios/trace/trace_events.h"

namespace podsim::scenarios {

void write_event_file(const std::string& path, const std::string& name,
                      const std::function<void(TimelineSink&)>& tell) {
    errno = 0;
    std::ofstream file(path, std::ios::binary);
    if (!file) {
        throw cannot_write("--trace", path, errno);
    }
    bool arrived = false;
    {
        boost::iostreams::filtering_ostream out;
        if (path.ends_with(".gz")) {
            out.push(boost::iostreams::gzip_compressor());
        }
        out.push(file);
        TraceEvents events(out, name);
        tell(events);
        events.finish();
        out.flush();
        arrived = out.good();
    }
    file.close();
    if (!arrived || !file) {
        throw cannot_write("--trace", path, errno);
    }
}

}  // namespace podsim::scenarios
