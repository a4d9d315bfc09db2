#include "app/same_setup.hpp"

#include <gtest/gtest.h>

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

}  // namespace eventloom
