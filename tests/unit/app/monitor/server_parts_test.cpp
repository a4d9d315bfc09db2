#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "app/monitor/monitor.hpp"
#include "app/monitor/token.hpp"
#include "app/show/safe_text.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/pace.hpp"

namespace eventloom {
namespace {

using std::chrono::seconds;

TEST(Pace, RestsOnceTheShareIsUsed) {
  Pace pace(0.1, seconds(2));
  EXPECT_EQ(pace.rest_after(seconds(1000), seconds(0)).count(), 0);
  EXPECT_EQ(pace.rest_after(seconds(1000), seconds(2)).count(), 0) << "what was saved up";
  EXPECT_DOUBLE_EQ(pace.rest_after(seconds(1000), seconds(3)).count(), 10);
  EXPECT_NEAR(pace.rest_after(seconds(1010), seconds(3)).count(), 0, 1e-9);
  EXPECT_DOUBLE_EQ(pace.rest_after(seconds(1020), seconds(5)).count(), 10);
  EXPECT_EQ(pace.rest_after(seconds(9000), seconds(7)).count(), 0);
  EXPECT_DOUBLE_EQ(pace.rest_after(seconds(9000), seconds(8)).count(), 10) << "no more than the most is saved up";
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

class Answers : public ::testing::Test {
 protected:
  Answers() {
    set_up_log("test", for_terminal);
    const std::string path = ::testing::TempDir() + "token." + std::to_string(getpid());
    std::ofstream(path) << kToken << '\n';
    monitor_.emplace(MonitorSettings{"127.0.0.1", 0, path}, RunDescription{});
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

}  // namespace
}  // namespace eventloom
