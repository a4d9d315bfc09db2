#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/send/generate_events.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

/// Path of the stream of a source, of the list of events, and of what the recording is as a whole.
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

/// Writes what a generator makes: a stream file for each source, and the truth, a line for each event.
class RecordingWriter {
 public:
  /// `settings` must outlive it. Throws UserError.
  explicit RecordingWriter(const GenerateSettings& settings);
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  /// Takes what the generator has made since clear().
  void take(const EventGenerator& generator);
  GenerateResult finish();

 private:
  class Stream;

  PartialFile truth_;
  std::string truth_text_;  ///< yet to be written
  std::vector<std::unique_ptr<Stream>> streams_;
  GenerateResult result_;
};

/// All of it, to files. Uses memory independent of the duration. Throws UserError.
GenerateResult generate(const GenerateSettings& settings);

}  // namespace eventloom
