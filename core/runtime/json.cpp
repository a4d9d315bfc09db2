#include "core/runtime/json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace eventloom {

Json::Json() noexcept : value_(nullptr) {}
Json::Json(long long value) noexcept : value_(static_cast<std::int64_t>(value)) {}
Json::Json(unsigned long long value) noexcept : value_(static_cast<std::uint64_t>(value)) {}
Json::Json(double value) noexcept : value_(value) {}
Json::Json(std::string text) noexcept : value_(std::move(text)) {}
Json::Json(Truth truth) noexcept : value_(truth.value) {}
Json::Json(Array elements) noexcept : value_(std::move(elements)) {}
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept {
  // The other may be a part of this value.
  Value taken = std::exchange(other.value_, nullptr);
  value_ = std::move(taken);
  return *this;
}
Json::~Json() = default;

Json::Json(std::initializer_list<JsonPart> parts) : Json() {
  const auto is_member = [](const JsonPart& part) {
    return part.value().is_array() && part.value().size() == 2 && part.value().front().is_string();
  };
  if (!std::ranges::all_of(parts, is_member)) {
    *this = array(parts);
    return;
  }
  *this = object();
  for (const auto& part : parts) {
    Json pair = part.take();
    (*this)[pair.at(0).text()] = std::move(pair.at(1));
  }
}

Json Json::array(std::initializer_list<JsonPart> parts) {
  Array elements;
  elements.reserve(parts.size());
  for (const auto& part : parts) elements.push_back(part.take());
  return Json(std::move(elements));
}

Json Json::object() {
  Json made;
  made.value_ = Object();
  return made;
}

bool Json::is_unsigned() const {
  const auto* number = std::get_if<std::int64_t>(&value_);
  return holds<std::uint64_t>() || (number != nullptr && *number >= 0);
}

std::size_t Json::size() const {
  if (const auto* array = std::get_if<Array>(&value_)) return array->size();
  if (const auto* object = std::get_if<Object>(&value_)) return object->size();
  return is_null() ? 0 : 1;
}

const char* Json::type() const {
  static constexpr const char* kNames[] = {"null",     "a truth value", "a number", "a number",
                                           "a number", "a string",      "an array", "an object"};
  return kNames[value_.index()];
}

void Json::refuse(const char* wanted) const { throw JsonError(std::string("expected ") + wanted + ", not " + type()); }

const Json* Json::member(std::string_view key) const {
  const auto* object = std::get_if<Object>(&value_);
  if (!object) return nullptr;
  const auto found = std::ranges::find(*object, key, &Member::key);
  return found == object->end() ? nullptr : &found->value;
}

const Json& Json::at(std::string_view key) const {
  if (!is_object()) refuse("an object");
  if (const Json* found = member(key)) return *found;
  throw JsonError("there is no \"" + std::string(key) + "\"");
}

Json& Json::at(std::string_view key) { return const_cast<Json&>(std::as_const(*this).at(key)); }

const Json& Json::at(std::size_t index) const {
  if (index >= size()) throw JsonError("there is no element " + std::to_string(index));
  if (const auto* array = std::get_if<Array>(&value_)) return (*array)[index];
  if (const auto* object = std::get_if<Object>(&value_))
    return std::next(object->begin(), static_cast<std::ptrdiff_t>(index))->value;
  return *this;
}

Json& Json::at(std::size_t index) { return const_cast<Json&>(std::as_const(*this).at(index)); }

const Json* Json::at_path(std::string_view path) const {
  const Json* found = this;
  while (found != nullptr && !path.empty()) {
    const auto end = std::min(path.find('/', 1), path.size());
    const auto name = path.substr(1, end - 1);
    path.remove_prefix(end);
    std::size_t index = 0;
    if (!found->is_array()) {
      found = found->member(name);
    } else if (std::from_chars(name.data(), name.data() + name.size(), index).ptr == name.data() + name.size() &&
               index < found->size()) {
      found = &found->at(index);
    } else {
      found = nullptr;
    }
  }
  return found;
}

Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Object();
  auto* object = std::get_if<Object>(&value_);
  if (!object) refuse("an object");
  const auto found = std::ranges::find(*object, key, &Member::key);
  return found != object->end() ? found->value : object->emplace_back(Member{std::string(key), {}}).value;
}

void Json::push_back(Json element) { emplace_back(std::move(element)); }

Json& Json::emplace_back(Json element) {
  if (is_null()) value_ = Array();
  auto* array = std::get_if<Array>(&value_);
  if (!array) refuse("an array");
  return array->emplace_back(std::move(element));
}

void Json::update(const Json& members) {
  for (const auto& [key, value] : members.items()) (*this)[key] = value;
}

void Json::erase(std::string_view key) {
  if (auto* object = std::get_if<Object>(&value_)) {
    std::erase_if(*object, [key](const Member& member) { return member.key == key; });
  }
}

const Json::Object& Json::items() const {
  static const Object kNone;
  if (is_null()) return kNone;
  const auto* object = std::get_if<Object>(&value_);
  if (!object) refuse("an object");
  return *object;
}

const Json::Array& Json::elements() const {
  const auto* array = std::get_if<Array>(&value_);
  if (!array) refuse("an array");
  return *array;
}

const std::string& Json::text() const {
  const auto* text = std::get_if<std::string>(&value_);
  if (!text) refuse("a string");
  return *text;
}

void Json::get_to(bool& value) const {
  const auto* truth = std::get_if<bool>(&value_);
  if (!truth) refuse("a truth value");
  value = *truth;
}

void Json::get_to(double& value) const {
  if (const auto* real = std::get_if<double>(&value_)) {
    value = *real;
  } else {
    const auto [wide, is_negative] = whole();
    value = is_negative ? static_cast<double>(static_cast<std::int64_t>(wide)) : static_cast<double>(wide);
  }
}

void Json::get_to(float& value) const { value = static_cast<float>(get<double>()); }

/// The two's complement if it is negative.
Json::Whole Json::whole() const {
  if (const auto* number = std::get_if<std::uint64_t>(&value_)) return {*number, false};
  if (const auto* number = std::get_if<std::int64_t>(&value_))
    return {static_cast<std::uint64_t>(*number), *number < 0};
  const auto* real = std::get_if<double>(&value_);
  if (!real) refuse("a number");
  if (*real != std::trunc(*real) || std::abs(*real) >= 0x1p63) refuse("a whole number");
  const auto number = static_cast<std::int64_t>(*real);
  return {static_cast<std::uint64_t>(number), number < 0};
}

bool Json::equals(const Json& other) const {
  if (is_integer() && other.is_integer()) {
    const auto a = whole();
    const auto b = other.whole();
    return a.value == b.value && a.is_negative == b.is_negative;
  }
  if (is_number() && other.is_number()) return get<double>() == other.get<double>();
  const auto* object = std::get_if<Object>(&value_);
  if (!object || !other.is_object()) return value_ == other.value_;
  return object->size() == other.size() && std::ranges::all_of(*object, [&](const Member& member) {
           const Json* theirs = other.member(member.key);
           return theirs != nullptr && *theirs == member.value;
         });
}

}  // namespace eventloom
