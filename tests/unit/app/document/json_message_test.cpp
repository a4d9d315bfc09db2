#include "app/document/json_message.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/rank_threads.hpp"

namespace eventloom {
namespace {

/// Strings that are not UTF-8, as file names may be.
TEST(JsonMessage, KeepsAllBytes) {
  const std::string odd = "\xff\xfe";
  run_as_ranks(2, [&](const Collective& ranks) {
    const auto gathered = all_gather_json(ranks, {odd, ranks.rank()});
    EXPECT_EQ(gathered[1], (Json{odd, 1}));
    EXPECT_EQ(broadcast_json(ranks, ranks.rank() == 0 ? Json(odd) : Json()), odd);
  });
}

}  // namespace
}  // namespace eventloom
