#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/observe/histogram_desk.hpp"
#include "app/run/output_settings.hpp"
#include "app/run/run_resume.hpp"
#include "app/run/run_setup.hpp"
#include "core/control/collective.hpp"
#include "core/monitor/histogram_feed.hpp"
#include "io/run_format/histogram_record.hpp"

namespace eventloom {

/// The histograms of one kind of events.
struct KindHistograms {
  std::string name;                          ///< that of the definition; empty if there is only one, without a name
  std::vector<HistogramRecord> before = {};  ///< sums of the parts of earlier invocations, to which this one adds;
                                             ///< empty if there are no such parts
};

/// Forwards requests of the monitor's clients for histograms to the session, and the counts to the monitor. On rank 0.
class LiveHistograms {
 public:
  /// `setup` must have histograms. `kinds`: one for each definition.
  LiveHistograms(const RunSetup& setup, std::vector<KindHistograms> kinds);

  /// Names and axes, without counts. With named definitions a name is that of the definition and the histogram's,
  /// "muon/energy".
  [[nodiscard]] std::vector<HistogramRecord> blanks() const;
  /// Call every turn. After a reset, the counts are those since, without earlier invocations.
  void turn(HistogramFeed::Time now, HistogramFeed& feed, HistogramDesk& desk);
  /// Call after the session: deposits the final counts of recently requested histograms, and withdraws the others.
  void conclude(HistogramFeed& feed, HistogramDesk& desk);

 private:
  void follow_reset(const HistogramFeed& feed, HistogramDesk& desk);
  [[nodiscard]] HistogramRecord record(std::size_t histogram, std::span<const std::uint64_t> cells) const;
  [[nodiscard]] HistogramDesk::Counted counted(std::size_t histogram, const HistogramFeed& feed, bool final) const;

  std::shared_ptr<const HistogramSet> set_;
  std::string value_unit_;
  std::vector<KindHistograms> kinds_;
  std::uint32_t resets_ = 0;
  std::string since_;  ///< UTC of the last reset
};

/// Collective. Returns the histograms of each definition; on rank 0, if the run is resumed, with the sums over its
/// finished parts. Throws UserError if one cannot be read.
std::vector<KindHistograms> histograms_before(const OutputSettings& output, const std::vector<RunRecord>& records,
                                              const std::vector<Resumption>& resumptions, const Collective& ranks);

}  // namespace eventloom
