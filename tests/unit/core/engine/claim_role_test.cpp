#include "core/engine/claim_role.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "core/engine/role_layout.hpp"
#include "schedulers/make_scheduler.hpp"
#include "tests/support/loopback_transport.hpp"

namespace eventloom {
namespace {

constexpr int kRanks = 3;
constexpr std::uint32_t kBuilders = 3;
constexpr SliceId kFirst{7};

struct Case {
  std::uint64_t seed = 0;
  std::uint64_t slices = 300;
  std::uint32_t in_flight = 4;           ///< slices that a builder claims at a time
  std::uint64_t ahead = 96;              ///< slices assigned beyond the lowest one not yet built
  std::uint32_t notes = 4;               ///< cells of a ring
  std::uint32_t at_once = 1;             ///< slices that a builder builds in a turn at most
  std::vector<unsigned> turns{1, 1, 1};  ///< builder b takes a turn in one of turns[b] steps, on average
};

ScheduleSettings schedule_of(const Case& setting) {
  ScheduleSettings settings;
  settings.name = "balanced";
  settings.n_sources = kRanks;
  settings.n_builders = kBuilders;
  settings.first_slice = kFirst;
  settings.claim_ahead = setting.ahead;
  return settings;
}

RingGeometry notes_of(const Case& setting) {
  return {setting.notes,
          note_cell_bytes(std::max<std::uint64_t>(sizeof(Assignment) + setting.ahead * 4, sizeof(Claim)))};
}

/// Claims like a BuilderRole; building takes no time.
struct FakeBuilder {
  BuilderId id;
  SliceId from = kFirst;
  std::uint64_t built = 0;
  bool finished = false;
};

/// One rank: a source, a builder and, on rank 0, the assigner.
struct Rank {
  std::unique_ptr<Scheduler> scheduler;
  std::unique_ptr<ClaimRole> claims;
  FakeBuilder builder;
  std::vector<std::uint32_t> learned;  ///< builders of the slices, beginning with the first
  std::uint64_t given = 0;             ///< slices of its own builder among them
};

class Cluster {
 public:
  explicit Cluster(const Case& setting)
      : setting_(setting),
        end_{kFirst.value + setting.slices},
        roles_{.sources = kRanks, .builders = kBuilders, .filters = 0, .ranks = kRanks},
        notes_(notes_of(setting)),
        map_(roles_, RingGeometry{2, 256}, notes_),
        fabric_(map_.control_bytes, setting.seed),
        random_(setting.seed) {
    for (int r = 0; r < kRanks; ++r) add_rank(r);
    add_assigner();
  }

