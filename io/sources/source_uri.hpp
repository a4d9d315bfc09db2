#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace eventloom {

/// scheme:PATH?key=value&key=value, the path of a live source begins with //; some keys (`concat`, `tdc`) may stand
/// alone. A path without a scheme is read by its ending: .epochs as file:, .lmd as lmd:, .hld as hld:, .spikes as
/// spikes:.
class SourceUri {
 public:
  /// Throws UserError when the scheme is unknown or the text is not of this form.
  static SourceUri parse(const std::string& text);

  /// A path as it is, whatever characters are in it, without keys. `scheme`: one that parse() knows.
  static SourceUri of_path(const std::string& scheme, const std::string& path);

  /// For people: names and values that hold '?' or '&' do not parse to the same again.
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& scheme() const { return scheme_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Value of a key, or `otherwise` when it is not given.
  [[nodiscard]] std::string get(std::string_view key, std::string_view otherwise) const;
  [[nodiscard]] bool has(std::string_view key) const { return values_.find(key) != values_.end(); }
  /// Throws UserError when the key is not given.
  [[nodiscard]] std::string require(std::string_view key) const;
  /// A whole number ("1000", "1e6"); throws UserError otherwise or when it is not in [low, high].
  [[nodiscard]] std::uint64_t get_count(std::string_view key, std::uint64_t otherwise, std::uint64_t low,
                                        std::uint64_t high) const;
  /// Picoseconds of the unit in `key` ("ns" by default); `tick` gives `tick_ps`.
  [[nodiscard]] std::uint64_t get_unit_ps(std::string_view key, std::uint64_t tick_ps) const;

  /// Throws UserError that names the first key not among `keys` and lists them.
  void accept_only(std::initializer_list<std::string_view> keys) const;

  /// The same source with another path, or another value of a key.
  [[nodiscard]] SourceUri with_path(const std::string& path) const;
  [[nodiscard]] SourceUri with(const std::string& key, const std::string& value) const;

 private:
  void compose();

  std::string text_;
  std::string scheme_;
  std::string path_;
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace eventloom
