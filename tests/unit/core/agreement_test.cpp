#include "core/control/agreement.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "tests/support/rank_threads.hpp"

namespace eventloom {
namespace {

using AgreeAs = void (*)(const Collective& ranks, const std::function<void()>& work);

/// The parameter is agree() or agree_at_rest().
class Agree : public testing::TestWithParam<AgreeAs> {
 protected:
  static std::vector<std::string> thrown(const std::function<void(int rank)>& work);
};

INSTANTIATE_TEST_SUITE_P(Both, Agree, testing::Values(&agree, &agree_at_rest));

/// The message that each of three ranks throws when doing this work; "" if it throws none.
std::vector<std::string> Agree::thrown(const std::function<void(int rank)>& work) {
  std::vector<std::string> met(3);
  run_as_ranks(3, [&](const Collective& ranks) {
    auto& mine = met[static_cast<std::size_t>(ranks.rank())];
    try {
      GetParam()(ranks, [&] { work(ranks.rank()); });
    } catch (const UserError& e) {
      mine = std::string("usage: ") + e.what();
    } catch (const SharedError& e) {
      mine = (e.no_memory() ? "memory: " : "program: ") + std::string(e.what());
    }
  });
  return met;
}

std::vector<std::string> all(const std::string& text) { return {text, text, text}; }

TEST_P(Agree, GoodWorkIsGood) {
  EXPECT_EQ(thrown([](int) {}), all(""));
}

TEST_P(Agree, AllThrowWhatTheLowestHasMet) {
  EXPECT_EQ(thrown([](int rank) { throw UserError("met by " + std::to_string(rank)); }), all("usage: met by 0"));
  EXPECT_EQ(thrown([](int rank) {
              if (rank == 2) throw UserError("not there");
            }),
            all("usage: not there"));
  const auto program = thrown([](int rank) {
    if (rank == 1) throw std::runtime_error("broken");
    if (rank == 2) throw UserError("not there");
  });
  EXPECT_EQ(program, all(program[0]));
  EXPECT_TRUE(program[0].starts_with("program: ") && program[0].ends_with("broken")) << program[0];
}

TEST_P(Agree, MissingMemoryIsKnownAsSuch) {
  const auto met = thrown([](int rank) {
    if (rank == 1) throw std::bad_alloc();
  });
  EXPECT_EQ(met, all(met[0]));
  EXPECT_TRUE(met[0].starts_with("memory: ")) << met[0];
}

}  // namespace
}  // namespace eventloom
