#include "io/hdf5/handle.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>

namespace eventloom {
namespace {

TEST(H5Id, LogsACloseThatFails) {
  const auto sink = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(10);
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink));
  const hid_t space = H5Screate(H5S_SCALAR);
  { const H5Id id(space, H5Sclose); }
  EXPECT_TRUE(sink->last_raw().empty());
  { const H5Id closed(space, H5Sclose); }
  spdlog::set_default_logger(before);
  ASSERT_EQ(sink->last_raw().size(), 1U);
  const auto line = sink->last_raw().front();
  const std::string text(line.payload.data(), line.payload.size());
  EXPECT_EQ(line.level, spdlog::level::warn);
  EXPECT_TRUE(text.starts_with("HDF5: cannot close an object: ")) << text;
}

}  // namespace
}  // namespace eventloom
