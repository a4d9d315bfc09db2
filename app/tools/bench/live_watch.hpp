#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "app/tools/bench/live_source.hpp"
#include "core/dataflow/event_sink.hpp"
#include "core/dataflow/run_totals.hpp"
#include "core/engine/slice_output.hpp"
#include "io/run_output/part_writer.hpp"
#include "schedulers/scheduler.hpp"

/// Parts of a live run that watch slices pass, and record when.
namespace eventloom {

/// Returns ns since the common start of all ranks.
using Now = std::function<std::int64_t()>;

/// Times at which a builder's slice reached each stage, in ns since the start.
struct SliceTimes {
  SliceId slice;
  std::int64_t received = 0;
  std::int64_t built = 0;
  std::int64_t filtered = 0;  ///< 0 without filters
  std::int64_t written = 0;
};

/// A scheduler that forwards to another.
class Overlay : public Scheduler {
 public:
  explicit Overlay(Scheduler& of) : of_(of) {}
  [[nodiscard]] std::optional<SliceId> next_slice(BuilderId builder, SliceId from) const override {
    return of_.next_slice(builder, from);
  }
  [[nodiscard]] std::optional<BuilderId> choose(const SourceView& view) const override { return of_.choose(view); }
  [[nodiscard]] std::uint64_t start_ns(SourceId source, SliceId slice) const override {
    return of_.start_ns(source, slice);
  }
  [[nodiscard]] std::uint64_t slot_ns() const override { return of_.slot_ns(); }
  [[nodiscard]] ClaimBook* claims() override { return of_.claims(); }

 private:
  Scheduler& of_;
};

/// Prevents a source from sending a slice before its hits have been made.
class MadeFirst final : public Overlay {
 public:
  MadeFirst(Scheduler& of, const std::vector<LiveSource*>& by_number) : Overlay(of), by_number_(by_number) {}
  [[nodiscard]] std::optional<BuilderId> choose(const SourceView& view) const override {
    const auto& source = *by_number_[view.source.value];
    SourceView made = view;
    made.ready = [&](BuilderId b) { return view.ready(b) && source.ready(view.next[b.value]); };
    return Overlay::choose(made);
  }

 private:
  const std::vector<LiveSource*>& by_number_;
};

/// Detects that a builder has taken a slice: it then asks for the next one.
class TakeWatch final : public Overlay {
 public:
  TakeWatch(Scheduler& of, Now now, std::vector<SliceTimes>& log) : Overlay(of), now_(std::move(now)), log_(log) {}
  [[nodiscard]] std::optional<SliceId> next_slice(BuilderId builder, SliceId from) const override {
    if (from.value != 0 && (log_.empty() || log_.back().slice.value + 1 != from.value)) {
      log_.push_back({{from.value - 1}, now_()});
    }
    return Overlay::next_slice(builder, from);
  }

 private:
  Now now_;
  std::vector<SliceTimes>& log_;
};

/// Passes slices on and records when they were built. `to`: the builder's own selector and writers, or the filters.
class TimedOutput final : public SliceOutput {
 public:
  TimedOutput(std::unique_ptr<SliceOutput> to, Now now, std::vector<SliceTimes>& log)
      : to_(std::move(to)), now_(std::move(now)), log_(log) {}
  [[nodiscard]] bool accepts(SliceId slice) override { return to_->accepts(slice); }
  void put(std::vector<BuiltSlice>& built) override {
    while (log_[next_].slice < built.front().slice()) ++next_;
    log_[next_].built = now_();
    to_->put(built);
    log_[next_].written = now_();
  }
  void pass(SliceRange gap) override { to_->pass(gap); }
  void end(SliceId data_end) override { to_->end(data_end); }
  std::size_t do_work() override { return to_->do_work(); }
  [[nodiscard]] bool done() const override { return to_->done(); }

 private:
  std::unique_ptr<SliceOutput> to_;
  Now now_;
  std::vector<SliceTimes>& log_;
  std::size_t next_ = 0;  ///< index into the log; slices without data are skipped
};

/// Counts data passed to a writer, or discarded. A filter's also records the times.
class CountingSink final : public EventSink {
 public:
  explicit CountingSink(std::unique_ptr<PartWriter> writer) : writer_(std::move(writer)) {}
  void record_times(Now now) { now_ = std::move(now); }
  void write(const BuiltSlice& slice) override {
    const auto received = now_ ? now_() : 0;
    totals_.add(slice);
    if (writer_) writer_->write(slice);
    if (now_) times_.push_back({slice.slice(), 0, 0, received, now_()});
  }
  void close() {
    if (writer_) writer_->close();
  }
  [[nodiscard]] const RunTotals& totals() const { return totals_; }
  [[nodiscard]] const std::vector<SliceTimes>& times() const { return times_; }

 private:
  std::unique_ptr<PartWriter> writer_;  ///< null: data are discarded
  RunTotals totals_;
  Now now_;  ///< empty: no times are recorded
  std::vector<SliceTimes> times_;
};

class MakerRole final : public Role {
 public:
  explicit MakerRole(LiveSource& source) : source_(source) {}
  std::size_t do_work(SteadyTime) override { return source_.make(); }
  [[nodiscard]] bool done() const override { return source_.finished(); }

 private:
  LiveSource& source_;
};

}  // namespace eventloom
