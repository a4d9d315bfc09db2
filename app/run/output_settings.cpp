#include "app/run/output_settings.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "core/definitions/text_mistake.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/text_error.hpp"

namespace eventloom {

namespace {

constexpr const char* kNameRule = "a name is up to 32 letters, digits and underscores, beginning with a letter";

bool is_name(const std::string& text) {
  constexpr std::size_t kLongest = 32;
  const auto good = [](unsigned char c) { return c < 128 && (std::isalnum(c) != 0 || c == '_'); };
  return !text.empty() && text.size() <= kLongest && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         text.front() != '_' && std::ranges::all_of(text, good);
}

/// Parses `NAME=DEF` or `DEF`; the first word of DEF ends with a colon.
DefineOption parse(const std::string& given) {
  const auto equals = given.find('=');
  if (equals == std::string::npos || given.find(':') < equals) return {{}, given};
  DefineOption option{given.substr(0, equals), given.substr(equals + 1)};
  if (!is_name(option.name))
    throw TextError("--define '" + shortened(given) + "': '" + shortened(option.name) + "' is no name; " + kNameRule,
                    marked(given, std::string_view(given).substr(0, equals)));
  return option;
}

std::string file_of(const std::filesystem::path& output, const std::string& name) {
  // Otherwise the name would be taken for the extension, which names of parts omit.
  const auto extension = output.has_extension() ? output.extension().string() : ".h5";
  const auto file = output.stem().string() + "." + name + extension;
  return (output.parent_path() / file).string();
}

}  // namespace

std::vector<DefinitionOutput> parse_define_options(const std::vector<std::string>& given, const std::string& output) {
  std::vector<DefinitionOutput> all;
  for (const auto& text : given) {
    auto option = parse(text);
    if (option.name.empty() && given.size() > 1) {
      throw UserError("--define '" + shortened(text) +
                      "': of several definitions each needs a name, as in --define muon=" + shortened(text));
    }
    const auto same = std::ranges::find(all, option.name, [](const DefinitionOutput& of) { return of.define.name; });
    if (same != all.end()) {
      throw TextError("--define '" + shortened(text) + "': the name '" + option.name + "' is taken by '" +
                          shortened(same->define.given()) + "'",
                      marked(text, std::string_view(text).substr(0, option.name.size())));
    }
    auto file = option.name.empty() ? output : file_of(output, option.name);
    all.push_back({std::move(option), std::move(file)});
  }
  return all;
}

TapOption parse_tap_option(const std::string& text) {
  constexpr std::string_view kScheme = "mbs://";
  std::string_view rest = text;
  if (rest.starts_with(kScheme)) rest.remove_prefix(kScheme.size());
  const auto slash = rest.find('/');
  const auto service = slash == rest.npos ? "stream" : rest.substr(slash + 1);
  const auto place = parse_listen_place(rest.substr(0, slash));
  if (!place || (service != "stream" && service != "transport")) {
    throw UserError("--tap: '" + text +
                    "' is not [mbs://][ADDR:]PORT[/stream|/transport], such as 6002 or 0.0.0.0:6000/transport");
  }
  return {*place, service == "stream"};
}

}  // namespace eventloom
