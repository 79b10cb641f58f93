#include "scenarios/trace/event_file.h"

#include <fstream>

#include <boost/iostreams/categories.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>

#include "scenarios/text/whole_file.h"
#include "scenarios/trace/trace_events.h"

namespace podsim::scenarios {
namespace {

/// Takes all that comes, also after the file has refused something: filters in front of a sink that takes nothing would
/// try for ever.
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
