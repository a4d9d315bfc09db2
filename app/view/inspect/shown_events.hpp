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

/// Puts hits of one source, in the order of its stream, together to what `inspect` shows one by one: events, hits of
/// one event number, where the times are such; hits elsewhere.
class ShownEvents {
 public:
  struct Style {
    bool numbered = false;          ///< times are event numbers
    bool hex = false;               ///< words of data
    std::string name = {};          ///< of the source, for_terminal(); shown where there are several; else empty
    std::optional<Tick> only = {};  ///< nothing is shown but the event of this number
  };
  /// Writes to `out`, which must outlive this. Null: only counts.
  ShownEvents(std::ostream* out, Style style) : out_(out), style_(std::move(style)) {}

  /// From the header of the stream, before its first hit.
  void begin(const StreamHeader& header) { origin_ = hit_origin_of(header.text); }

  void add(Tick time, std::uint32_t channel, std::span<const std::uint32_t> payload);
  /// The last event has all of its hits.
  void complete();

  /// Complete ones, shown or not, and their hits.
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t hits() const { return hits_; }
  /// The event asked for has been shown.
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
  Tick time_ = 0;           ///< of the hits held
  std::vector<Hit> event_;  ///< not yet shown
  std::uint64_t events_ = 0;
  std::uint64_t hits_ = 0;
  bool found_ = false;
};

}  // namespace eventloom
