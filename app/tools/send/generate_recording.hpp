#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/tools/send/generate_events.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

/// Paths of a source's stream, of the list of events, and of the description of the recording.
std::string stream_path(const GenerateSettings& settings, std::uint32_t source);
std::string truth_csv_path(const GenerateSettings& settings);
std::string truth_json_path(const GenerateSettings& settings);
/// A predicate for Recognise.
bool is_truth_csv(const std::filesystem::path& file);

struct GenerateResult {
  std::uint64_t events = 0;
  std::uint64_t event_hits = 0;
  std::vector<std::uint64_t> hits;  ///< one count per source
  std::uint64_t bytes = 0;
};

/// Writes the output of a generator: a stream file per source, and the truth, with one line per event.
class RecordingWriter {
 public:
  /// `settings` must outlive the writer. Throws UserError.
  explicit RecordingWriter(const GenerateSettings& settings);
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  /// Takes the data that the generator has produced since clear().
  void take(const EventGenerator& generator);
  GenerateResult finish();

 private:
  class Stream;

  PartialFile truth_;
  std::string truth_text_;  ///< text not yet written
  std::vector<std::unique_ptr<Stream>> streams_;
  GenerateResult result_;
};

/// Generates a complete recording to files. Memory does not depend on the duration. Throws UserError.
GenerateResult generate(const GenerateSettings& settings);

}  // namespace eventloom
