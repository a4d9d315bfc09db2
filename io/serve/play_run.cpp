#include "io/serve/play_run.hpp"

#include "core/runtime/error.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/run_format/run_index.hpp"
#include "io/run_input/run_events.hpp"

namespace eventloom {

namespace {

class RunPlayer final : public EventPlayer {
 public:
  explicit RunPlayer(const SourceUri& uri)
      : events_(uri.path(), false), maker_(make_lmd_events(event_file_run(events_.run().record))) {}

  bool next() override {
    if (!events_.next()) return false;
    event_ = &maker_.make(events_.event(), ++number_);
    return true;
  }
  [[nodiscard]] LmdEvent& event() override { return *event_; }
  [[nodiscard]] bool timed() const override { return !events_.run().record.numbered; }
  [[nodiscard]] std::optional<Tick> time() const override {
    if (!timed()) return std::nullopt;
    return nanoseconds_of(events_.event().time, events_.run().record.base.tick_ps);
  }
  /// Counts only an unfinished run: reading a damaged file throws an error.
  [[nodiscard]] std::uint64_t damaged_places() const override { return events_.missing().empty() ? 0 : 1; }

 private:
  RunEvents events_;
  LmdEventMaker maker_;
  std::uint64_t number_ = 0;
  LmdEvent* event_ = nullptr;
};

}  // namespace

std::unique_ptr<EventPlayer> play_run(const SourceUri& uri) {
  uri.accept_only({});
  refuse_index(uri.path());
  if (is_part_file(uri.path())) throw UserError("'" + uri.path() + "' is a part of a run; serve its run file");
  if (!is_run_file(uri.path()) && !is_merged_file(uri.path())) {
    throw UserError("'" + uri.path() + "' is not a run's output; convert it to .epochs first");
  }
  return std::make_unique<RunPlayer>(uri);
}

}  // namespace eventloom
