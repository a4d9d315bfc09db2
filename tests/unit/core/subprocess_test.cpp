#include "core/runtime/subprocess.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include "child_process.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {
namespace {

using std::chrono::steady_clock;

TEST(Subprocess, FeedsAProgramAndCollectsWhatItWrites) {
  const MemoryFile input("one\ntwo\n");
  const MemoryFile output;
  const MemoryFile errors;
  const Program program{.words = {"sh", "-c", "sort -r; echo \"$GREETING\" >&2; ls /proc/self/fd | wc -w; exit 7"},
                        .environment = with_variables(own_environment(), {{"GREETING", "a"}, {"GREETING", "b c"}}),
                        .input = input.descriptor(),
                        .output = output.descriptor(),
                        .errors = errors.descriptor()};
  const auto end = Subprocess(program).wait();
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.exit_code, 7);
  EXPECT_GT(end.peak_bytes, 0U);
  EXPECT_EQ(output.text(), "two\none\n4\n") << "the fourth is the folder that ls reads";
  EXPECT_EQ(errors.text(), "b c\n");
}

TEST(Subprocess, NamesTheProgramThatCannotBeStarted) {
  try {
    Subprocess process(Program{.words = {"no-such-program-of-eventloom"}});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(), "cannot start no-such-program-of-eventloom: No such file or directory");
  }
}

TEST(Subprocess, EndsWithTheProcessThatStartedIt) {
  const MemoryFile said;
  Subprocess middle([&] {
    const Program program{
        .words = {"sh", "-c", "trap 'echo ended; exit' TERM; echo started; while :; do sleep 0.01; done"},
        .output = said.descriptor(),
        .ends_with_us = true};
    const Subprocess process(program);
    for (;;) pause();
  });
  ASSERT_TRUE(eventually([&] { return said.text() == "started\n"; }));
  middle.kill();
  EXPECT_EQ(middle.wait().signal, SIGKILL);
  EXPECT_TRUE(eventually([&] { return said.text() == "started\nended\n"; })) << said.text();
}

TEST(Subprocess, ThatEndsWithUsIsStartedLikeAnyOther) {
  const MemoryFile input("b\na\n");
  const MemoryFile output;
  const Program program{.words = {"sh", "-c", "sort; echo \"$GREETING\"; ls /proc/self/fd | wc -w; exit 7"},
                        .environment = with_variables(own_environment(), {{"GREETING", "hello"}}),
                        .input = input.descriptor(),
                        .output = output.descriptor(),
                        .ends_with_us = true};
  EXPECT_EQ(Subprocess(program).wait().exit_code, 7);
  EXPECT_EQ(output.text(), "a\nb\nhello\n4\n") << "the fourth is the folder that ls reads";
  EXPECT_THROW(Subprocess(Program{.words = {"no-such-program-of-eventloom"}, .ends_with_us = true}), UserError);
}

TEST(Subprocess, RunsWorkInAChild) {
  EXPECT_EQ(Subprocess([] {}).wait().exit_code, 0);
  EXPECT_EQ(Subprocess([] { throw std::runtime_error("no"); }).wait().exit_code, 1);
  EXPECT_EQ(Subprocess([] { std::raise(SIGKILL); }).wait().signal, SIGKILL);
}

TEST(Subprocess, IsKilledAtTheDeadline) {
  EXPECT_TRUE(Subprocess([] {}).wait_until(steady_clock::now() + std::chrono::seconds(30)));
  EXPECT_FALSE(Subprocess(ChildProcess::wait_forever).wait_until(steady_clock::now() + std::chrono::milliseconds(10)));
}

TEST(Subprocess, IsPolled) {
  Subprocess process(ChildProcess::wait_forever);
  EXPECT_FALSE(process.poll());
  process.kill();
  std::optional<ChildEnd> end;
  ASSERT_TRUE(eventually([&] {
    end = process.poll();
    return end.has_value();
  }));
  EXPECT_EQ(end->signal, SIGKILL);
}

TEST(Subprocess, FindsPrograms) {
  const auto shell = find_program("sh");
  ASSERT_TRUE(shell);
  EXPECT_EQ(find_program(*shell), shell);
  for (const char* name : {"no-such-program-of-eventloom", "/etc/passwd", "/"})
    EXPECT_FALSE(find_program(name)) << name;
}

TEST(MemoryFile, HoldsItsText) {
  const std::string text(100'000, 'x');
  EXPECT_EQ(MemoryFile(text).text(), text);
  EXPECT_EQ(MemoryFile().text(), "");
}

}  // namespace
}  // namespace eventloom
