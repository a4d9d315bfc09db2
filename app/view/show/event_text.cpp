#include "app/view/show/event_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

#include "app/command/safe_text.hpp"
#include "core/runtime/format.hpp"
#include "formats/channel_text.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kColumns = 60;
constexpr std::size_t kMostRows = 40;
constexpr std::size_t kMostNames = 28;
constexpr std::size_t kTableHits = 50;
/// Blue, yellow, green, magenta, cyan, red: colours that every terminal supports, ordered so that neighbours differ.
constexpr std::array kAnsi = {34, 33, 32, 35, 36, 31};

std::string coloured(const std::string& text, std::uint16_t source, bool colour) {
  return colour ? fmt::format("\x1b[{}m{}\x1b[0m", kAnsi[source % kAnsi.size()], text) : text;
}

void print_head(std::ostream& out, const EventView& view) {
  const auto& event = view.event;
  std::set<std::uint16_t> sources;
  for (const auto& hit : event.hits) sources.insert(hit.source);
  if (const auto of = run_text(*view.record); !of.empty()) out << for_terminal(of) << ", ";
  out << "event " << view.number << " of " << view.of << " (numbered from 0), in slice " << event.slice << '\n'
      << "  time      " << view.time_text(event.time) << (view.record->numbered ? " (its number)" : "");
  if (!view.record->numbered) out << " (" << event.time.value << " ticks)";
  if (const auto utc = view.utc_of(event.time)) out << "\n  utc       " << *utc;
  out << "\n  duration  " << view.time_text(event.duration) << "\n  hits      " << event.n_hits << " from "
      << sources.size() << (sources.size() == 1 ? " source" : " sources") << "\n  flags     " << flags_text(event)
      << '\n';
  if (event.hits.size() < event.n_hits) out << "  shown are its first " << event.hits.size() << " hits\n";
}

std::string label_of(const EventView& view, const PictureRow& row) {
  if (view.rows == ShowRows::channels) {
    const auto name = end_of(for_terminal(view.known.name_of(row.source, row.channel)), kMostNames);
    return fmt::format("source {} channel {}{}{}", row.source, channel_text(row.channel), name.empty() ? "" : " ",
                       name);
  }
  return fmt::format("{} {}", row.source, end_of(for_terminal(view.source_name(row.source)), kMostNames));
}

/// Returns a digit for the hits in each time column, '#' for ten and more.
std::string track_of(const OutputEvent& event, const PictureRow& row) {
  std::array<std::size_t, kColumns> hits{};
  for (const auto* hit : row.hits) {
    ++hits[std::min(kColumns - 1, static_cast<std::size_t>(place_in_event(event, *hit) * kColumns))];
  }
  std::string track;
  for (const auto n : hits) track += n == 0 ? '.' : n > 9 ? '#' : static_cast<char>('0' + n);
  return track;
}

void print_axis(std::ostream& out, const EventView& view, std::size_t margin) {
  const auto end = view.time_text(view.event.duration);
  out << "  " << std::string(margin, ' ') << " 0" << std::string(kColumns - std::min(kColumns, end.size() + 1), ' ')
      << end << "  time since the first hit\n";
}

void print_picture(std::ostream& out, const EventView& view, bool colour) {
  const auto rows = picture_rows(view);
  const auto shown = std::min(rows.size(), kMostRows);
  std::size_t margin = 0;
  for (std::size_t i = 0; i < shown; ++i) margin = std::max(margin, columns_of(label_of(view, rows[i])));
  out << "\nhits in each of " << kColumns << " columns of time, by "
      << (view.rows == ShowRows::channels ? "channel" : "source") << " (# is ten and more)\n";
  for (std::size_t i = 0; i < shown; ++i) {
    const auto label = label_of(view, rows[i]);
    out << "  " << label << std::string(margin - columns_of(label), ' ') << " |"
        << coloured(track_of(view.event, rows[i]), rows[i].source, colour) << "| " << rows[i].hits.size() << '\n';
  }
  print_axis(out, view, margin);
  if (shown == rows.size()) return;
  std::size_t left = 0;
  for (std::size_t i = shown; i < rows.size(); ++i) left += rows[i].hits.size();
  out << "  and " << rows.size() - shown << " more rows with " << left << " hits\n";
}

