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

/// The properties of a run that list-mode files depend on.
EventFileRun event_file_run(const RunRecord& record);

/// A run, or a merged file, whose events are to be written elsewhere.
struct RunToExport {
  RunTables run;
  std::string missing;  ///< missing slices of a run that has not ended, in words; else empty
};
/// `partial`: also accept a run that has not ended. Throws UserError.
RunToExport open_run_to_export(const std::filesystem::path& file, bool partial);

/// Reads the events of a run, or of a merged file, one by one and complete, in time order. All functions throw
/// UserError like those of EventStream.
class RunEvents {
 public:
  /// `partial`: also accept a run that has not ended.
  RunEvents(const std::filesystem::path& file, bool partial);

  [[nodiscard]] const RunTables& run() const { return run_; }
  /// Lists what is missing from a run that has not ended; else empty.
  [[nodiscard]] const std::string& missing() const { return missing_; }

  /// Advances to the next event; returns false at the end.
  bool next();
  /// Valid until next().
  [[nodiscard]] const EventHits& event() const { return event_; }

 private:
  void read_hits();
  void read_payload();

  RunTables run_;
  std::string missing_;
  std::unique_ptr<EventStream> stream_;  ///< null until the first call of next()
  HitPiece piece_;
  std::vector<std::uint32_t> words_;
  HitColumns hits_;
  EventHits event_;
};

}  // namespace eventloom
