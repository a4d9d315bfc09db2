#include "app/run/run_sources.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <vector>

#include "core/runtime/stop_signal.hpp"
#include "tests/support/fake_live_stream.hpp"
#include "tests/support/rank_threads.hpp"

namespace eventloom {
namespace {

/// Live sources, some of which are known.
struct Sources {
  std::vector<LocalSource> local;
  std::vector<FakeLiveStream*> streams;

  explicit Sources(const std::vector<bool>& known) {
    for (const bool one : known) {
      auto stream = std::make_unique<FakeLiveStream>("live");
      stream->known = one;
      streams.push_back(stream.get());
      const SourceId id{static_cast<std::uint16_t>(local.size())};
      local.push_back({id, std::move(stream), streams.back()});
    }
  }

  [[nodiscard]] std::vector<bool> finished() const {
    std::vector<bool> all;
    for (const auto* stream : streams) all.push_back(stream->finished);
    return all;
  }
};

struct Unwatched final : LiveWait {
  void wait(std::size_t /*live*/, std::size_t /*known*/) override {}
};

/// Ends the process with code 0 if exactly the sources that are not known have finished.
[[noreturn]] void end_while_waiting(const std::vector<bool>& known, const std::vector<bool>& finished) {
  catch_stop_signals();
  std::raise(SIGINT);
  Sources sources(known);
  Unwatched unwatched;
  run_as_ranks(1, [&](const Collective& ranks) { wait_for_live(sources.local, SourceSettings(), ranks, unwatched); });
  std::exit(sources.finished() == finished ? 0 : 1);
}

using WaitForLiveDeathTest = testing::Test;

TEST(WaitForLiveDeathTest, ARunEndedBeforeItBeginsStillListensToSourcesThatHaveBegun) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(end_while_waiting({true, true}, {false, false}), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(end_while_waiting({true, false}, {false, true}), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace eventloom
