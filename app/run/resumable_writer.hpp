#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/dataflow/event_sink.hpp"
#include "formats/slice_set.hpp"
#include "io/run_output/part_writer.hpp"

namespace eventloom {

/// A writer of a run that can be resumed. When writing fails it reports that once, and from then on ignores slices:
/// those are built again when the run is resumed.
class ResumableWriter final : public EventSink {
 public:
  /// Ignores the slices in `finished`, which must outlive it: those that an earlier invocation has written, and another
  /// definition of the run has not. `on_failure` gets the reason. Throws UserError when the first part cannot be
  /// created.
  ResumableWriter(PartWriterSettings settings, const SliceSet& finished,
                  std::function<void(const std::string& why)> on_failure);

  void write(const BuiltSlice& slice) override;
  /// The next slice begins another part.
  void begin_part();
  /// Ends the last part, if possible; returns the parts finished by this invocation.
  const std::vector<FinishedPart>& close();
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  template <class Step>
  void attempt(Step step);

  PartWriter parts_;
  const SliceSet& finished_;
  std::function<void(const std::string& why)> on_failure_;
  bool failed_ = false;
};

}  // namespace eventloom
