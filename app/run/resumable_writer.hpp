#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/dataflow/event_sink.hpp"
#include "formats/slice_set.hpp"
#include "io/run_output/part_writer.hpp"

namespace eventloom {

/// A writer for a run that can be resumed. When writing fails, it reports this once and then ignores all further
/// slices; the resumed run builds them again.
class ResumableWriter final : public EventSink {
 public:
  /// Ignores the slices in `finished`, which must outlive this object: an earlier invocation has written them, though
  /// not for every definition. `on_failure` receives the reason of a failure. Throws UserError if the first part cannot
  /// be created.
  ResumableWriter(PartWriterSettings settings, const SliceSet& finished,
                  std::function<void(const std::string& why)> on_failure);

  void write(const BuiltSlice& slice) override;
  /// Begins a new part with the next slice.
  void begin_part();
  /// Ends the last part if possible, and returns the parts that this invocation finished.
  const std::vector<FinishedPart>& close();
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] const PartWriter& parts() const { return parts_; }

 private:
  template <class Step>
  void attempt(Step step);

  PartWriter parts_;
  const SliceSet& finished_;
  std::function<void(const std::string& why)> on_failure_;
  bool failed_ = false;
};

}  // namespace eventloom
