#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <sstream>

#include "core/engine/live_inputs.hpp"
#include "io/live/fake_feed.hpp"

namespace eventloom::test {
namespace {

using std::chrono::seconds;

SteadyTime at(seconds time) { return SteadyTime{} + std::chrono::hours(1) + time; }

/// One source is full because the run is slow while its peer has more data, and another one is far ahead because it has
/// few hits.
class LiveCongestion : public testing::Test {
 protected:
  LiveCongestion() {
    auto logger =
        std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(said_, true));
    before_ = spdlog::default_logger();
    spdlog::set_default_logger(logger);
    sparse_.feed.add(make_buffer(1000, 1));
    for (Epoch epoch = 0; epoch < 20; ++epoch) {
      dense_.feed.add(make_buffer(epoch, 1));
      inputs_.receive(at({}));
    }
  }
  ~LiveCongestion() override { spdlog::set_default_logger(before_); }

  bool ready(EpochRange epochs) { return inputs_.request(dense_input_, epochs); }
  [[nodiscard]] bool has_said(const std::string& what) const { return said_.str().find(what) != std::string::npos; }

  Live sparse_;
  Live dense_{
      {.buffer_bytes = 10 * (make_buffer(0, 1).size() + sizeof(IndexEntry)), .drop_when_full = false, .record = {}}};
  LiveInputs inputs_{{.epoch_timeout = seconds(2), .stall_warning = seconds(10)}};
  std::size_t dense_input_ = (inputs_.add({0}, sparse_.stream, 0), inputs_.add({1}, dense_.stream, 0));

 private:
  std::ostringstream said_;
  std::shared_ptr<spdlog::logger> before_;
};

/// The missing data have arrived but could not be accepted: giving the source up would lose them.
TEST_F(LiveCongestion, DataNotYetTakenAreNotOverdue) {
  for (int time = 1; time < 5; ++time) inputs_.receive(at(seconds(time)));
  ASSERT_EQ(dense_.feed.takes, 10U);
  EXPECT_TRUE(ready({0, 8}));
  dense_.collect({0, 8});
  EXPECT_FALSE(ready({8, 16})) << "for another builder, in the same turn";
  dense_.stream.release_before(8);
  inputs_.receive(at(seconds(5)));
  EXPECT_TRUE(ready({8, 16}));
  EXPECT_EQ(hits_in(dense_.collect({8, 16})).size(), 8U);
  EXPECT_EQ(dense_.count("hits_dropped_late"), 0U);
  EXPECT_EQ(dense_.count("epochs_given_up"), 0U);
  EXPECT_FALSE(has_said("slices are built without it"));
}

/// A turn without new data is idle even if a source is full, since others need the core.
TEST_F(LiveCongestion, AFullSourceIsNoWork) {
  ASSERT_FALSE(dense_.stream.progress().listens);
  EXPECT_EQ(inputs_.receive(at(seconds(1))), 0U);
}

/// A full source's sender has not stopped: the source is only not read.
TEST_F(LiveCongestion, AFullSourceIsNotSilent) {
  for (int time = 1; time < 60; ++time) inputs_.receive(at(seconds(time)));
  EXPECT_FALSE(has_said("source 1 (fake) has sent nothing"));
  EXPECT_TRUE(has_said("source 0 (fake) has sent nothing"));
}

}  // namespace
}  // namespace eventloom::test
