#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/units.hpp"

namespace eventloom {

/// [scheme:]PATH[?key=value&key=value]. The path of a live source begins with //; a key may lack a value. The value of
/// `where` and of `overflow` may contain &&.
/// io/registry defines the schemes.
///
/// Paths and values may quote characters: a % that two hexadecimal digits follow stands for the character of that
/// number, %26 for &, %2C for a comma within an item of a list. Any other % stands for itself.
class SourceUri {
 public:
  /// Throws UserError when the text is not of this form. `role`: what the URI names, for messages.
  static SourceUri parse(const std::string& text, const std::string& role = "source");

  /// A literal path without keys.
  static SourceUri of_path(const std::string& scheme, const std::string& path);

  /// Used in messages and in the output. Parses back to an equal URI if there is a scheme.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// Empty if the text has no scheme.
  [[nodiscard]] const std::string& scheme() const { return scheme_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// The path, and the HDF5 group if the URI or the caller states one: run.h5:/dom_1.
  [[nodiscard]] std::string place(std::string_view group = {}) const;
  /// Value of a key, empty for a key without a value, or `otherwise` when it is absent.
  [[nodiscard]] std::string get(std::string_view key, std::string_view otherwise) const;
  [[nodiscard]] bool has(std::string_view key) const { return values_.find(key) != values_.end(); }
  /// The items of a list that commas separate, empty ones included; none if the key is absent or has an empty value.
  [[nodiscard]] std::vector<std::string> get_list(std::string_view key) const;
  /// Keys without a value.
  [[nodiscard]] std::vector<std::string> flags() const;
  /// Throws UserError when the key is absent.
  [[nodiscard]] std::string require(std::string_view key) const;
  /// An integer ("1000", "1e6"), or `otherwise` when the key is absent. Throws UserError for another form, or if it is
  /// not in [low, high].
  [[nodiscard]] std::uint64_t get_count(std::string_view key, std::uint64_t otherwise, std::uint64_t low,
                                        std::uint64_t high) const;
  /// The value of a key that is yes or no; no when it is absent. Throws UserError for another value.
  [[nodiscard]] bool get_yes(std::string_view key) const;
  /// The unit in `key` ("ns" by default), or the length of a clock's tick ("12.5ns"); `tick` gives `tick_ps`. Throws
  /// UserError for another text.
  [[nodiscard]] TimeUnit get_unit(std::string_view key, std::uint64_t tick_ps) const;

  /// Throws UserError with role, text and `reason`.
  [[noreturn]] void refuse(const std::string& reason) const;
  /// Throws UserError if a key is not among `keys`; the message names that key and lists `keys`.
  void accept_only(std::span<const std::string_view> keys) const;

  /// A copy with another scheme, another path, or another value of a key. Paths and values are literal.
  [[nodiscard]] SourceUri with_scheme(std::string_view scheme) const;
  [[nodiscard]] SourceUri with_path(const std::string& path) const;
  [[nodiscard]] SourceUri with(const std::string& key, const std::string& value) const;

 private:
  void compose();

  std::string role_ = "source";
  std::string text_;
  std::string scheme_;
  std::string path_;
  /// Values with quoted characters. std::nullopt: a key without a value.
  std::map<std::string, std::optional<std::string>, std::less<>> values_;
};

}  // namespace eventloom