  void run() {
    for (auto& rank : ranks_) publish(rank);
    for (int step = 0; step < 200'000 && !all_done(); ++step) turn(static_cast<int>(random_() % kRanks));
    // Delivers the messages in flight, as at the end of a run.
    for (int i = 0; i < 10 * static_cast<int>(setting_.slices); ++i) {
      for (int r = 0; r < kRanks; ++r) turn(r);
    }
  }

  [[nodiscard]] bool all_done() const {
    return assigner_->done() && std::ranges::all_of(ranks_, [](const Rank& r) { return r.claims->done(); });
  }
  /// The builder of each slice, as one rank has learned it.
  [[nodiscard]] const std::vector<std::uint32_t>& learned(int rank) const {
    return ranks_[static_cast<std::size_t>(rank)].learned;
  }
  [[nodiscard]] std::uint64_t assigned() const { return book_->end().value - kFirst.value; }
  [[nodiscard]] std::uint64_t notes_sent() const { return assigner_->notes_sent(); }
  [[nodiscard]] std::uint64_t built(std::size_t builder) const { return ranks_[builder].builder.built; }
  /// The largest distance of an assigned slice from the lowest one not built.
  [[nodiscard]] std::uint64_t furthest() const { return furthest_; }

 private:
  void add_rank(int r) {
    Rank rank;
    rank.scheduler = make_scheduler(schedule_of(setting_));
    rank.builder.id = {static_cast<std::uint32_t>(r)};  // as many sources as ranks
    const auto& to = map_.to_assigner[static_cast<std::size_t>(r)];
    const auto& from = map_.from_assigner[static_cast<std::size_t>(r)];
    rank.claims =
        std::make_unique<ClaimRole>(*rank.scheduler->claims(), NoteSender(producer(to)), NoteReceiver(consumer(from)));
    ranks_.push_back(std::move(rank));
  }

  void add_assigner() {
    std::vector<NoteReceiver> claims;
    std::vector<NoteSender> assignments;
    for (const auto& link : map_.to_assigner) claims.emplace_back(consumer(link));
    for (const auto& link : map_.from_assigner) assignments.emplace_back(producer(link));
    auto scheduler = make_scheduler(schedule_of(setting_));
    book_ = scheduler->claims();
    assigner_ = std::make_unique<AssignerRole>(std::move(scheduler), finished_, kBuilders, setting_.ahead,
                                               std::move(claims), std::move(assignments));
  }

  RingProducer producer(const RingLink& link) {
    return {{fabric_.rank(link.sender), fabric_.rank(link.sender)},
            link.receiver,
            link.ring_offset,
            link.credit_offset,
            link.placed(notes_)};
  }
  RingConsumer consumer(const RingLink& link) {
    return {{fabric_.rank(link.receiver), fabric_.rank(link.receiver)},
            link.sender,
            link.ring_offset,
            link.credit_offset,
            link.placed(notes_)};
  }

  void turn(int r) {
    auto& rank = ranks_[static_cast<std::size_t>(r)];
    if (r == 0 && random_() % 2 == 0) assigner_->do_work({});
    furthest_ = std::max(furthest_, book_->end().value - lowest_unbuilt());
    rank.claims->do_work({});
    learn(rank);
    build(rank);
    fabric_.rank(r).progress();
    if (random_() % 4 != 0) return;
    fabric_.rank(r).flush_all();
  }

  // The book drops old slices; the test keeps them.
  void learn(Rank& rank) {
    for (auto slice = kFirst.value + rank.learned.size(); slice < rank.claims->claimed_end().value; ++slice) {
      std::vector<std::uint32_t> owners;
      for (std::uint32_t b = 0; b < kBuilders; ++b) {
        if (rank.scheduler->next_slice({b}, {slice}) == SliceId{slice}) owners.push_back(b);
      }
      ASSERT_EQ(owners.size(), 1U) << "slice " << slice;
      rank.learned.push_back(owners[0]);
      if (owners[0] == rank.builder.id.value) ++rank.given;
    }
    EXPECT_LE(rank.given, rank.builder.built + setting_.in_flight) << "more than the builder has claimed";
  }

  void build(Rank& rank) {
    auto& builder = rank.builder;
    if (builder.finished || random_() % setting_.turns[builder.id.value] != 0) return;
    for (std::uint32_t i = 0; i < setting_.at_once; ++i) {
      const auto next = rank.scheduler->next_slice(builder.id, builder.from);
      if (!next || *next >= end_) {
        builder.finished = rank.claims->claimed_end() >= end_;
        break;
      }
      if (!sent_by_all(*next)) break;
      builder.from = {next->value + 1};
      ++builder.built;
      built_.resize(std::max<std::size_t>(built_.size(), builder.from.value - kFirst.value));
      ++built_[next->value - kFirst.value];
      EXPECT_EQ(built_[next->value - kFirst.value], 1) << "slice " << next->value;
    }
    publish(rank);
  }

  // A source sends a slice once it has learned the slice's builder.
  [[nodiscard]] bool sent_by_all(SliceId slice) const {
    return std::ranges::all_of(ranks_, [&](const Rank& r) { return kFirst.value + r.learned.size() > slice.value; });
  }

  void publish(Rank& rank) {
    Claim claim;
    claim.builder = rank.builder.id.value;
    claim.built = rank.builder.built;
    claim.claimed = claim.built + setting_.in_flight;
    claim.finished = rank.builder.finished ? 1 : 0;
    rank.claims->claim(claim);
  }

  [[nodiscard]] std::uint64_t lowest_unbuilt() {
    while (n_built_ < built_.size() && built_[n_built_] != 0) ++n_built_;
    return kFirst.value + n_built_;
  }

  Case setting_;
  SliceId end_;
  Roles roles_;
  RingGeometry notes_;
  RingMap map_;
  LoopbackFabric fabric_;
  std::mt19937_64 random_;
  std::vector<Rank> ranks_;
  SliceSet finished_;
  std::unique_ptr<AssignerRole> assigner_;
  const ClaimBook* book_ = nullptr;  ///< the assigner's
  std::vector<int> built_;           ///< how often each slice was built, beginning with the first
  std::uint64_t n_built_ = 0;        ///< the first n_built_ slices are all built
  std::uint64_t furthest_ = 0;
};

void expect_right(const Cluster& cluster, const Case& setting) {
  SCOPED_TRACE("seed " + std::to_string(setting.seed));
  EXPECT_TRUE(cluster.all_done());
  EXPECT_GE(cluster.assigned(), setting.slices);
  for (int r = 0; r < kRanks; ++r) {
    EXPECT_EQ(cluster.learned(r).size(), cluster.assigned()) << "rank " << r;
    EXPECT_EQ(cluster.learned(r), cluster.learned(0)) << "rank " << r;
  }
  std::uint64_t built = 0;
  for (std::uint32_t b = 0; b < kBuilders; ++b) {
    const auto& all = cluster.learned(0);
    built += cluster.built(b);
    EXPECT_EQ(cluster.built(b),
              static_cast<std::uint64_t>(std::count(all.begin(), all.begin() + static_cast<long>(setting.slices), b)));
  }
  EXPECT_EQ(built, setting.slices);
  EXPECT_LE(cluster.furthest(), setting.ahead);
  EXPECT_LE(cluster.notes_sent(), cluster.assigned() * kRanks);
}

TEST(Claims, EveryRankLearnsTheSame) {
  for (const std::uint32_t notes : {1U, 2U, 16U}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Case setting{.seed = seed, .notes = notes, .turns = {1, 1, 1}};
      Cluster cluster(setting);
      cluster.run();
      expect_right(cluster, setting);
    }
  }
}

TEST(Claims, ASlowBuilderGetsFewer) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Case setting{.seed = seed, .turns = {2, 2, 200}};
    Cluster cluster(setting);
    cluster.run();
    expect_right(cluster, setting);
    EXPECT_LT(cluster.built(2) * 3, cluster.built(0));
    EXPECT_LT(cluster.built(2) * 3, cluster.built(1));
    EXPECT_GT(cluster.built(2), 0U);
  }
}

