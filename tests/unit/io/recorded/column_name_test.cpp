#include "io/recorded/column_name.hpp"

#include <gtest/gtest.h>

namespace eventloom {
namespace {

TEST(ColumnName, UnitsAfterNames) {
  const auto expect = [](std::string_view text, std::string_view name, std::string_view unit) {
    const ColumnName column(text);
    EXPECT_EQ(column.name, name) << text;
    EXPECT_EQ(column.unit, unit) << text;
  };
  expect("time_ns", "time", "ns");
  expect("Time [us]", "time", "us");
  expect("t(Seconds)", "t", "s");
  expect("t [\u00b5s]", "t", "us");
  expect("hit_time_ticks", "hit_time", "tick");
  expect("time", "time", "");
  expect("event_time_offset", "event_time_offset", "");
  expect("t_min", "t_min", "");  // rather the least
  expect("_ns", "", "ns");
  expect("time_", "time_", "");
}

TEST(UnitOfTime, Words) {
  EXPECT_EQ(unit_of_time("Nanoseconds"), "ns");
  EXPECT_EQ(unit_of_time("\u03bcs"), "us");
  for (const auto* other : {"", "25ns", "minutes", "seconds since 1970-01-01", "nss"})
    EXPECT_EQ(unit_of_time(other), "") << other;
}

}  // namespace
}  // namespace eventloom
