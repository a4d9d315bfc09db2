#include "core/exchange/ring_news.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace eventloom {
namespace {

/// Reports where it was written.
class ReportingWindow final : public Transport {
 public:
  std::optional<std::vector<std::uint64_t>> written;

  std::optional<std::span<const std::uint64_t>> written_since(std::uint64_t&) override { return written; }
  std::span<std::byte> window() override { return {}; }
  [[nodiscard]] bool is_near(int) const override { return false; }
  void progress() override {}
  void sync() override {}

 private:
  void start_put(int, std::uint64_t, std::span<const std::byte>) override {}
  void complete_puts(int) override {}
};

using Rings = std::vector<std::size_t>;

class RingNewsTest : public testing::Test {
 protected:
  static constexpr RingGeometry kGeometry{.depth = 4, .cell_bytes = 128, .between = 1024};

  /// Three rings with adjacent descriptors.
  std::vector<RingConsumer> rings() {
    std::vector<RingConsumer> rings;
    for (int sender = 0; sender < 3; ++sender) {
      const auto at = static_cast<std::uint64_t>(sender) * kGeometry.descriptor_bytes();
      rings.emplace_back(Windows{window_, window_}, sender, at, 0, kGeometry);
    }
    return rings;
  }
  Rings changed() {
    const auto rings = news_.changed();
    return {rings.begin(), rings.end()};
  }

  ReportingWindow window_;
  std::vector<RingConsumer> rings_ = rings();
  RingNews news_{rings_};
};

TEST_F(RingNewsTest, AreAllRingsWhereTheWindowCannotTell) {
  EXPECT_EQ(changed(), (Rings{0, 1, 2}));
  EXPECT_EQ(changed(), (Rings{0, 1, 2}));
}

TEST_F(RingNewsTest, AreThoseWithANewDescriptor) {
  const auto ring = kGeometry.descriptor_bytes();
  window_.written = {2 * ring + 64, ring - 64, 2 * ring, 3 * ring, 5000};
  EXPECT_EQ(changed(), (Rings{0, 2})) << "cells follow the descriptors";
  window_.written->clear();
  EXPECT_EQ(changed(), Rings{});
}

TEST_F(RingNewsTest, IncludeARingInWhichMoreWasLeft) {
  window_.written.emplace();
  news_.look_again(1);
  EXPECT_EQ(changed(), Rings{1});
  EXPECT_EQ(changed(), Rings{});
}

}  // namespace
}  // namespace eventloom
