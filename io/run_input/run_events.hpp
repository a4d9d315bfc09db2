#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/dataflow/event_hits.hpp"
#include "io/event_files/event_target.hpp"
#include "io/run_input/event_stream.hpp"
#include "io/run_input/run_tables.hpp"

namespace eventloom {

/// What list-mode data need to know of a run.
EventFileRun event_file_run(const RunRecord& record);

/// The events of a run, or of a merged file, one by one and whole, in the order of time. All functions throw UserError
/// as those of EventStream.
class RunEvents {
 public:
  /// `partial`: also of a run that has not ended.
  RunEvents(const std::filesystem::path& file, bool partial);

  [[nodiscard]] const RunTables& run() const { return run_; }
  /// Of a run that has not ended, in words.
  [[nodiscard]] const std::string& missing() const { return missing_; }

  /// Goes to the next event; false at the end.
  bool next();
  /// Valid until next().
  [[nodiscard]] const EventHits& event() const { return event_; }

 private:
  void read_hits();
  void read_payload();

  RunTables run_;
  std::string missing_;
  std::unique_ptr<EventStream> stream_;  ///< null until the first event is asked for
  HitPiece piece_;
  std::vector<std::uint32_t> words_;
  HitColumns hits_;
  EventHits event_;
};

}  // namespace eventloom
