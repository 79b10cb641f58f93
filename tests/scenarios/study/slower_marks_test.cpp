// Rows of a sweep whose faster hardware gives a slower step have a mark; others do not.
#include "scenarios/src/study/slower_marks.h"

#include <gmock/gmock.h>
#include <string>
#include <vector>

#include "scenarios/src/study/sweep_table.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/study/small_sweep.h"

namespace podsim::scenarios {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class SlowerMarks : public CommandTest {
protected:
    [[nodiscard]] Sweep sweep_over(const std::vector<std::string>& vary) const {
        std::vector<Varied> varied;
        for (const std::string& text : vary) {
            varied.push_back(parse_varied(text));
        }
        return {ScenarioSource{file_}, {}, std::move(varied), {}};
    }
    /// Returns rows of these step times, in milliseconds; 0: refused.
    static std::vector<SweepRow> rows_of(const std::vector<double>& times, double prefetch = 1) {
        std::vector<SweepRow> rows;
        for (const double time : times) {
            SweepRow row{.index = rows.size(), .values = {}, .error = time == 0 ? "refused" : ""};
            for (const QuantityName& column : sweep_columns()) {
                row.values.emplace_back(column.name == "step_time"         ? Value(time * 1e-3)
                                        : column.name == "prefetch_layers" ? Value(prefetch)
                                                                           : Value());
            }
            rows.push_back(std::move(row));
        }
        return rows;
    }

    const std::string file_ = write(small_sweep::kSmall);
};

// Values in any order, and units of any kind: the row is compared with the next slower value. Half
// a per cent is noise and not reported.
TEST_F(SlowerMarks, OfARateNameTheNextSlowerValue) {
    const Sweep sweep = sweep_over({"hardware.chip.ici_one_way=[0.36 TB/s, 90 GB/s, 180 GB/s]"});
    EXPECT_THAT(slower_marks(rows_of({791, 761, 738}), sweep),
                ElementsAre("7.2 % slower than with 180 GB/s", "", ""));
    EXPECT_THAT(slower_marks(rows_of({741, 761, 738}), sweep), ElementsAre("", "", ""));
    // A refused neighbour is skipped.
    EXPECT_THAT(slower_marks(rows_of({791, 761, 0}), sweep),
                ElementsAre("3.9 % slower than with 90 GB/s", "", ""));
}

TEST_F(SlowerMarks, OfALatencyGoTheOtherWay) {
    const Sweep sweep = sweep_over({"hardware.chip.ici_latency=1 us,100 ns"});
    EXPECT_THAT(slower_marks(rows_of({100, 102}), sweep),
                ElementsAre("", "2.0 % slower than with 1 us"));
    EXPECT_THAT(slower_marks(rows_of({102, 100}), sweep), ElementsAre("", ""));
}

// Rows are compared only if they differ in one key alone, and only if that key is a resource.
TEST_F(SlowerMarks, CompareRowsAlikeInAllElse) {
    const Sweep sweep = sweep_over({"hardware.profile.hbm=0.8,0.9", "batch.tokens=32Ki,64Ki"});
    EXPECT_THAT(slower_marks(rows_of({100, 200, 99, 220}), sweep),
                ElementsAre("", "", "", "10.0 % slower than with 0.8"));
}

// If memory lowers the look-ahead of one of them, memory is the cause, not the resource.
TEST_F(SlowerMarks, LeaveAnotherLookAheadToMemory) {
    const Sweep sweep = sweep_over({"hardware.chip.ici_one_way=90 GB/s,180 GB/s"});
    std::vector<SweepRow> rows = rows_of({100, 110});
    EXPECT_THAT(slower_marks(rows, sweep), ElementsAre("", "10.0 % slower than with 90 GB/s"));
    rows.front() = rows_of({100}, 0).front();
    EXPECT_THAT(slower_marks(rows, sweep), ElementsAre("", ""));
}

// Only a table with marks has the note under it.
TEST_F(SlowerMarks, AreExplainedUnderTheTable) {
    const Sweep sweep = sweep_over({"hardware.chip.ici_one_way=90 GB/s,180 GB/s"});
    const std::string note = "A row that takes longer with a faster resource";
    std::vector<SweepRow> rows{sweep.run(0).row, sweep.run(1).row};
    EXPECT_THAT(sweep_table(rows, sweep), Not(HasSubstr(note)));
    std::swap(rows[0].index, rows[1].index);
    EXPECT_THAT(sweep_table(rows, sweep), HasSubstr(" % slower than with 90 GB/s\n"));
    EXPECT_THAT(sweep_table(rows, sweep), HasSubstr(note));
}

}  // namespace
}  // namespace podsim::scenarios
