#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/dataflow/event_sink.hpp"
#include "io/hdf5/part_writer.hpp"

namespace eventloom {

/// A writer of a run that can be resumed. When it cannot write any more it says so
/// once, and from then on lets slices pass: those are built again when the run is resumed.
class ResumableWriter final : public EventSink {
 public:
  /// `on_failure` is told why. Throws UserError when the first part cannot be created.
  ResumableWriter(PartWriterSettings settings, std::function<void(const std::string& why)> on_failure);

  void write(const BuiltSlice& slice) override;
  /// Ends the last part, if it can; returns what is finished of this run of the program.
  const std::vector<FinishedPart>& close();
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  template <class Step>
  void attempt(Step step);

  PartWriter parts_;
  std::function<void(const std::string& why)> on_failure_;
  bool failed_ = false;
};

}  // namespace eventloom
