#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/dataflow/live_stream.hpp"

namespace eventloom {

/// A stream whose progress the test sets.
class FakeLiveStream final : public LiveStream {
 public:
  explicit FakeLiveStream(std::string name) : name_(std::move(name)) {}

  struct GivenUp {
    Epoch end;
    bool missing;
    friend bool operator==(const GivenUp&, const GivenUp&) = default;
  };
  std::vector<GivenUp> given_up;
  std::vector<Epoch> passed;
  std::vector<Epoch> settled;  ///< asked for
  std::uint64_t late_passed = 0;
  bool ended = false;
  bool finished = false;
  bool holds = false;  ///< holds data back, even after finish()
  Epoch expected = 0;
  std::optional<Epoch> jumped;
  bool known = true;
  bool connected = true;
  bool full = false;
  bool held_up = false;

  void be_optional() { header_.flags |= kOptional; }
  /// Data before `epoch` have come, and more may follow.
  Epoch seen = 0;
  /// All data before `epoch` arrive with the next receive().
  void come(Epoch epoch) { coming_ = epoch; }

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return {}; }
  std::optional<Epoch> first_epoch() override { return 0; }
  void collect(EpochRange, SliceData&) override {}
  [[nodiscard]] std::optional<Epoch> end_epoch() const override { return ended ? std::optional(heard_) : std::nullopt; }
  [[nodiscard]] std::optional<Damage> tail_damage() const override { return std::nullopt; }
  void release_before(Epoch) override {}
  [[nodiscard]] std::uint64_t hits_read() const override { return 0; }
  [[nodiscard]] std::uint64_t anomalies() const override { return 0; }

  [[nodiscard]] LivePeer peer() const override { return {.known = known, .connected = connected}; }
  void fix_header() override {}
  void begin(LiveBegin) override {}
  void expect(Epoch epoch) override { expected = epoch; }
  std::size_t receive() override { return std::exchange(heard_, coming_) != coming_ ? 1 : 0; }
  [[nodiscard]] LiveProgress progress() const override {
    const bool drained = finished && !holds;
    return {.complete = complete(),
            .received = heard_,
            .seen_end = std::max(heard_, seen),
            .aside = jumped,
            .listens = !drained && !full,
            .held_up = held_up,
            .drained = drained,
            .late_passed = late_passed};
  }
  [[nodiscard]] bool request(EpochRange epochs) override { return ended || complete() >= epochs.end; }
  bool advance(Epoch to, Advance how) override {
    if (how == Advance::empty) passed.push_back(to);
    if (how == Advance::missing || how == Advance::ended) given_up.push_back({to, how == Advance::missing});
    if (how == Advance::settled) settled.push_back(to);
    if (how == Advance::settled && holds) return false;
    given_up_to_ = to;
    return true;
  }
  void finish(std::optional<Epoch>) override { finished = true; }
  void close() override {}

 private:
  [[nodiscard]] Epoch complete() const { return std::max(heard_, given_up_to_); }

  StreamHeader header_;
  std::string name_;
  Epoch coming_ = 0;
  Epoch heard_ = 0;
  Epoch given_up_to_ = 0;
};

}  // namespace eventloom
