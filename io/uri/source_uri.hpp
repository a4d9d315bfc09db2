#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eventloom {

/// [scheme:]PATH[?key=value&key=value], the path of a live source begins with //; a key may stand alone, without a
/// value. Which schemes there are, and what they mean, is told in io/registry.
class SourceUri {
 public:
  /// Throws UserError when the text is not of this form.
  static SourceUri parse(const std::string& text);

  /// A path as it is, whatever characters are in it, without keys.
  static SourceUri of_path(const std::string& scheme, const std::string& path);

  /// For people: names and values that hold '?' or '&' do not parse to the same again.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// Empty when the text names none.
  [[nodiscard]] const std::string& scheme() const { return scheme_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Value of a key, empty of one that stands alone, or `otherwise` when it is not given.
  [[nodiscard]] std::string get(std::string_view key, std::string_view otherwise) const;
  [[nodiscard]] bool has(std::string_view key) const { return values_.find(key) != values_.end(); }
  /// The keys that stand alone.
  [[nodiscard]] std::vector<std::string> flags() const;
  /// Throws UserError when the key is not given.
  [[nodiscard]] std::string require(std::string_view key) const;
  /// A whole number ("1000", "1e6"); throws UserError otherwise or when it is not in [low, high].
  [[nodiscard]] std::uint64_t get_count(std::string_view key, std::uint64_t otherwise, std::uint64_t low,
                                        std::uint64_t high) const;
  /// Picoseconds of the unit in `key` ("ns" by default); `tick` gives `tick_ps`.
  [[nodiscard]] std::uint64_t get_unit_ps(std::string_view key, std::uint64_t tick_ps) const;

  /// Throws UserError that says of this source what is wrong.
  [[noreturn]] void refuse(const std::string& reason) const;
  /// Throws UserError that names the first key not among `keys` and lists them.
  void accept_only(std::initializer_list<std::string_view> keys) const;

  /// The same with another scheme, another path, or another value of a key.
  [[nodiscard]] SourceUri with_scheme(std::string_view scheme) const;
  [[nodiscard]] SourceUri with_path(const std::string& path) const;
  [[nodiscard]] SourceUri with(const std::string& key, const std::string& value) const;

 private:
  void compose();

  std::string text_;
  std::string scheme_;
  std::string path_;
  std::map<std::string, std::optional<std::string>, std::less<>> values_;  ///< none of keys that stand alone
};

}  // namespace eventloom
