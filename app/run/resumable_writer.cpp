#include "app/run/resumable_writer.hpp"

#include <utility>

#include "core/runtime/activity.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/failure.hpp"

namespace eventloom {

ResumableWriter::ResumableWriter(PartWriterSettings settings, const SliceSet& finished,
                                 std::function<void(const std::string& why)> on_failure)
    : parts_(std::move(settings)), finished_(finished), on_failure_(std::move(on_failure)) {}

template <class Step>
void ResumableWriter::attempt(Step step) {
  if (failed_) return;
  try {
    const Activity activity("writing a part file");
    step();
  } catch (const std::exception&) {
    const auto failure = Failure::of(std::current_exception());
    if (failure.code != kExitUsage) throw;
    failed_ = true;
    on_failure_(failure.text);
  }
}

void ResumableWriter::write(const BuiltSlice& slice) {
  if (finished_.contains(slice.slice())) return;
  attempt([&] { parts_.write(slice); });
}

void ResumableWriter::begin_part() {
  attempt([&] { parts_.end_part(); });
}

const std::vector<FinishedPart>& ResumableWriter::close() {
  attempt([&] { parts_.close(); });
  return parts_.finished();
}

}  // namespace eventloom
