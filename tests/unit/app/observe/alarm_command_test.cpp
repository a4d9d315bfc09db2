#include "app/observe/alarm_command.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "app/command/command_words.hpp"
#include "app/observe/alarms.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {
namespace {

constexpr auto kLong = std::chrono::seconds(60);

using Words = std::vector<std::string>;

TEST(AlarmCommand, IsSplitOnce) {
  EXPECT_EQ(split_command("notify  -s 'a b' \"c\\'d\" e\\ f \\\\", "--alarm-command"),
            (Words{"notify", "-s", "a b", "c'd", "e f", "\\"}));
  EXPECT_EQ(split_command("echo $(id) `id` ; rm * > x & ~ #", "--alarm-command"),
            (Words{"echo", "$(id)", "`id`", ";", "rm", "*", ">", "x", "&", "~", "#"}));
  for (const char* wrong : {"", " ", "echo 'a", "echo \"a b", "echo \\d", "echo \\"}) {
    EXPECT_THROW(split_command(wrong, "--alarm-command"), UserError) << wrong;
  }
}

TEST(AlarmCommand, RefusesAProgramThatIsNotThere) {
  for (const char* name : {"no-such-program-of-eventloom", "./no-such-program", "/etc/passwd"}) {
    EXPECT_THROW(AlarmCommand({name}), UserError) << name;
  }
}

class Printed : public testing::Test {
 protected:
  ~Printed() override { std::filesystem::remove(file_); }

  /// A command that appends the output of `what` to a file.
  [[nodiscard]] Words that_prints(const std::string& what) const {
    return {"sh", "-c", what + " >> \"$0\"", file_.string()};
  }
  [[nodiscard]] std::string printed() const {
    std::ifstream in(file_);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path file_ = std::filesystem::path(testing::TempDir()) /
                                ("alarm-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(Printed, NamesAreNeverWordsOfACommand) {
  const std::string name = "a b';$(touch alarm-x)`touch alarm-x`\"\n*\x1b\xff";
  AlarmCommand command(that_prints("printenv EVENTLOOM_SOURCE"));
  command.run({{"EVENTLOOM_SOURCE", name}});
  command.finish(kLong);
  EXPECT_EQ(printed(), name + "\n");
  EXPECT_FALSE(std::filesystem::exists("alarm-x"));
}

TEST_F(Printed, EachIsRun) {
  AlarmCommand command(that_prints("echo \"$N\""));
  for (int n = 0; n < 12; ++n) command.run({{"N", "x"}});
  command.finish(kLong);
  EXPECT_EQ(printed().size(), 24U);
}

TEST_F(Printed, NothingOfThisProgramIsOpenInIt) {
  const std::ofstream open("/dev/null");
  AlarmCommand command(that_prints("ls /proc/self/fd | tr '\\n' ' '"));
  command.run({{"N", ""}});
  command.finish(kLong);
  EXPECT_EQ(printed(), "0 1 2 3 ") << "3 is the folder that ls reads";
}

/// The command waits for input on a pipe to which nothing is written, until it is terminated.
TEST(AlarmCommand, IsEndedWhenItTakesLongerThanAsked) {
  const auto pipe = testing::TempDir() + "alarm-pipe";
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  int writer = -1;
  {
    AlarmCommand command({"cat", pipe});
    command.run({{"N", ""}});
    while (writer < 0) writer = open(pipe.c_str(), O_WRONLY | O_NONBLOCK);
    command.finish(std::chrono::milliseconds(50));
  }
  std::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(write(writer, "x", 1), -1) << "a reader of its output would wait forever";
  EXPECT_EQ(errno, EPIPE);
  close(writer);
  std::filesystem::remove(pipe);
}

TEST_F(Printed, AlarmsAreRaisedAndOver) {
  Alarms alarms(parse_alarm_conditions({"lost>0", "events>=100"}),
                that_prints("printenv EVENTLOOM_ALARM EVENTLOOM_STATE"), "run.h5");
  RunSnapshot snapshot;
  alarms.look(snapshot);
  EXPECT_FALSE(snapshot.alarms[0].active);
  EXPECT_EQ(snapshot.alarms[0].value, 0);
  EXPECT_EQ(snapshot.alarms[0].raised, "");
  snapshot.totals[dropped_hits(DropCause::late)] = 2;
  alarms.look(snapshot);
  alarms.look(snapshot);
  EXPECT_TRUE(snapshot.alarms[0].active);
  EXPECT_EQ(snapshot.alarms[0].value, 2);
  EXPECT_NE(snapshot.alarms[0].raised, "");
  alarms.finish();
  EXPECT_EQ(printed(), "lost>0\nraised\n");
  snapshot.totals = {};
  alarms.look(snapshot);
  EXPECT_FALSE(snapshot.alarms[0].active);
  EXPECT_FALSE(snapshot.alarms[1].active);
  alarms.finish();
  EXPECT_EQ(printed(), "lost>0\nraised\nlost>0\ncleared\n");
}

}  // namespace
}  // namespace eventloom
