#include "io/run_output/live_place.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>

#include "core/runtime/error.hpp"
#include "io/run_format/run_names.hpp"
#include "io/run_output/run_folder.hpp"
#include "run_maker.hpp"

namespace eventloom {
namespace {

class LivePlaceTest : public FolderTest {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return folder / live_place_name("run.h5", 3); }
};

TEST_F(LivePlaceTest, ComesBackAsItWas) {
  EXPECT_FALSE(read_live_place(file())) << "there is none";
  constexpr auto kLast = std::numeric_limits<Tick>::max();
  for (const PeerPlace place :
       {PeerPlace{7, -12}, PeerPlace{0xffffffff, std::numeric_limits<std::int64_t>::max()}, PeerPlace{0, 0, kLast},
        PeerPlace{0, 0, Tick(1), true}, PeerPlace{0, 0, Tick(1), false, Tick(70), 5}}) {
    write_live_place(file(), place);
    EXPECT_EQ(read_live_place(file()), place);
    EXPECT_TRUE(is_live_place(file()) && is_of_run(file()));
  }
}

TEST_F(LivePlaceTest, OneOfASourceThatWasNotHeardIsEmpty) {
  EXPECT_FALSE(is_unheard(file()));
  mark_unheard(file());
  EXPECT_TRUE(is_unheard(file()) && is_live_place(file()));
  EXPECT_FALSE(read_live_place(file()));
  write_live_place(file(), {7, -12});
  EXPECT_FALSE(is_unheard(file()));
}

TEST_F(LivePlaceTest, OneThatIsDamagedDoesNotCount) {
  write_live_place(file(), {7, -12});
  std::ifstream in(file());
  const std::string good(std::istreambuf_iterator<char>(in), {});
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto bad = good;
    bad[i] ^= 1;
    std::ofstream(file()) << bad;
    EXPECT_FALSE(read_live_place(file())) << bad;
    std::ofstream(file()) << good.substr(0, i);
    EXPECT_FALSE(read_live_place(file())) << good.substr(0, i);
  }
}

TEST_F(LivePlaceTest, BelongsToItsRunAlone) {
  EXPECT_EQ(live_place_name("run.h5", 3), "run.live-0003.place");
  EXPECT_TRUE(is_name_of_run("run.h5", "run.live-0003.place"));
  EXPECT_TRUE(is_name_of_run("run.h5", "run.live-0003.place.partial"));
  EXPECT_FALSE(is_name_of_run("run.h5", "run2.live-0003.place"));
  EXPECT_FALSE(is_name_of_run("run.h5", "run.live-x.place"));
  write_live_place(file(), {7, -12});
  const auto of_another = folder / "other.live-0003.place";
  write_live_place(of_another, {7, -12});
  const auto of_a_user = folder / "run.live-0004.place";
  std::ofstream(of_a_user) << "mine";
  remove_leftovers(folder / "run.h5", {});
  EXPECT_FALSE(std::filesystem::exists(file()));
  EXPECT_TRUE(std::filesystem::exists(of_another) && std::filesystem::exists(of_a_user));
  EXPECT_THROW(write_live_place(of_a_user, {7, -12}), UserError);
}

}  // namespace
}  // namespace eventloom
