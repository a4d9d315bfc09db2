#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/run/run_resume.hpp"
#include "app/run/run_setup.hpp"
#include "core/control/collective.hpp"
#include "core/dataflow/live_stream.hpp"
#include "formats/ids.hpp"

namespace eventloom {

/// Marks on disk that a run listens to live sources, and what it has heard of them: if it dies before it begins, the
/// run that is started again reports what was lost. Marks of earlier invocations stay. A failure is not an error.
class ListeningMarks {
 public:
  /// `expected`: see SetupWatch. On rank 0, creates a mark if any source is live and has none, and with `continues`
  /// reads those of earlier invocations.
  ListeningMarks(std::string output, const RunSetup& expected, bool first_rank, bool continues);
  /// Removes the marks made here, if the run has not begun, unless they are kept.
  ~ListeningMarks();
  ListeningMarks(const ListeningMarks&) = delete;
  ListeningMarks& operator=(const ListeningMarks&) = delete;

  /// See LiveWait.
  void hear(SourceId source, const PeerPlace& place);
  /// Sources have sent data: if the run cannot begin, they are lost, and the next one must say so.
  void keep() { keeps_ = true; }
  /// The run begins: its sources keep their places from now on.
  void begin() { begun_ = true; }

  /// Whether an earlier invocation has listened to any source.
  [[nodiscard]] bool any_earlier() const { return any_earlier_; }
  /// The place of a source that earlier invocations kept.
  [[nodiscard]] std::optional<PeerPlace> earlier(std::uint32_t source) const { return earlier_[source]; }

 private:
  template <class Write>
  void make(std::uint32_t source, Write write);

  std::string output_;
  bool any_earlier_ = false;
  std::vector<std::optional<PeerPlace>> earlier_;  ///< indexed by source
  std::set<std::uint32_t> heard_;
  std::set<std::filesystem::path> made_;
  bool keeps_ = false;
  bool begun_ = false;
};

/// Collective. Call before the output is begun. Returns the positions that earlier invocations reached, indexed by
/// stream; those of recordings, followed or not, are unused. Empty if no earlier invocation has listened.
/// `continues`: --resume was given. `marks`: of this invocation.
std::vector<LivePast> find_live_pasts(const RunSetup& setup, const std::vector<Resumption>& resumptions, bool continues,
                                      const ListeningMarks& marks, const Collective& ranks);

/// Call before the sources begin. Passes the positions of earlier invocations to the live sources, and makes all live
/// sources record their positions in files beside `output`.
void prepare_live_sources(const std::string& output, RunSetup& setup, const std::vector<LivePast>& pasts);

}  // namespace eventloom
