#pragma once

#include <gtest/gtest.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "expected.hpp"
#include "random_case.hpp"
#include "run_case.hpp"

namespace eventloom::test {

using Change = std::function<void(CaseMaker&, RunCase&)>;

/// With sanitizers, which slow a case down twentyfold, a tenth of the cases; otherwise all, also in the long tier.
constexpr std::uint64_t cases(std::uint64_t n) {
#ifdef EVENTLOOM_SANITIZED
  return (n + 9) / 10;
#else
  return n;
#endif
}

/// The seed that the environment variable EVENTLOOM_SEED asks to replay; 0: none.
inline std::uint64_t replayed_seed() {
  const char* text = std::getenv("EVENTLOOM_SEED");
  return text == nullptr ? 0 : std::stoull(text);
}

/// Then counts over all seeds of a test cannot be judged.
inline bool is_replay() { return replayed_seed() != 0; }

/// The seeds of a test, 1 to cases(n), until one fails; or only the one to be replayed.
class Seeds {
 public:
  struct End {};
  class Iterator {
   public:
    Iterator(std::uint64_t seed, std::uint64_t last) : seed_(seed), last_(last) {}
    std::uint64_t operator*() const { return seed_; }
    Iterator& operator++() {
      ++seed_;
      return *this;
    }
    bool operator!=(End /*end*/) const { return seed_ <= last_ && !testing::Test::HasFailure(); }

   private:
    std::uint64_t seed_;
    std::uint64_t last_;
  };

  explicit Seeds(std::uint64_t n) : replayed_(replayed_seed()), last_(cases(n)) {}
  [[nodiscard]] Iterator begin() const { return replayed_ == 0 ? Iterator(1, last_) : Iterator(replayed_, replayed_); }
  [[nodiscard]] End end() const { return {}; }

 private:
  std::uint64_t replayed_;
  std::uint64_t last_;
};

/// Plays whole runs, each compared with the serial reference.
class Engine : public testing::Test {
 protected:
  void SetUp() override { spdlog::set_level(spdlog::level::off); }
  void TearDown() override { spdlog::set_level(spdlog::level::info); }

  static std::vector<std::string> no_errors(const RunCase& of) {
    return std::vector<std::string>(static_cast<std::size_t>(of.roles.ranks));
  }
  static std::uint64_t n_hits(const RunCase& of) {
    std::uint64_t sum = 0;
    for (const auto& hits : of.hits) sum += hits.size();
    return sum;
  }

  static Outcome expect_whole(const RunCase& of) {
    auto outcome = play(of);
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    EXPECT_EQ(difference(of, outcome), "") << text_of(of);
    EXPECT_EQ(outcome.hits_read, n_hits(of)) << text_of(of);
    return outcome;
  }
  static void expect_whole(std::uint64_t most, const Change& change) {
    for (const auto seed : Seeds(most)) {
      CaseMaker maker(seed);
      auto of = maker.any();
      change(maker, of);
      expect_whole(of);
    }
  }
  static void expect_whole_by(const std::string& schedule) {
    expect_whole(200, [&](CaseMaker&, RunCase& of) { of.schedule = schedule; });
  }

  /// All data that arrived within this time are built, as are all data that were read, except hits corrected to before
  /// tick 0.
  static void expect_all_received(const RunCase& of, const Outcome& outcome, std::int64_t within_ns) {
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    std::uint64_t came = 0;
    for (const auto& arrivals : of.arrivals) {
      for (const auto& arrival : arrivals) came += arrival.time_ns < within_ns ? arrival.buffer.hits.size() : 0;
    }
    std::uint64_t built = 0;
    for (const auto& [number, written] : outcome.slices) {
      const auto& row = written.slice.ledger;
      const auto untimed = row.hits_dropped[static_cast<std::size_t>(DropCause::untimed)];
      built += row.hits_in;
      EXPECT_TRUE(row.balances()) << text_of(of);
      EXPECT_EQ(row.dropped(), of.detector->corrects() ? untimed : 0) << text_of(of);
    }
    EXPECT_GE(built, came) << text_of(of);
    EXPECT_EQ(built, outcome.hits_read) << text_of(of);
  }

  /// A stopped run and the run that resumes it are complete together.
  static void expect_resumed(RunCase of, const Outcome& before) {
    of.finished.clear();
    for (const auto& [number, slice] : before.slices) of.finished.push_back({number});
    of.duration = {};
    of.commands.clear();
    of.signal = 0;
    of.sink_fails_after = 0;
    of.roles.builders = of.roles.builders % 4 + 1;
    if (of.schedule.starts_with("table:")) of.schedule = "unshifted";
    auto after = expect_whole(of);
    EXPECT_FALSE(after.cut_off) << text_of(of);
  }
};

/// Captures the log during its lifetime instead of standard error.
class Messages {
 public:
  Messages() : before_(spdlog::default_logger()), sink_(std::make_shared<spdlog::sinks::ringbuffer_sink_st>(10'000)) {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink_));
  }
  ~Messages() { spdlog::set_default_logger(before_); }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  [[nodiscard]] std::vector<std::string> with(const std::string& text) const {
    auto lines = sink_->last_formatted();
    std::erase_if(lines, [&](const std::string& line) { return line.find(text) == std::string::npos; });
    return lines;
  }

 private:
  std::shared_ptr<spdlog::logger> before_;
  std::shared_ptr<spdlog::sinks::ringbuffer_sink_st> sink_;
};

}  // namespace eventloom::test
