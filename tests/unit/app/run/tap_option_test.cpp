#include <gtest/gtest.h>

#include "app/run/output_settings.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {
namespace {

void expect_tap(const std::string& text, const std::string& address, std::uint16_t port, bool by_request) {
  const auto tap = parse_tap_option(text);
  EXPECT_EQ(tap.place.address, address) << text;
  EXPECT_EQ(tap.place.port, port) << text;
  EXPECT_EQ(tap.by_request, by_request) << text;
}

TEST(TapOption, FormsOfPlaceAndService) {
  expect_tap("6002", "127.0.0.1", 6002, true);
  expect_tap("0/transport", "127.0.0.1", 0, false);
  expect_tap("0.0.0.0:6000/transport", "0.0.0.0", 6000, false);
  expect_tap("mbs://6002", "127.0.0.1", 6002, true);
  expect_tap("mbs://[::1]:65535/stream", "::1", 65535, true);
}

TEST(TapOption, OtherFormsAreRefused) {
  for (const auto* text : {"", "/", "x", "65536", "-1", "6002/", "6002/event", "udp://6002", "host", ":6002",
                           "6002?stream", "mbs://6002/stream/", "[::1", "[::1:6002", "::1]:6002"}) {
    EXPECT_THROW(parse_tap_option(text), UserError) << text;
  }
}

}  // namespace
}  // namespace eventloom
