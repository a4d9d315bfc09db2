#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "io/run_format/histogram_record.hpp"

namespace eventloom {

/// The histograms of a run: the server's thread requests them here, and the main thread deposits their counts.
class HistogramDesk {
 public:
  /// A snapshot of a histogram's counts.
  struct Counted {
    std::shared_ptr<const HistogramRecord> record = {};  ///< the result of for_page(); null: not counted yet
    std::string time = {};                               ///< UTC
    bool final = false;                                  ///< the counts will not change
    std::string since = {};                              ///< UTC of the last reset, from which they count; empty: none
    friend bool operator==(const Counted&, const Counted&) = default;
  };

  // Main thread.

  /// The histograms of the run, without counts; until then there are none.
  void open(std::vector<HistogramRecord> histograms);
  /// Returns the numbers of the histograms that were asked for since the last call.
  [[nodiscard]] std::vector<std::size_t> take_asked();
  void put(std::size_t histogram, Counted counted);

  // Server's thread.

  /// JSON: names and axes of the histograms.
  [[nodiscard]] std::string list_text() const;
  /// JSON: a histogram, see README.md; null if there is none of this name. It is generated once for all clients.
  std::shared_ptr<const std::string> text_of(std::string_view name);

 private:
  struct Place {
    std::shared_ptr<const HistogramRecord> blank;
    bool asked = false;
    Counted counted = {};
  };
  struct Text {
    Counted of;
    std::shared_ptr<const std::string> text;
  };

  mutable std::mutex mutex_;  ///< guards `places_`; held only briefly
  std::vector<Place> places_;
  std::atomic<bool> any_asked_{false};
  std::map<std::string, Text, std::less<>> texts_;  ///< used only by the server's thread
};

}  // namespace eventloom
