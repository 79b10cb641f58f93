#include "scenarios/src/base/whole_file.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <stdexcept>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

namespace fs = std::filesystem;

class WholeFileTest : public ::testing::Test {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "podsim.XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr) << name;
        folder_ = name;
    }
    void TearDown() override {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }

    [[nodiscard]] std::string path(const std::string& name) const {
        return (folder_ / name).string();
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name)) << text;
    }
    [[nodiscard]] std::string text_of(const std::string& name) const {
        std::ifstream file(path(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }
    [[nodiscard]] std::ptrdiff_t files() const {
        return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
    }

    [[nodiscard]] bool has_files_without_names() const {
        const int descriptor = ::open(folder_.c_str(), O_TMPFILE | O_WRONLY, 0600);
        ::close(descriptor);
        return descriptor >= 0;
    }

private:
    fs::path folder_;
};

TEST_F(WholeFileTest, IsThereWhenItIsKept) {
    write("there", "old");
    for (const char* const name : {"new", "there"}) {
        const std::ptrdiff_t before = files();
        WholeFile file("--json", path(name));
        file.stream() << "some" << std::flush;
        EXPECT_EQ(text_of(name), fs::exists(path(name)) ? "old" : "");
        if (has_files_without_names()) {
            EXPECT_EQ(files(), before) << "beside it lies what a killed process would leave";
        }
        file.stream() << " text";
        file.keep();
        EXPECT_EQ(text_of(name), "some text");
    }
    EXPECT_EQ(files(), 2);
}

TEST_F(WholeFileTest, NothingChangesWithoutKeep) {
    write("there", "old");
    for (const char* const name : {"new", "there"}) {
        try {
            WholeFile file("--json", path(name));
            file.stream() << "some text" << std::flush;
            throw std::runtime_error("the writer fails");
        } catch (const std::runtime_error&) {
        }
    }
    EXPECT_EQ(text_of("there"), "old");
    EXPECT_EQ(files(), 1);
}

TEST_F(WholeFileTest, KeepsPermissionsAndSymbolicLinks) {
    write("there", "old");
    ::chmod(path("there").c_str(), 0640);
    fs::create_symlink("there", path("link"));
    fs::create_symlink("link", path("second"));
    fs::create_symlink("later", path("dangling"));
    for (const char* const name : {"second", "dangling"}) {
        WholeFile file("--json", path(name));
        file.stream() << name;
        file.keep();
        EXPECT_TRUE(fs::is_symlink(path(name)));
    }
    EXPECT_EQ(text_of("there"), "second");
    EXPECT_TRUE(fs::is_symlink(path("link")));
    struct stat there {};
    ::stat(path("there").c_str(), &there);
    EXPECT_EQ(there.st_mode & ALLPERMS, 0640U);
    EXPECT_EQ(text_of("later"), "dangling");
}

TEST_F(WholeFileTest, PipesAndDevicesAreWrittenStraight) {
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    std::string read;
    std::thread reader([&] { read = text_of("pipe"); });
    {
        WholeFile file("--json", path("pipe"));
        file.stream() << "through";
        file.keep();
    }
    reader.join();
    EXPECT_EQ(read, "through");
    EXPECT_TRUE(fs::is_fifo(path("pipe")));
    WholeFile null("--json", "/dev/null");
    null.stream() << "gone";
    null.keep();
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    EXPECT_EQ(files(), 1);
}

TEST_F(WholeFileTest, SaysWhyItCannotBeWritten) {
    const auto message = [](const std::string& path) -> std::string {
        try {
            WholeFile file("--json", path);
            file.stream() << std::string(100'000, 'x');
            file.keep();
        } catch (const sim::InputError& error) {
            return error.what();
        }
        return "written";
    };
    EXPECT_EQ(message("/no/such/place"),
              "cannot write '/no/such/place': No such file or directory; give --json a path that "
              "can be written");
    EXPECT_EQ(message("/dev/full"),
              "cannot write '/dev/full': No space left on device; give --json a path that can be "
              "written");
}

}  // namespace
}  // namespace podsim::scenarios
