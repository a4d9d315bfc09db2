#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <list>
#include <map>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace eventloom {

/// A text that is not JSON, or a value that lacks a member or is of another type than asked for.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An object that has a key twice: which of its values counts is not said.
class JsonKeyTwice : public JsonError {
 public:
  explicit JsonKeyTwice(const std::string& key) : JsonError("\"" + key + "\" occurs twice"), key_(key) {}
  [[nodiscard]] const std::string& key() const { return key_; }

 private:
  std::string key_;
};

class JsonPart;

template <class T>
concept JsonText = std::convertible_to<const T&, std::string_view>;
/// The types as which a value can be read.
template <class T>
inline constexpr bool kJsonReads = (std::is_arithmetic_v<T> && !std::same_as<T, char>) || std::same_as<T, std::string>;
template <class T>
inline constexpr bool kJsonReads<std::vector<T>> = true;
template <class T, std::size_t N>
inline constexpr bool kJsonReads<std::array<T, N>> = true;
template <class A, class B>
inline constexpr bool kJsonReads<std::pair<A, B>> = true;
template <class Key, class T>
inline constexpr bool kJsonReads<std::map<Key, T>> = true;
template <class T>
concept JsonReadable = kJsonReads<T>;

/// A JSON value. Members keep the order in which they were added. nlohmann/json reads and writes its texts, in
/// json_text.cpp only: a class template whose constructors take every type cost a quarter of the build when each source
/// instantiated it.
///
/// Strings are bytes; text requires UTF-8, and dump() replaces what is not.
class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::list<Member>;
  template <class Of>
  class Iterator;
  using iterator = Iterator<Json>;
  using const_iterator = Iterator<const Json>;
  using value_type = Json;

  // Constructors convert: an object is written as {{"name", value}, {"other", {1, 2}}}, which is a list of pairs that
  // begin with a text, and every other list is an array.
  // NOLINTBEGIN(google-explicit-constructor)
  Json() noexcept;
  Json(std::nullptr_t) noexcept : Json() {}
  template <std::same_as<bool> T>
  Json(T value) noexcept : Json(Truth{value}) {}
  Json(int value) noexcept : Json(static_cast<long long>(value)) {}
  Json(long value) noexcept : Json(static_cast<long long>(value)) {}
  Json(long long value) noexcept;
  Json(unsigned value) noexcept : Json(static_cast<unsigned long long>(value)) {}
  Json(unsigned long value) noexcept : Json(static_cast<unsigned long long>(value)) {}
  Json(unsigned long long value) noexcept;
  Json(double value) noexcept;
  Json(const char* text) : Json(std::string(text)) {}
  Json(std::string_view text) : Json(std::string(text)) {}
  Json(std::string text) noexcept;
  Json(std::initializer_list<JsonPart> parts);
  /// An array of the elements of a range.
  template <std::ranges::input_range Range>
  requires(!JsonText<Range> && !std::same_as<Range, Json>) Json(const Range& range) : Json(array()) {
    for (const auto& element : range) push_back(Json(element));
  }
  /// An array of two.
  template <class A, class B>
  Json(const std::pair<A, B>& pair);
  /// An object. Maps with other keys are arrays of pairs.
  template <class T>
  Json(const std::map<std::string, T>& members) : Json(object()) {
    for (const auto& [key, value] : members) (*this)[key] = value;
  }
  // NOLINTEND(google-explicit-constructor)
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json array() { return Json(Array()); }
  static Json array(std::initializer_list<JsonPart> parts);
  static Json object();

  /// Reads a text. Throws JsonError if it is not JSON or nested deeper than kMostDepth, JsonKeyTwice.
  static Json parse(std::string_view text);
  /// The same, but null for what parse() refuses.
  static Json try_parse(std::string_view text);
  /// Reads MessagePack. Throws JsonError.
  static Json from_msgpack(std::string_view bytes);
  [[nodiscard]] std::string to_msgpack() const;
  /// The value as text; indent < 0: on one line. Numbers that are not finite become null. `ascii`: other characters as
  /// \u escapes.
  [[nodiscard]] std::string dump(int indent = -1, bool ascii = false) const;

  [[nodiscard]] bool is_null() const { return holds<std::nullptr_t>(); }
  [[nodiscard]] bool is_boolean() const { return holds<bool>(); }
  [[nodiscard]] bool is_unsigned() const;
  [[nodiscard]] bool is_integer() const { return holds<std::int64_t>() || holds<std::uint64_t>(); }
  [[nodiscard]] bool is_number() const { return is_integer() || holds<double>(); }
  [[nodiscard]] bool is_string() const { return holds<std::string>(); }
  [[nodiscard]] bool is_array() const { return holds<Array>(); }
  [[nodiscard]] bool is_object() const { return holds<Object>(); }

  /// Number of elements or members; null has none, another value one.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }

  /// The member, added as null if absent; null becomes an object. Throws JsonError for other types. References to
  /// members stay valid until the member is removed; those to elements of arrays, as those of a std::vector.
  Json& operator[](const char* key) { return (*this)[std::string_view(key)]; }
  Json& operator[](std::string_view key);
  /// Like at().
  const Json& operator[](const char* key) const { return at(key); }
  const Json& operator[](std::string_view key) const { return at(key); }
  template <std::integral Index>
  Json& operator[](Index index) {
    return at(static_cast<std::size_t>(index));
  }
  template <std::integral Index>
  const Json& operator[](Index index) const {
    return at(static_cast<std::size_t>(index));
  }
  /// Throw JsonError if there is no such member or element.
  [[nodiscard]] const Json& at(std::string_view key) const;
  [[nodiscard]] Json& at(std::string_view key);
  [[nodiscard]] const Json& at(std::size_t index) const;
  [[nodiscard]] Json& at(std::size_t index);
  [[nodiscard]] bool contains(std::string_view key) const { return member(key) != nullptr; }
  /// The member, std::nullptr if there is none or this is no object.
  [[nodiscard]] const Json* member(std::string_view key) const;
  /// The value at a path of members and elements, such as "/later/0/after_ns"; std::nullptr if there is none.
  [[nodiscard]] const Json* at_path(std::string_view path) const;
  [[nodiscard]] const Json& front() const { return at(0); }
  [[nodiscard]] const Json& back() const { return at(size() - 1); }
  [[nodiscard]] Json& back() { return at(size() - 1); }

  /// Null becomes an array. Throw JsonError for other types.
  void push_back(Json element);
  Json& emplace_back(Json element);
  /// Adds the members of an object, replacing those of the same keys.
  void update(const Json& members);
  void erase(std::string_view key);

  /// The elements of an array, or the values of an object.
  [[nodiscard]] iterator begin();
  [[nodiscard]] iterator end();
  [[nodiscard]] const_iterator begin() const;
  [[nodiscard]] const_iterator end() const;
  /// The members of an object, as pairs of key and value. Throws JsonError for other types; null has none.
  [[nodiscard]] const Object& items() const;

  /// The value as T: bool, a number, std::string, or a vector, array, pair or map of such. Throws JsonError if it is of
  /// another type or length, or a number that T cannot hold.
  template <class T>
  [[nodiscard]] T get() const {
    T value{};
    get_to(value);
    return value;
  }
  void get_to(bool& value) const;
  void get_to(double& value) const;
  void get_to(float& value) const;
  void get_to(std::string& value) const { value = text(); }
  void get_to(Json& value) const { value = *this; }
  template <std::integral T>
  void get_to(T& value) const {
    const auto [wide, is_negative] = whole();
    value = static_cast<T>(wide);
    const bool fits =
        is_negative ? std::is_signed_v<T> && std::in_range<T>(static_cast<std::int64_t>(wide)) : std::in_range<T>(wide);
    if (!fits) refuse("a number of this size");
  }
  template <class T>
  void get_to(std::vector<T>& values) const {
    values.clear();
    for (const auto& element : elements()) values.push_back(element.template get<T>());
  }
  template <class T, std::size_t N>
  void get_to(std::array<T, N>& values) const {
    if (elements().size() != N) refuse("an array of another length");
    for (std::size_t i = 0; i < N; ++i) elements()[i].get_to(values[i]);
  }
  template <class A, class B>
  void get_to(std::pair<A, B>& pair) const {
    at(std::size_t{0}).get_to(pair.first);
    at(std::size_t{1}).get_to(pair.second);
  }
  template <class Key, class T>
  void get_to(std::map<Key, T>& values) const;
  /// Throw JsonError for other types.
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] const Array& elements() const;
  [[nodiscard]] Array& elements() { return const_cast<Array&>(std::as_const(*this).elements()); }
  /// Converts, as get().
  template <JsonReadable T>
  operator T() const {  // NOLINT(google-explicit-constructor)
    return get<T>();
  }
  /// The member's value, or `other` if there is none. Throws JsonError if it is of another type.
  template <class T>
  [[nodiscard]] T value(std::string_view key, T other) const {
    const Json* found = member(key);
    return found ? found->get<T>() : std::move(other);
  }
  [[nodiscard]] std::string value(std::string_view key, const char* other) const {
    return value(key, std::string(other));
  }

  /// The order of members does not matter; numbers of different types compare by value.
  friend bool operator==(const Json& a, const Json& b) { return a.equals(b); }
  template <class T>
  requires(std::is_arithmetic_v<T> || JsonText<T> || std::same_as<T, std::nullptr_t>) friend bool operator==(
      const Json& a, const T& b) {
    return a.equals(Json(b));
  }

  /// Texts that are nested deeper are refused: a few bytes of them claim much memory.
  static constexpr int kMostDepth = 64;

 private:
  struct Truth {
    bool value;
  };
  struct Whole {
    std::uint64_t value;
    bool is_negative;
  };
  using Value = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object>;

  explicit Json(Truth truth) noexcept;
  explicit Json(Array elements) noexcept;
  friend class JsonReader;
  friend class JsonWriter;

  template <class T>
  [[nodiscard]] bool holds() const {
    return std::holds_alternative<T>(value_);
  }
  [[nodiscard]] bool equals(const Json& other) const;
  [[nodiscard]] Whole whole() const;
  [[nodiscard]] const char* type() const;
  [[noreturn]] void refuse(const char* wanted) const;

  Value value_;
};