/// Columns of equal width with the detector map's entries for a hit; only those that some hit of the event fills.
class DetectorColumns {
 public:
  explicit DetectorColumns(const EventView& view) : view_(&view) {
    for (const auto& hit : view.event.hits) {
      if (hit.value) values_ = std::max({values_, value_text(hit).size(), value_heading().size()});
      const auto* range = view.known.at(hit.source, hit.channel);
      if (range == nullptr) continue;
      names_ = std::max(names_, columns_of(text_of(range->name)));
      groups_ = std::max(groups_, columns_of(text_of(range->groups)));
    }
    if (names_ > 0) names_ = std::max(names_, std::string_view("name").size());
    if (groups_ > 0) groups_ = std::max(groups_, std::string_view("groups").size());
  }

  [[nodiscard]] std::string heading() const { return cells("name", "groups") + cell(value_heading(), values_); }
  [[nodiscard]] std::string of(const OutputHit& hit) const {
    const auto* range = view_->known.at(hit.source, hit.channel);
    return (range == nullptr ? cells("", "") : cells(text_of(range->name), text_of(range->groups))) +
           cell(value_text(hit), values_);
  }

 private:
  [[nodiscard]] std::string value_heading() const {
    const auto unit = for_terminal(view_->record->hits.value_unit);
    return unit.empty() ? "value" : "value/" + unit;
  }
  [[nodiscard]] std::string value_text(const OutputHit& hit) const {
    return for_terminal(view_->value_text(hit, false));
  }
  static std::string text_of(const std::string& text) { return end_of(for_terminal(text), kMostNames); }
  [[nodiscard]] std::string cells(const std::string& name, const std::string& groups) const {
    return cell(name, names_) + cell(groups, groups_);
  }
  static std::string cell(const std::string& text, std::size_t width) {
    if (width == 0) return {};
    const std::string shown = text.empty() ? "-" : text;
    return "  " + shown + std::string(width - columns_of(shown), ' ');
  }

  const EventView* view_;
  std::size_t names_ = 0;  ///< width; 0: no column
  std::size_t groups_ = 0;
  std::size_t values_ = 0;
};

void print_table(std::ostream& out, const EventView& view, bool colour) {
  const DetectorColumns detector(view);
  out << '\n' << hit_heading(detector.heading()) << '\n';
  for (const auto& hit : view.event.hits) {
    out << coloured(hit_row(view, hit, detector.of(hit)), hit.source, colour) << '\n';
  }
}

}  // namespace

std::string flags_text(const OutputEvent& event) {
  std::string text;
  if ((event.flags & kTruncated) != 0) text = "truncated: longer than the overlap and cut there";
  if ((event.flags & kIncomplete) != 0) {
    text += fmt::format("{}incomplete: lacks data of sources (mask {:#x})", text.empty() ? "" : "; ",
                        event.sources_missing);
  }
  if ((event.flags & kTagError) != 0) {
    text += fmt::format("{}tag_error: sources contradicted each other on its tag", text.empty() ? "" : "; ");
  }
  return text.empty() ? "none" : text;
}

std::string hit_heading(const std::string& more) {
  return fmt::format("{:>16}  {:>6}  {:>11}{}  payload words", "since first", "source", "channel", more);
}

std::string hit_row(const EventView& view, const OutputHit& hit, const std::string& more) {
  const auto payload = view.numbers.text(hit.source, hit.payload);
  return fmt::format("{:>16}  {:>6}  {:>11}{}  {}", view.time_text(hit.time - view.event.time), hit.source,
                     channel_text(hit.channel), more, payload.empty() ? "-" : payload);
}

void print_event(std::ostream& out, const EventView& view, bool colour) {
  print_head(out, view);
  print_picture(out, view, colour);
  if (view.event.n_hits <= kTableHits) print_table(out, view, colour);
}

}  // namespace eventloom
