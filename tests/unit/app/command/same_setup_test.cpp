#include "app/command/same_setup.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/runtime/error.hpp"
#include "tests/support/rank_threads.hpp"

namespace eventloom {

TEST(SameSetup, NamesWhatDiffersAndHow) {
  const std::string first = "source = a\nsource = b\ndefine = gap:25ns,4\nresume = false\n";
  EXPECT_EQ(setup_difference(first, first, 1), "");
  EXPECT_EQ(setup_difference(first, "source = a\nsource = b\ndefine = gap:50ns,4\nresume = false\n", 3),
            "--define is 'gap:25ns,4' on rank 0 and 'gap:50ns,4' on rank 3");
  EXPECT_EQ(setup_difference(first, "source = a\nsource = c\ndefine = gap:25ns,4\nresume = false\n", 1),
            "--source number 2 is 'b' on rank 0 and 'c' on rank 1");
  EXPECT_EQ(setup_difference(first, "source = a\ndefine = gap:25ns,4\nresume = false\n", 1),
            "--source number 2 is 'b' on rank 0 and not given on rank 1");
  EXPECT_EQ(setup_difference(first, first + "tick = 1ps\n", 2), "--tick is not given on rank 0 and '1ps' on rank 2");
  EXPECT_EQ(setup_difference("the program = x, build 1\n", "the program = x, build 2\n", 1),
            "the program is 'x, build 1' on rank 0 and 'x, build 2' on rank 1");
}

namespace {

/// The message with which two ranks are refused; "" if they are accepted.
std::string refusal(const std::function<void(const Collective& ranks)>& compare) {
  std::string why;
  run_as_ranks(2, [&](const Collective& ranks) {
    std::string mine;
    try {
      compare(ranks);
    } catch (const UserError& e) {
      mine = e.what();
    }
    const auto all = ranks.all_gather(mine);
    EXPECT_EQ(all[0], all[1]);
    if (ranks.rank() == 0) why = mine;
  });
  return why;
}

}  // namespace

TEST(SameSetup, AllRanksAreRefusedAlike) {
  const auto setups = [](const std::string& first, const std::string& second) {
    return refusal([&](const Collective& ranks) { require_same_setup(ranks, ranks.rank() == 0 ? first : second); });
  };
  EXPECT_EQ(setups("define = a\n", "define = a\n"), "");
  EXPECT_EQ(setups("define = a\n", "define = b\n"),
            "--define is 'a' on rank 0 and 'b' on rank 1: all ranks must have the same");
  const auto refusals = [](const std::string& first, const std::string& second) {
    return refusal([&](const Collective& ranks) { share_refusal(ranks, ranks.rank() == 0 ? first : second); });
  };
  EXPECT_EQ(refusals("", ""), "");
  EXPECT_EQ(refusals("bad usage", "bad usage"), "bad usage");
  EXPECT_EQ(refusals("", "bad usage"), "rank 1: bad usage");
}

}  // namespace eventloom
