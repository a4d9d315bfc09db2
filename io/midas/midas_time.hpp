#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "io/midas/midas_file.hpp"
#include "io/recorded/tick_scale.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Where the time of a MIDAS event comes from, as the source's URI says:
///
///   time=tag                      its serial number; the default
///   time=NAME:OFFSET[,COUNT]      32-bit words of the first bank NAME; COUNT is 1 or 2, the low word first
///
/// Times count `unit` (ns); `round` allows times that are not whole ticks.
class MidasTime {
 public:
  /// Throws UserError when a key is invalid.
  MidasTime(const SourceUri& uri, std::uint64_t tick_ps);

  /// Whether times are serial numbers, which of() does not return.
  [[nodiscard]] bool numbered() const { return !bank_; }
  /// Nothing when the event has no time, or one that is not a valid tick.
  [[nodiscard]] std::optional<Tick> of(const MidasEvent& event) const;
  /// For messages.
  [[nodiscard]] std::string description() const;

 private:
  void read(const SourceUri& uri, const std::string& text);

  TickScale scale_;
  std::string text_;  ///< of the key `time`
  std::optional<std::uint32_t> bank_;
  std::size_t offset_ = 0;  ///< words
  std::size_t count_ = 1;
};

}  // namespace eventloom
