#include "core/engine/run_requests.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <utility>
#include <vector>

namespace eventloom {
namespace {

using std::chrono::seconds;

constexpr SteadyTime kBegin{seconds(1000)};

std::vector<Command> taken(RunRequests& requests) {
  std::vector<Command> commands;
  for (; requests.next().command != Command::none; requests.reported()) commands.push_back(requests.next().command);
  return commands;
}

RunRequests with(const std::vector<Command>& commands) {
  RunRequests requests(seconds(0));
  for (const auto command : commands) requests.ask({.command = command});
  return requests;
}

TEST(RunRequests, AreReportedInTheOrderMade) {
  auto requests = with({Command::pause, Command::speed, Command::pause, Command::resume});
  EXPECT_EQ(taken(requests), (std::vector{Command::pause, Command::speed, Command::pause, Command::resume}));
  requests.reported();
  EXPECT_EQ(requests.next().command, Command::none);
}

TEST(RunRequests, AStopCancelsOthersAndAnEndTheStop) {
  auto stop = with({Command::pause, Command::new_file, Command::stop, Command::resume, Command::stop});
  EXPECT_EQ(taken(stop), std::vector{Command::stop});
  auto end = with({Command::stop, Command::end, Command::stop, Command::pause});
  EXPECT_EQ(taken(end), std::vector{Command::end});
}

TEST(RunRequests, TheDurationEndsTheRunOnce) {
  RunRequests requests(seconds(5));
  requests.look(kBegin, 0);
  requests.look(kBegin + seconds(4), 0);
  EXPECT_EQ(requests.next().command, Command::none);
  requests.look(kBegin + seconds(5), 0);
  EXPECT_EQ(requests.next().command, Command::end);
  EXPECT_EQ(requests.next().cause, Cause::time);
  requests.reported();
  requests.look(kBegin + seconds(9), 0);
  EXPECT_EQ(requests.next().command, Command::none);
}

TEST(RunRequests, OnlyTheFirstSignalCounts) {
  for (const auto& [signal, command] :
       {std::pair(SIGINT, Command::end), std::pair(SIGTERM, Command::end), std::pair(SIGUSR1, Command::stop)}) {
    RunRequests requests(seconds(0));
    requests.look(kBegin, signal);
    EXPECT_EQ(requests.next().command, command) << signal;
    EXPECT_EQ(requests.next().signal, signal);
    requests.reported();
    requests.look(kBegin, SIGINT);
    EXPECT_EQ(requests.next().command, Command::none) << signal;
  }
}

TEST(RunRequests, SayTheirCause) {
  EXPECT_EQ(cause_of({.cause = Cause::signal, .signal = SIGUSR1}), "SIGUSR1");
  EXPECT_EQ(cause_of({.cause = Cause::writer}), "a full or failing disk");
  EXPECT_EQ(cause_of({}), "a command");
}

}  // namespace
}  // namespace eventloom
