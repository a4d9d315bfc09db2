#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "event_reference.hpp"

namespace eventloom::test {

/// Channels that belong to a group, of one source or of all.
struct RefGroup {
  std::string name;
  std::optional<std::uint16_t> source;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};
/// The groups of the reference: A and B, which share channels, and "none", which has none.
const std::vector<RefGroup>& reference_groups();

/// A condition on the hits of an event or of a window: comparisons joined by && || ! and brackets, without blanks and
/// units. Shares no code with the program.
class RefExpression {
 public:
  explicit RefExpression(const std::string& text);
  /// `hits`: in order of time.
  [[nodiscard]] bool holds(std::span<const RefHit> hits) const;

 private:
  /// NAME[:LOW-HIGH] OP NUMBER.
  struct Term {
    std::string name;
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::string comparison;
    std::uint64_t number = 0;

    [[nodiscard]] std::uint64_t measure(std::span<const RefHit> hits) const;
    [[nodiscard]] bool holds(std::span<const RefHit> hits) const;
  };
  enum class Join : std::uint8_t { term, all, any, none };
  struct Node {
    Join join = Join::term;
    Term term = {};
    std::vector<Node> parts = {};

    [[nodiscard]] bool holds(std::span<const RefHit> hits) const;
  };

  static Term parse_term(const std::string& text);
  static Node parse_any(const std::string& text, std::size_t& at);
  static Node parse_all(const std::string& text, std::size_t& at);
  static Node parse_one(const std::string& text, std::size_t& at);

  Node root_;
};

}  // namespace eventloom::test
