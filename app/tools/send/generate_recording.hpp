#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/tools/send/generate_events.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

/// Paths of the stream of a source, of the list of events, and of the description of the recording.
std::string stream_path(const GenerateSettings& settings, std::uint32_t source);
std::string truth_csv_path(const GenerateSettings& settings);
std::string truth_json_path(const GenerateSettings& settings);
/// For Recognise.
bool is_truth_csv(const std::filesystem::path& file);

struct GenerateResult {
  std::uint64_t events = 0;
  std::uint64_t event_hits = 0;
  std::vector<std::uint64_t> hits;  ///< by source
  std::uint64_t bytes = 0;
};

/// Writes a generator's output: a stream file per source, and the truth, one line per event.
class RecordingWriter {
 public:
  /// `settings` must outlive it. Throws UserError.
  explicit RecordingWriter(const GenerateSettings& settings);
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  /// Takes the data generated since clear().
  void take(const EventGenerator& generator);
  GenerateResult finish();

 private:
  class Stream;

  PartialFile truth_;
  std::string truth_text_;  ///< not yet written
  std::vector<std::unique_ptr<Stream>> streams_;
  GenerateResult result_;
};

/// Generates a whole recording to files. Memory does not depend on the duration. Throws UserError.
GenerateResult generate(const GenerateSettings& settings);

}  // namespace eventloom
