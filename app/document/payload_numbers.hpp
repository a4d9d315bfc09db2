#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/payload_kind.hpp"
#include "io/run_format/run_record.hpp"

namespace eventloom {

/// The payload of a run's hits as numbers, by the kinds that the run states for the columns of each source.
class PayloadNumbers {
 public:
  /// Knows no kinds: all words are u32.
  PayloadNumbers() = default;
  explicit PayloadNumbers(const RunRecord& record);

  /// Whether the payload of any source begins with a number that has a sign or decimals.
  [[nodiscard]] bool any_real() const;
  /// Returns that number; std::nullopt if the payload begins with a u32 or lacks words.
  [[nodiscard]] std::optional<double> first_real(std::uint16_t source, std::span<const std::uint32_t> payload) const;
  /// Returns the columns, separated by blanks: u32 in hexadecimal digits, other numbers in decimals. Empty without
  /// payload.
  [[nodiscard]] std::string text(std::uint16_t source, std::span<const std::uint32_t> payload) const;

 private:
  std::vector<std::vector<PayloadKind>> kinds_;  ///< kinds of the columns, indexed by source
};

}  // namespace eventloom
