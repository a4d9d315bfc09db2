// The texts and messages of Json, by nlohmann/json.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "core/runtime/json.hpp"

namespace eventloom {

/// Receives what a parser of nlohmann/json finds, and builds the value. Functions have the library's names.
class JsonReader {
 public:
  [[nodiscard]] Json take() { return std::move(root_); }
  [[nodiscard]] const std::string& error() const { return error_; }

  bool null() { return add(Json()); }
  bool boolean(bool value) { return add(Json(value)); }
  bool number_integer(std::int64_t value) { return add(Json(value)); }
  bool number_unsigned(std::uint64_t value) { return add(Json(value)); }
  bool number_float(double value, const std::string& /*text*/) { return add(Json(value)); }
  bool string(std::string& value) { return add(Json(std::move(value))); }
  bool binary(nlohmann::ordered_json::binary_t& /*bytes*/) { return fail("binary data"); }
  bool start_object(std::size_t /*size*/) { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) { return open(Json::array()); }
  bool key(std::string& key) {
    auto& [object, keys] = open_.back();
    auto& added = std::get<Json::Object>(object->value_).emplace_back(Json::Member{key, {}});
    if (!keys.insert(added.key).second) throw JsonKeyTwice(key);
    place_ = &added.value;
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::ordered_json::exception& error) {
    return fail(error.what());
  }

 private:
  /// An array, or an object and the keys of its members: a search among members would take long where a peer sends
  /// many.
  struct Open {
    Json* value;
    std::unordered_set<std::string_view> keys;
  };

  bool fail(const char* what) {
    error_ = what;
    return false;
  }
  bool add(Json value) {
    put(std::move(value));
    return true;
  }
  Json& put(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    if (auto& array = *open_.back().value; array.is_array()) return array.emplace_back(std::move(value));
    return *place_ = std::move(value);
  }
  bool open(Json empty) {
    if (open_.size() == Json::kMostDepth) return fail("it is nested too deeply");
    open_.push_back({&put(std::move(empty)), {}});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Json root_;
  std::vector<Open> open_;  ///< each is the last element of the one before
  Json* place_ = nullptr;   ///< the value of the member whose key was read last
  std::string error_;
};

/// Converts a value to the library's.
class JsonWriter {
 public:
  using Text = nlohmann::ordered_json;
  static Text converted(const Json& json) {
    return std::visit([](const auto& value) { return of(value); }, json.value_);
  }

 private:
  template <class T>
  static Text of(const T& value) {
    return value;
  }
  static Text of(const Json::Array& elements) {
    auto array = Text::array();
    for (const auto& element : elements) array.push_back(converted(element));
    return array;
  }
  static Text of(const Json::Object& members) {
    auto object = Text::object();
    // Their keys differ: no search for each.
    auto& added = object.get_ref<Text::object_t&>();
    for (const auto& [key, value] : members)
      static_cast<Text::object_t::Container&>(added).emplace_back(key, converted(value));
    return object;
  }
};

namespace {

constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;

Json value_in(std::string_view text, nlohmann::ordered_json::input_format_t format) {
  JsonReader reader;
  if (!nlohmann::ordered_json::sax_parse(text, &reader, format)) throw JsonError(reader.error());
  return reader.take();
}

}  // namespace

Json Json::parse(std::string_view text) { return value_in(text, nlohmann::ordered_json::input_format_t::json); }

Json Json::try_parse(std::string_view text) {
  try {
    return parse(text);
  } catch (const JsonError&) {
    return {};
  }
}

Json Json::from_msgpack(std::string_view bytes) {
  return value_in(bytes, nlohmann::ordered_json::input_format_t::msgpack);
}

std::string Json::to_msgpack() const {
  std::string message;
  nlohmann::ordered_json::to_msgpack(JsonWriter::converted(*this), message);
  return message;
}

std::string Json::dump(int indent, bool ascii) const {
  return JsonWriter::converted(*this).dump(indent, ' ', ascii, kReplace);
}

}  // namespace eventloom
