#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/view/inspect/hit_text.hpp"
#include "formats/geometry.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

/// Groups the hits of one source, in stream order, into the items that `inspect` shows: events, the hits of one event
/// number, if the times are event numbers; otherwise single hits.
class ShownEvents {
 public:
  struct Style {
    bool numbered = false;          ///< times are event numbers
    bool hex = false;               ///< print data words in hexadecimal
    std::string name = {};          ///< source name, from for_terminal(); empty if there is only one source
    std::optional<Tick> only = {};  ///< show only the event of this number
  };
  /// Writes to `out`, which must outlive the object. If `out` is null, only counts.
  ShownEvents(std::ostream* out, Style style) : out_(out), style_(std::move(style)) {}

  /// Reads the header of the stream; call before its first hit.
  void begin(const StreamHeader& header) { origin_ = hit_origin_of(header.text); }

  void add(Tick time, std::uint32_t channel, std::span<const std::uint32_t> payload);
  /// Declares that the last event has all of its hits.
  void complete();

  /// Number of complete events, shown or not, and of their hits.
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t hits() const { return hits_; }
  /// Whether the requested event has been shown.
  [[nodiscard]] bool found() const { return found_; }

 private:
  struct Hit {
    std::uint32_t channel = 0;
    std::vector<std::uint32_t> payload;
  };
  void show();
  void write_event(std::span<const HitText> hits);
  void write_hit(const HitText& hit);
  void write_item(const HitText& hit, const std::string& behind);
  [[nodiscard]] std::string word_text(std::uint32_t word) const;

  std::ostream* out_;
  Style style_;
  HitOrigin origin_;
  Tick time_ = 0;           ///< time of the hits in event_
  std::vector<Hit> event_;  ///< hits not yet shown
  std::uint64_t events_ = 0;
  std::uint64_t hits_ = 0;
  bool found_ = false;
};

}  // namespace eventloom
