// Traces as CSV: accepted rows, and errors of the others.
#include <gtest/gtest.h>

#include "scenarios/src/scenario/read_requests.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

std::string trace_error_of(const std::string& text) {
    try {
        (void)parse_trace(text, "t.csv");
    } catch (const sim::InputError& error) {
        return error.what();
    }
    return "none";
}

TEST(TraceFile, finds_columns_by_their_names) {
    const std::vector<Request> requests = parse_trace(
        "\xef\xbb\xbfoutput, prompt,class,arrival_s,prefix\r\n"
        "3,10,1,0.25,9\r\n"
        "\r\n"
        "1, 2,0,2.5,0",
        "t.csv");
    ASSERT_EQ(requests.size(), 2U);
    EXPECT_EQ(requests[0].arrival.ps, 250000000000);
    EXPECT_EQ(requests[0].prompt, 10);
    EXPECT_EQ(requests[0].output, 3);
    EXPECT_EQ(requests[0].prefix, 9);
    EXPECT_EQ(requests[0].priority, 1);
    EXPECT_EQ(requests[1].arrival.ps, 2500000000000);
    EXPECT_EQ(requests[1].prefix, 0);
}

/// The double next to 100.001 is 100.00100000000000477, which would round up to one picosecond
/// more. Digits beyond a picosecond do round up.
TEST(TraceFile, arrivals_are_what_is_written) {
    const std::vector<Request> requests = parse_trace(
        "arrival_s,prompt,output\n.5,1,1\n1.,1,1\n1.0000000000010,1,1\n1.00000000000101,1,1\n"
        "100.001,1,1\n2e2,1,1\n0999999.000001,1,1\n1000000,1,1\n",
        "t.csv");
    std::vector<std::int64_t> ps;
    for (const Request& request : requests) {
        ps.push_back(request.arrival.ps);
    }
    EXPECT_EQ(ps, (std::vector<std::int64_t>{500000000000, 1000000000000, 1000000000001,
                                             1000000000002, 100001000000000, 200000000000000,
                                             999999000001000000, 1000000000000000000}));
}

TEST(TraceFile, says_what_is_wrong_and_where) {
    EXPECT_EQ(trace_error_of(""),
              "t.csv:1:1: the trace has no column 'arrival_s'; begin it with a line such as "
              "arrival_s,prompt,output");
    EXPECT_EQ(trace_error_of("arrival_s,promt,output\n"),
              "t.csv:1:11: unknown column 'promt'; did you mean 'prompt'? allowed: arrival_s, "
              "prompt, output, prefix, class");
    EXPECT_EQ(trace_error_of("arrival_s,prompt,prompt\n"),
              "t.csv:1:18: the column 'prompt' stands twice; leave one out");
    EXPECT_EQ(trace_error_of("arrival_s,prompt\n"),
              "t.csv:1:1: the trace has no column 'output'; begin it with a line such as "
              "arrival_s,prompt,output");
    const std::string head = "arrival_s,prompt,output,prefix\n";
    EXPECT_EQ(trace_error_of(head),
              "t.csv:1:1: the trace has no requests; write a line for each below the header");
    EXPECT_EQ(trace_error_of(head + "0,1\n"),
              "t.csv:2:1: 2 cells where the header has 4; write one for each column");
    EXPECT_EQ(trace_error_of(head + "0;1;1;0\n"),
              "t.csv:2:1: 1 cell where the header has 4; write one for each column");
    EXPECT_EQ(trace_error_of(head + "0,1,1,0\n0,x,1,0\n"),
              "t.csv:3:3: 'x' is no prompt; write a whole number from 1 to 16777216");
    EXPECT_EQ(trace_error_of(head + "0,5,1,5\n"),
              "t.csv:2:7: '5' is no prefix; write a whole number from 0 to 4");
    EXPECT_EQ(trace_error_of(head + "-1,5,1,0\n"),
              "t.csv:2:1: '-1' is no arrival; write seconds from 0 to 1000000");
    EXPECT_EQ(trace_error_of(head + "nan,5,1,0\n"),
              "t.csv:2:1: 'nan' is no arrival; write seconds from 0 to 1000000");
    EXPECT_EQ(trace_error_of(head + "2,5,1,0\n1,5,1,0\n"),
              "t.csv:3:1: the request arrives before the one above it; sort the rows by arrival");
}

}  // namespace
}  // namespace podsim::scenarios
