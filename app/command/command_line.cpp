#include "app/command/command_line.hpp"

#include <algorithm>
#include <cctype>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "core/runtime/did_you_mean.hpp"
#include "core/runtime/error.hpp"
#include "formats/setting_line.hpp"
#include "formats/text_file.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

/// Prints one "name = value" line per value, for the value types that the commands use.
void print_value(std::ostream& out, const std::string& name, const boost::any& value) {
  if (const auto* s = boost::any_cast<std::string>(&value)) {
    out << setting_line(name, *s);
  } else if (const auto* list = boost::any_cast<std::vector<std::string>>(&value)) {
    for (const auto& item : *list) out << setting_line(name, item);
  } else if (const auto* flag = boost::any_cast<bool>(&value)) {
    out << name << " = " << (*flag ? "true" : "false") << '\n';
  } else if (const auto* i = boost::any_cast<int>(&value)) {
    out << name << " = " << *i << '\n';
  } else if (const auto* d = boost::any_cast<double>(&value)) {
    out << name << " = " << *d << '\n';
  } else {
    throw std::logic_error("option --" + name + " has a value type that --print-config cannot print");
  }
}

/// Takes a negative number as a value, so that the command's own check reports what it accepts.
std::vector<po::option> take_negative_number(std::vector<std::string>& words) {
  const auto& word = words.front();
  if (word.size() < 2 || word[0] != '-' || (word[1] != '.' && std::isdigit(static_cast<unsigned char>(word[1])) == 0)) {
    return {};
  }
  po::option value;
  value.value = {word};
  value.original_tokens = {word};
  words.erase(words.begin());
  return {value};
}

/// Refuses empty values, as from --monitor "$PORT" with PORT unset. In a file, an empty value means that the
/// option is not given.
void refuse_empty_values(const po::parsed_options& parsed) {
  for (const auto& option : parsed.options) {
    if (option.position_key >= 0 || std::ranges::find(option.value, "") == option.value.end()) continue;
    throw UserError("--" + option.string_key + " is given an empty value; give it one, or omit the option");
  }
}

/// Reads an INI file: lines of `setting_line`, comments, and "[SECTION]". Unlike po::parse_config_file(), it reads
/// quotes.
po::parsed_options read_ini(const std::string& text, const po::options_description& options) {
  po::parsed_options parsed(&options);
  std::string section;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto content = without_comment(line);
    if (content.empty()) continue;
    if (content.front() == '[' && content.back() == ']') {
      section = std::string(content.substr(1, content.size() - 2)) + '.';
      continue;
    }
    const auto setting = read_setting(content);
    if (!setting) throw po::invalid_config_file_syntax(std::string(content), po::invalid_syntax::unrecognized_line);
    const auto name = section + setting->name;
    if (options.find_nothrow(name, false) == nullptr) throw po::unknown_option(name);
    parsed.options.emplace_back(name, std::vector<std::string>{setting->value});
  }
  return parsed;
}

}  // namespace

CommandLine::CommandLine(std::string command, std::string synopsis)
    : command_(std::move(command)), synopsis_(std::move(synopsis)), options_("Options", 110, 70) {
  options_.add_options()("help,h", "show this help")("config", po::value<std::string>()->value_name("FILE"),
                                                     "read options from an INI file; the command line wins")(
      "print-config", po::bool_switch(), "print the full setup as an INI file and stop");
}

std::optional<po::variables_map> CommandLine::parse(int argc, const char* const* argv) {
  po::variables_map values;
  try {
    const auto given = po::command_line_parser(argc, argv)
                           .options(options_)
                           .positional(positional_)
                           .style(po::command_line_style::default_style & ~po::command_line_style::allow_guessing)
                           .extra_style_parser(take_negative_number)
                           .run();
    refuse_empty_values(given);
    po::store(given, values);
    if (values.count("help") != 0) {
      std::cout << "usage: eventloom " << synopsis_ << "\n\n" << options_;
      return std::nullopt;
    }
    if (values.count("config") != 0) {
      po::store(read_ini(config_text(values["config"].as<std::string>(), given), options_), values);
    }
    po::notify(values);
  } catch (const std::invalid_argument& e) {
    throw UserError("--config: " + std::string(e.what()));
  } catch (const po::unknown_option& e) {
    throw UserError(e.what() + guess(e.get_option_name()) + "; see 'eventloom " + command_ + " --help'");
  } catch (const po::error& e) {
    throw UserError(std::string(e.what()) + "; see 'eventloom " + command_ + " --help'");
  }
  if (values["print-config"].as<bool>()) {
    std::cout << effective_config(values) << (remark_ ? remark_(values) : "");
    return std::nullopt;
  }
  return values;
}

std::string CommandLine::config_text(const std::string& path, const po::parsed_options& given) const {
  constexpr std::uint64_t kMostBytes = 16U << 20;
  std::set<std::string> names;
  for (const auto& option : given.options) names.insert(option.string_key);
  auto text = read_config_ ? read_config_(path, names) : std::nullopt;
  return text ? std::move(*text) : read_text_file(path, kMostBytes);
}

/// Returns the option that was probably meant, as " (did you mean '--filter'?)". `given`: the name with its dashes; a
/// name from a file has none.
std::string CommandLine::guess(const std::string& given) const {
  const std::string dashes(given.substr(0, std::min(given.find_first_not_of('-'), given.size())));
  std::vector<std::string> names;
  for (const auto& option : options_.options()) names.push_back(dashes + option->long_name());
  return did_you_mean(given, std::vector<std::string_view>(names.begin(), names.end()));
}

std::string CommandLine::effective_config(const po::variables_map& values) const {
  std::ostringstream out;
  for (const auto& option : options_.options()) {
    const auto& name = option->long_name();
    if (name == "help" || name == "config" || name == "print-config" || values.count(name) == 0) continue;
    if (left_out_.contains(name)) continue;
    print_value(out, name, values[name].value());
  }
  return out.str();
}

}  // namespace eventloom
