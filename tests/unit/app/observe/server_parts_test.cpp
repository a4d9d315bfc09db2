#include <gtest/gtest.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/command/safe_text.hpp"
#include "app/observe/asker.hpp"
#include "app/observe/http_client.hpp"
#include "app/observe/monitor.hpp"
#include "app/observe/refusal_log.hpp"
#include "app/observe/token.hpp"
#include "app/observe/viewers.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/pace.hpp"

namespace eventloom {
namespace {

using std::chrono::seconds;

TEST(Pace, RestsOnceTheShareIsUsed) {
  Pace pace(0.1, seconds(2));
  EXPECT_EQ(pace.rest_after(seconds(1000), seconds(0)).count(), 0);
  EXPECT_EQ(pace.rest_after(seconds(1000), seconds(2)).count(), 0) << "what has accumulated";
  EXPECT_DOUBLE_EQ(pace.rest_after(seconds(1000), seconds(3)).count(), 10);
  EXPECT_NEAR(pace.rest_after(seconds(1010), seconds(3)).count(), 0, 1e-9);
  EXPECT_DOUBLE_EQ(pace.rest_after(seconds(1020), seconds(5)).count(), 10);
  EXPECT_EQ(pace.rest_after(seconds(9000), seconds(7)).count(), 0);
  EXPECT_DOUBLE_EQ(pace.rest_after(seconds(9000), seconds(8)).count(), 10) << "no more than the limit accumulates";
}

TEST(Token, IsPrintableAndNeitherShortNorLong) {
  EXPECT_EQ(checked_token(" a secret of the crew\t\r", "it"), "a secret of the crew");
  EXPECT_EQ(checked_token(std::string(1024, 'x'), "it").size(), 1024U);
  for (const auto& wrong : {std::string(), std::string(1025, 'x'), std::string(15, 'x'), std::string(99, ' '),
                            std::string("0123456789abcdef\nX: y"), std::string("0123456789abcde\xff")}) {
    EXPECT_THROW((void)checked_token(wrong, "it"), UserError) << wrong;
  }
  EXPECT_NE(new_token(), new_token());
}

TEST(Token, OfAFileThatIsNone) {
  for (const char* path : {"/dev/zero", "/dev/null", "/", "/nowhere"}) {
    EXPECT_THROW((void)token_of_file(path), UserError) << path;
  }
}

HttpRequest request_of(const std::string& user, const std::string& agent) {
  HttpRequest request;
  request.peer = "10.0.0.7";
  request.user = user;
  request.agent = agent;
  return request;
}

TEST(NameOfAsker, IsHarmlessAndShort) {
  EXPECT_EQ(name_of_asker(request_of("", "")), "10.0.0.7");
  EXPECT_EQ(name_of_asker(request_of("", "curl/8")), "10.0.0.7 (curl/8)");
  EXPECT_EQ(name_of_asker(request_of("ann@n1", "curl/8")), "10.0.0.7 (ann@n1)");
  EXPECT_EQ(name_of_asker(request_of("a\x1b[31m\u202e\xff", "")), "10.0.0.7 (a\\x1b[31m\\xe2\\x80\\xae\\xff)");
  for (const std::string one : {"x", "\n", "\u00b5"}) {
    std::string many;
    while (many.size() < 8000) many += one;
    EXPECT_LE(columns_of(name_of_asker(request_of(many, ""))), 100U);
  }
}

/// Collects the lines of the log during its lifetime.
class Log {
 public:
  Log() {
    set_up_log("test", for_terminal);
    add_log_sink(sink_);
  }
  ~Log() { remove_log_sink(sink_); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> all;
    for (const auto& line : sink_->last_raw()) all.emplace_back(line.payload.data(), line.payload.size());
    return all;
  }