// A very slow builder stops the others when they are `ahead` slices ahead.
TEST(Claims, NoBuilderGetsTooFarAhead) {
  for (const std::uint64_t ahead : {1ULL, 2ULL, 5ULL, 20ULL}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const Case setting{.seed = seed, .slices = 100, .ahead = ahead, .turns = {1, 1, 50}};
      Cluster cluster(setting);
      cluster.run();
      expect_right(cluster, setting);
      EXPECT_EQ(cluster.furthest(), ahead) << "the limit is reached";
    }
  }
}

TEST(Claims, OneNoteAssignsManySlices) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Case setting{.seed = seed, .slices = 2000, .in_flight = 32, .ahead = 400, .at_once = 32, .turns = {8, 8, 8}};
    Cluster cluster(setting);
    cluster.run();
    expect_right(cluster, setting);
    EXPECT_LT(cluster.notes_sent() * 4, cluster.assigned() * kRanks);
  }
}

// Nothing is assigned before the first claim, and no role is done before all builders have finished.
TEST(Claims, WithoutClaimsNothingIsAssigned) {
  const Case setting{.turns = {1, 1, 1}};
  const Cluster cluster(setting);
  EXPECT_FALSE(cluster.all_done());
  EXPECT_EQ(cluster.assigned(), 0U);
}

}  // namespace
}  // namespace eventloom
