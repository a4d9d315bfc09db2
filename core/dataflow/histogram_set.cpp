#include "core/dataflow/histogram_set.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "core/definitions/text_mistake.hpp"
#include "core/runtime/setting.hpp"
#include "core/runtime/text_error.hpp"

namespace eventloom {

namespace {

[[noreturn]] void refuse(std::string_view text, std::string_view where, const std::string& what) {
  throw TextError(name_of(Setting::hist) + " '" + shortened(text) + "': " + what, marked(text, where));
}

}  // namespace

void HistogramSet::add(std::string_view text, const RunTicks& ticks) {
  tick_ps_ = ticks.ps;
  try {
    auto spec = parse_histogram(text, ticks, measure_.detector());
    const auto same = std::ranges::find(specs_, spec.name, &HistogramSpec::name);
    if (same != specs_.end()) throw TextMistake(text.substr(0, spec.name.size()), "the name is taken");
    constexpr std::size_t kOutside = 2;  // cells below and above the range
    const auto bins_before = first_cell_.back() - kOutside * specs_.size();
    if (spec.bins() > kMostBins - bins_before) throw TextMistake(text, "all together have more than 16777216 bins");
    first_cell_.push_back(first_cell_.back() + static_cast<std::uint32_t>(spec.bins() + kOutside));
    specs_.push_back(std::move(spec));
  } catch (const TextMistake& mistake) {
    refuse(text, mistake.where(), mistake.what() + std::string("; expected ") + std::string(histogram_usage()));
  }
}

void HistogramSet::set_streams(std::vector<std::uint32_t> stream_flags, bool with_payload) {
  measure_.set_streams(std::move(stream_flags));
  for (const auto& spec : specs_) {
    if (spec.uses_values() && !with_payload) refuse(spec.text, spec.text, std::string(kNeedsValues));
    if (spec.condition && spec.condition->uses(Quantity::Kind::trigger) && !measure_.has_triggers())
      refuse(spec.text, spec.text, "'trigger' is of triggered data, and no source of this run has trigger types");
  }
}

bool HistogramSet::has_any(bool of_all_hits) const {
  return std::ranges::any_of(specs_, [&](const auto& spec) { return spec.of_all_hits == of_all_hits; });
}

std::optional<std::uint32_t> HistogramSet::cell(std::size_t histogram, std::span<const double> at) const {
  const auto& axes = specs_[histogram].axes;
  const auto below = first_cell_[histogram + 1] - 2;
  std::optional<std::uint32_t> outside;
  std::uint32_t bin = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (std::isnan(at[i])) return std::nullopt;
    const auto on_this = axes[i].bin_of(at[i]);
    if (on_this < 0 && !outside) outside = below;
    if (on_this >= axes[i].bins && !outside) outside = below + 1;
    bin = bin * axes[i].bins + static_cast<std::uint32_t>(on_this);
  }
  return outside ? outside : first_cell_[histogram] + bin;
}

void add_cells(std::span<const FilledCell> filled, std::span<std::uint64_t> cells) {
  for (const auto& [cell, count] : filled) {
    if (cell >= cells.size()) throw std::runtime_error("a built slice with a cell of no histogram");
    cells[cell] += count;
  }
}

}  // namespace eventloom