 private:
  std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> sink_ = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(100);
};

TEST(RefusalLog, LogsAFewAMinute) {
  const Log log;
  RefusalLog refusals;
  const auto at = [](int second) { return RefusalLog::Time(seconds(1000 + second)); };
  for (int i = 0; i < 50; ++i) refusals.say("wrong token", "10.0.0.7", at(i));
  ASSERT_EQ(log.lines().size(), 10U);
  EXPECT_EQ(log.lines().front(), "a command from 10.0.0.7 was refused: wrong token");
  EXPECT_NE(log.lines().back().find("suppressed"), std::string::npos);
  refusals.say("wrong token", "10.0.0.8", at(59));
  EXPECT_EQ(log.lines().size(), 10U);
  refusals.say("wrong token", "10.0.0.8", at(60));
  EXPECT_EQ(log.lines().size(), 11U);
}

TEST(Viewers, AreWaitedForWhileTheyLook) {
  Viewers viewers;
  const auto at = [](int second) { return Viewers::Time(seconds(1000 + second)); };
  EXPECT_TRUE(viewers.all_saw_the_end(at(0))) << "there are no viewers";
  viewers.looked("page", false, at(0));
  viewers.looked("top", false, at(1));
  EXPECT_FALSE(viewers.all_saw_the_end(at(2)));
  viewers.looked("page", true, at(2));
  EXPECT_FALSE(viewers.all_saw_the_end(at(2))) << "top has not";
  EXPECT_TRUE(viewers.all_saw_the_end(at(7))) << "top has gone";
  viewers.looked("top", true, at(3));
  EXPECT_TRUE(viewers.all_saw_the_end(at(3)));
  for (int i = 0; i < 1000; ++i) viewers.looked(std::to_string(i), false, at(4));
  EXPECT_FALSE(viewers.all_saw_the_end(at(4)));
  EXPECT_TRUE(viewers.all_saw_the_end(at(10)));
}

class Answers : public ::testing::Test {
 protected:
  Answers() {
    set_up_log("test", for_terminal);
    const std::string path = ::testing::TempDir() + "token." + std::to_string(getpid());
    std::ofstream(path) << kToken << '\n';
    testing::internal::CaptureStderr();
    monitor_.emplace(MonitorSettings{{"127.0.0.1", 0}, path}, RunDescription{}, nullptr);
    const auto printed = testing::internal::GetCapturedStderr();
    url_ = printed.substr(printed.find("http://"), printed.find('\n') - printed.find("http://"));
    unlink(path.c_str());
    asked_.host = asked_.local = "127.0.0.1";
    asked_.method = "GET";
  }
  HttpReply to(const std::string& path) {
    asked_.path = path;
    return monitor_->answer(asked_);
  }

  static constexpr const char* kToken = "0123456789abcdef";
  std::optional<Monitor> monitor_;
  std::string url_;
  HttpRequest asked_;
};

TEST_F(Answers, TextsAreMadeOnceForAll) {
  const auto first = to("/status").body;
  EXPECT_EQ(to("/status").body, first);
  EXPECT_NE(to("/metrics").body, first);
  EXPECT_EQ(to("/").body, to("/").body);
  monitor_->publish(std::make_shared<RunSnapshot>());
  EXPECT_NE(to("/status").body, first) << "there is another snapshot";
}

TEST_F(Answers, ACommandIsInTheNextStatus) {
  const auto before = to("/status").body;
  auto command = asked_;
  command.method = "POST";
  command.path = "/control";
  command.content_type = "application/json";
  command.authorization = std::string("bearer ") + kToken;
  command.body = "{\"command\": \"pause\"}";
  EXPECT_EQ(monitor_->answer(command).status, 202U);
  EXPECT_EQ(monitor_->take_commands().size(), 1U);
  EXPECT_EQ(before->find("\"command\":\"pause\""), std::string::npos);
  EXPECT_NE(to("/status").body->find("\"command\":\"pause\""), std::string::npos);
}

TEST_F(Answers, ClientsAskWhileTheRunGoesOn) {
  constexpr std::size_t kTimes = 10;
  auto client = std::async(std::launch::async, [url = parse_monitor_url(url_)] {
    std::vector<unsigned> found;
    for (std::size_t i = 0; i < kTimes; ++i) {
      for (const char* path : {"/status", "/metrics", "/histograms"}) found.push_back(ask(url, path).status);
      found.push_back(ask(url, "/control", "{\"command\": \"pause\"}", kToken).status);
    }
    return found;
  });
  std::size_t commands = 0;
  do {
    monitor_->describe({});
    monitor_->publish(std::make_shared<RunSnapshot>());
    commands += monitor_->take_commands().size();
  } while (client.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready);
  const auto found = client.get();
  EXPECT_EQ(std::ranges::count(found, 200U), 3 * kTimes);
  EXPECT_EQ(std::ranges::count(found, 202U), kTimes);
  EXPECT_EQ(commands + monitor_->take_commands().size(), kTimes);
  EXPECT_EQ(monitor_->close_commands().size(), kTimes);
}

TEST_F(Answers, RefusedCommandsAreInTheLogAndThoseWhoReadAreNot) {
  const Log log;
  asked_.method = "POST";
  asked_.peer = "10.0.0.7";
  asked_.agent = "curl/8";
  asked_.authorization = std::string("bearer ") + kToken + "x";
  EXPECT_EQ(to("/control").status, 403U);
  asked_.host = "evil.example";
  EXPECT_EQ(to("/status").status, 403U);
  EXPECT_EQ(to("/control").status, 403U);
  EXPECT_EQ(log.lines(), (std::vector<std::string>{
                             "a command from 10.0.0.7 (curl/8) was refused: wrong token",
                             "a command from 10.0.0.7 (curl/8) was refused: unknown host name; use the address, "
                             "localhost or the name of the host"}));
}

}  // namespace
}  // namespace eventloom