struct Json::Member {
  std::string key;
  Json value;
  friend bool operator==(const Member&, const Member&) = default;
};

/// An element of a list in braces, out of which its value is moved.
class JsonPart {
 public:
  // NOLINTBEGIN(google-explicit-constructor,bugprone-forwarding-reference-overload)
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, JsonPart>) JsonPart(T&& value) : value_(std::forward<T>(value)) {}
  JsonPart(std::initializer_list<JsonPart> parts) : value_(parts) {}
  // NOLINTEND(google-explicit-constructor,bugprone-forwarding-reference-overload)
  [[nodiscard]] Json take() const { return std::move(value_); }
  [[nodiscard]] const Json& value() const { return value_; }

 private:
  mutable Json value_;
};

template <class A, class B>
Json::Json(const std::pair<A, B>& pair) : Json(array({pair.first, pair.second})) {}

/// Over the elements of an array or the values of an object; valid as iterators of a std::vector are.
template <class Of>
class Json::Iterator {
 public:
  using value_type = Json;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::forward_iterator_tag;
  using reference = Of&;
  using pointer = Of*;

  Iterator() = default;
  Iterator(Of* of, std::size_t place) : of_(of), place_(place) {}
  Of& operator*() const { return of_->at(place_); }
  Of* operator->() const { return &**this; }
  Iterator& operator++() { return ++place_, *this; }
  Iterator operator++(int) { return {of_, place_++}; }
  friend bool operator==(const Iterator&, const Iterator&) = default;

 private:
  Of* of_ = nullptr;
  std::size_t place_ = 0;
};

inline Json::iterator Json::begin() { return {this, 0}; }
inline Json::iterator Json::end() { return {this, size()}; }
inline Json::const_iterator Json::begin() const { return {this, 0}; }
inline Json::const_iterator Json::end() const { return {this, size()}; }

template <class Key, class T>
void Json::get_to(std::map<Key, T>& values) const {
  values.clear();
  if constexpr (std::same_as<Key, std::string>) {
    for (const auto& [key, value] : items()) values.emplace(key, value.template get<T>());
  } else {
    for (const auto& pair : elements()) values.insert(pair.template get<std::pair<Key, T>>());
  }
}

}  // namespace eventloom
