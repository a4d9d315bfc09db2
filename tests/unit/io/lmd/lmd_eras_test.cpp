#include "io/lmd/lmd_eras.hpp"

#include <gtest/gtest.h>

#include <array>

namespace eventloom {
namespace {

using EraStep = LmdEras::EraStep;

/// A server's stream, event by event.
class LmdErasTest : public testing::Test {
 protected:
  void use(EraRule rule) { eras_ = LmdEras(rule); }
  /// The verdict on an event, which is kept unless it is a repetition. `content`: of its data.
  EraStep send(std::uint32_t number, std::uint32_t content = 1, std::uint16_t trigger = 1) {
    const std::array<std::uint32_t, 2> words{content, number};
    const auto event = event_of(number, words, trigger);
    const auto step = eras_.judge(event, number, step_to(number));
    if (step == EraStep::comes_again || (step == EraStep::continues && step_to(number).value_or(1) <= 0)) {
      return step;
    }
    eras_.keep(event, number, step == EraStep::begins_era);
    last_ = number;
    return step;
  }
  void send_all(std::uint32_t begin, std::uint32_t end, EraStep expected, std::uint32_t content = 1) {
    for (auto number = begin; number < end; ++number) EXPECT_EQ(send(number, content), expected) << number;
  }
  /// Sends a second, complete copy of the last event.
  void complete(std::uint32_t number, std::uint32_t content) {
    const std::array<std::uint32_t, 2> words{content, number};
    eras_.keep(event_of(number, words, 1), number, false);
  }
  void reconnect() { eras_.reconnect(); }
  void start_again() {
    eras_ = LmdEras(EraRule::automatic);
    last_.reset();
  }

 private:
  static LmdEvent event_of(std::uint32_t number, std::span<const std::uint32_t> words, std::uint16_t trigger) {
    LmdEvent event;
    event.number = number;
    event.trigger = trigger;
    event.subevents.resize(1);
    event.subevents[0].data = std::as_bytes(words);
    return event;
  }
  [[nodiscard]] std::optional<std::int64_t> step_to(std::uint32_t number) const {
    return last_ ? std::optional<std::int64_t>(static_cast<std::int32_t>(number - *last_)) : std::nullopt;
  }

  LmdEras eras_{EraRule::automatic};
  std::optional<std::uint32_t> last_;
};

TEST_F(LmdErasTest, NumbersThatGoBackAloneOpenNone) {
  send_all(1, 100, EraStep::continues);
  EXPECT_EQ(send(50), EraStep::continues) << "this is for others to judge";
  EXPECT_EQ(send(99), EraStep::continues);
  send_all(100, 110, EraStep::continues);
}

TEST_F(LmdErasTest, AStartOpensOneIfNumbersGoBack) {
  send_all(1, 100, EraStep::continues);
  EXPECT_EQ(send(100, 1, 14), EraStep::continues);
  EXPECT_EQ(send(101), EraStep::continues);
  EXPECT_EQ(send(1, 1, 14), EraStep::begins_era);
  EXPECT_EQ(send(1, 1, 14), EraStep::continues) << "a second copy";
  send_all(2, 100, EraStep::continues);
}

TEST_F(LmdErasTest, AfterAStopTheStartMayBeMissing) {
  send_all(1, 100, EraStep::continues);
  EXPECT_EQ(send(100, 1, 15), EraStep::continues);
  EXPECT_EQ(send(2), EraStep::begins_era);
}

TEST_F(LmdErasTest, WhatComesAgainOpensNone) {
  send_all(1, 100, EraStep::continues);
  reconnect();
  send_all(40, 100, EraStep::comes_again);
  send_all(100, 120, EraStep::continues);
  EXPECT_EQ(send(50, 1, 14), EraStep::begins_era) << "over the same connection";
}

TEST_F(LmdErasTest, EitherCopyOfAnEventIsKnownAgain) {
  for (const std::uint32_t more : {1U, 70'000U}) {  // far behind: one of the first events of its era
    send_all(1, 50, EraStep::continues);
    complete(49, 7);
    send_all(50, 50 + more, EraStep::continues);
    for (const std::uint32_t copy : {1U, 7U}) {
      reconnect();
      EXPECT_EQ(send(49, copy), EraStep::comes_again) << copy;
    }
    reconnect();
    EXPECT_EQ(send(49, 2), EraStep::begins_era);
    start_again();
  }
}

TEST_F(LmdErasTest, OtherEventsOverAnotherConnectionOpenOne) {
  send_all(1, 100, EraStep::continues);
  reconnect();
  EXPECT_EQ(send(1, 2), EraStep::begins_era);
  send_all(2, 50, EraStep::continues, 2);
}

TEST_F(LmdErasTest, TheBeginningOfALongEraIsRemembered) {
  for (std::uint32_t number = 0; number < 200'000; ++number) send(number);
  reconnect();
  for (std::uint32_t number = 0; number < 200'000; ++number) ASSERT_EQ(send(number), EraStep::comes_again) << number;
  EXPECT_EQ(send(200'000), EraStep::continues);
  reconnect();
  EXPECT_EQ(send(50'000), EraStep::begins_era) << "its contents are unknown";
}

TEST_F(LmdErasTest, TheUserDecides) {
  for (const auto rule : {EraRule::repeats, EraRule::new_era}) {
    use(rule);
    send(1);
    send(7);
    reconnect();
    EXPECT_EQ(send(3, 2), rule == EraRule::new_era ? EraStep::begins_era : EraStep::comes_again);
    send(9);
  }
}

}  // namespace
}  // namespace eventloom
