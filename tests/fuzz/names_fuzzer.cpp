#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "app/command/safe_text.hpp"
#include "app/observe/page/page.hpp"
#include "app/observe/prometheus_text.hpp"
#include "app/observe/status_document.hpp"
#include "app/view/show/event_svg.hpp"
#include "core/runtime/json.hpp"
#include "fuzz_input.hpp"

/// The first byte selects the text to check, and the second one is the length of the name that a user has given to a
/// source, a host or an output; a rank's message follows. In no text that people, browsers or other programs read may
/// the name be anything but a name, whatever the message contains.

namespace {

using namespace eventloom;

bool is_utf8(const std::string& text) {
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

bool has_controls(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

void check_terminal(const std::string& name) {
  const auto safe = for_terminal(name);
  fuzz::require(is_utf8(safe) && !has_controls(safe), "a terminal gets visible characters only");
  fuzz::require(safe.find("\xc2\x9b") == std::string::npos, "a terminal gets no C1 sequence");
  fuzz::require(for_terminal(safe) == safe, "safe text is unchanged");
  fuzz::require(columns_of(end_of(safe, 24)) <= 24 && is_utf8(end_of(safe, 24)), "the end of a text is whole");
  auto lines = lines_for_terminal(name);
  std::erase(lines, '\n');
  fuzz::require(!has_controls(lines), "lines have no other control characters");
}

void check_label(const std::string& name) {
  const auto label = escaped_label(name);
  fuzz::require(is_utf8(label), "a label is UTF-8");
  for (std::size_t i = 0; i < label.size(); ++i) {
    fuzz::require(label[i] != '"' && label[i] != '\n', "no label ends before its end");
    if (label[i] != '\\') continue;
    ++i;
    fuzz::require(i < label.size() && std::string_view("\\\"n").find(label[i]) != std::string_view::npos,
                  "a label has the escapes that there are");
  }
}

std::size_t count_of(std::string_view text, char c) { return static_cast<std::size_t>(std::ranges::count(text, c)); }

/// The first channel has a name and a group, as if read from a file.
KnownChannels detector_of(const std::string& name) {
  DetectorRecord detector;
  detector.map = "a text";
  detector.file = name;
  detector.ranges.push_back({0, 0, 0, 0, false, 0, 0, name + ";A", name, {1, 2, 3}});
  return KnownChannels(detector);
}

/// The elements are the same for every name.
void check_svg(const std::string& name) {
  const auto svg_of = [](const std::string& source) {
    RunRecord record;
    record.sources.push_back({});
    record.sources[0].name = source;
    EventView view;
    view.record = &record;
    view.event.n_hits = 1;
    view.event.hits.push_back({});
    view.known = detector_of(source);
    return event_svg(view);
  };
  const auto svg = svg_of(name);
  const auto plain = svg_of("plain");
  fuzz::require(is_utf8(svg), "SVG is UTF-8");
  for (const char c : {'<', '>', '"', '\''})
    fuzz::require(count_of(svg, c) == count_of(plain, c), "SVG stays as it is");
  auto one_line = svg;
  std::erase(one_line, '\n');
  fuzz::require(!has_controls(one_line), "XML has no control characters");
}

RunDescription description(const std::string& name) {
  RunDescription run;
  run.name = run.command_line = run.definition = run.schedule = run.configuration = name;
  run.sources = {name, name};
  run.known = detector_of(name);
  run.filters = {name};
  run.roles.builders = run.roles.filters = 2;
  run.ranks = {{name, name}};
  return run;
}

void check_metrics(const std::string& text) {
  fuzz::require(is_utf8(text), "metrics are UTF-8");
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    fuzz::require(line.starts_with("# ") || line.starts_with("eventloom_"), "a line of metrics is one of ours");
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
}

void check_documents(const std::string& name, std::span<const std::byte> message) {
  RunPicture picture(1);
  try {
    picture.take(0, message, RunPicture::Time(std::chrono::seconds(1)));
  } catch (const std::runtime_error&) {
    picture = RunPicture(1);
  }
  const auto run = description(name);
  RunTracker tracker({}, {});
  (void)tracker.take(RunTracker::Time(std::chrono::seconds(1)), RunPicture(1), {"running"});
  const auto snapshot = tracker.take(RunTracker::Time(std::chrono::seconds(3)), picture, {"running"});
  const auto json = status_document(run, *snapshot, {{name, name, name, name}}, {{name, name, name}});
  fuzz::require(!Json::try_parse(to_text(json)).is_null(), "the status is JSON");
  const auto page = page_with(Json(json));
  static const auto tags = count_of(page_for_monitor(), '<');
  fuzz::require(count_of(page, '<') == tags, "a page has the elements of the page");
  check_metrics(prometheus_text(run, *snapshot));
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzz::silence_log();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto bytes = std::min<std::size_t>(data[1], size - 2);
  const std::string name(data + 2, data + 2 + bytes);
  // The documents take a hundred times as long.
  if (data[0] % 4 == 0) {
    check_documents(name, fuzz::bytes_of(data + 2 + bytes, size - 2 - bytes));
  } else {
    check_terminal(name);
    check_label(name);
    check_svg(name);
  }
  return 0;
}
