#include "io/serve/play_lmd.hpp"

#include <array>
#include <optional>
#include <string_view>

#include "io/files/defect_log.hpp"
#include "io/lmd/lmd_file.hpp"
#include "io/lmd/lmd_time.hpp"

namespace eventloom {

namespace {

constexpr auto kPlayKeys = std::to_array<std::string_view>({"time", "wr", "from", "unit", "round"});

/// Rounds times by default, as times used for pacing need not be exact ticks.
SourceUri with_rounding(const SourceUri& uri) {
  return uri.get("time", "tag") == "tag" || uri.has("round") ? uri : uri.with("round", "down");
}

class LmdPlayer final : public EventPlayer {
 public:
  explicit LmdPlayer(const SourceUri& uri)
      : time_(with_rounding(uri), kNanosecondPs), file_(uri.path()), defect_log_(uri.path()) {}

  bool next() override {
    const bool there = file_.next(event_);
    for (const auto& problem : file_.problems()) {
      defect_log_.say(Defect::damage, problem.offset, [&] { return problem.text; });
      if (problem.effect != LmdEffect::none) ++damaged_;
    }
    if (!there) defect_log_.sum_up();
    at_ = there && timed() ? time_.of(event_) : std::nullopt;
    return there;
  }
  [[nodiscard]] LmdEvent& event() override { return event_; }
  [[nodiscard]] bool timed() const override { return !time_.numbered(); }
  [[nodiscard]] std::optional<Tick> time() const override { return at_; }
  [[nodiscard]] std::uint64_t damaged_places() const override { return damaged_; }

 private:
  LmdTime time_;
  LmdFile file_;
  DefectLog defect_log_;
  LmdEvent event_;
  std::optional<Tick> at_;  ///< its time, if there is one
  std::uint64_t damaged_ = 0;
};

}  // namespace

std::unique_ptr<EventPlayer> play_lmd(const SourceUri& uri) {
  uri.accept_only(kPlayKeys);
  return std::make_unique<LmdPlayer>(uri);
}

}  // namespace eventloom
