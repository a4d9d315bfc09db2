#include "io/run_format/histogram_table.hpp"

#include <algorithm>
#include <cmath>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/column_cursor.hpp"
#include "io/hdf5/column_writer.hpp"
#include "io/hdf5/counts_array.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/record_columns.hpp"
#include "io/hdf5/seal.hpp"

namespace eventloom {

namespace {

constexpr const char* kGroup = "/histograms";

std::string group_of(const std::string& name) { return std::string(kGroup) + "/" + name; }
std::string counts_path(const std::string& name) { return group_of(name) + "/counts"; }

ColumnSpec edges_column(const std::string& name, std::size_t axis, const HistogramAxisRecord& of) {
  return {fmt::format("{}/edges_{}", group_of(name), axis),
          ElementType::f64,
          "edges of the bins along this axis, the upper edge excluded: " + of.quantity,
          false,
          {},
          of.unit};
}

std::vector<std::uint64_t> shape_of(const HistogramRecord& histogram) {
  std::vector<std::uint64_t> shape;
  for (const auto& axis : histogram.axes) shape.push_back(axis.edges.size() - 1);
  return shape;
}

void write_one(const OutputFile& file, const HistogramRecord& histogram) {
  const auto& name = histogram.name;
  create_group(file.id(), group_of(name).c_str());
  write_counts(file, counts_path(name), {shape_of(histogram), histogram.counts}, "entries in each bin");
  std::string quantity;
  for (std::size_t i = 0; i < histogram.axes.size(); ++i) {
    const auto& axis = histogram.axes[i];
    write_column(file, edges_column(name, i, axis), std::span<const double>(axis.edges));
    quantity += (i == 0 ? "" : ";") + axis.quantity;
  }
  const H5Id group = open_object(file.id(), group_of(name));
  write_attribute(group.get(), "quantity", quantity);
  write_attribute(group.get(), "definition", histogram.text);
  write_attribute(group.get(), "entries", histogram.entries());
  write_attribute(group.get(), "underflow", histogram.underflow);
  write_attribute(group.get(), "overflow", histogram.overflow);
  seal_attributes(group.get());
}

HistogramAxisRecord read_axis(hid_t file, const std::string& place, const std::string& name, std::size_t number) {
  HistogramAxisRecord axis;
  const auto spec = edges_column(name, number, axis);
  ColumnCursor cursor(file, place, spec, std::size_t{1} << 16);
  if (cursor.rows() < 2 || cursor.rows() > kMostBins + 1)
    throw UserError(fmt::format("'{}': {} has {} rows", place, spec.path, cursor.rows()));
  axis.edges = read_column<double>(file, place, spec, cursor.rows());
  const bool rises = std::ranges::is_sorted(axis.edges) &&
                     !std::ranges::any_of(axis.edges, [](double edge) { return !std::isfinite(edge); });
  if (!rises) throw UserError(fmt::format("'{}': {} does not rise", place, spec.path));
  axis.unit = short_text(open_object(file, spec.path).get(), "units").value_or("");
  return axis;
}

HistogramRecord read_one(hid_t file, const std::string& place, const std::string& text) {
  HistogramRecord histogram;
  histogram.text = text;
  histogram.name = text.substr(0, text.find_first_of(" ="));
  const auto path = group_of(histogram.name);
  if (!has_object(file, path)) throw UserError("'" + place + "' has no group " + path);
  const H5Id group = open_object(file, path);
  try {
    check_attributes(group.get());
  } catch (const UserError& error) {
    throw UserError(fmt::format("'{}': {}: {}", place, path, error.what()));
  }
  const auto quantity = read_text(group.get(), "quantity");
  const auto semicolon = quantity.find(';');
  for (std::size_t i = 0; i < (semicolon == std::string::npos ? 1 : 2); ++i)
    histogram.axes.push_back(read_axis(file, place, histogram.name, i));
  histogram.axes.front().quantity = quantity.substr(0, semicolon);
  if (histogram.axes.size() == 2) histogram.axes.back().quantity = quantity.substr(semicolon + 1);
  const auto shape = shape_of(histogram);
  if (shape.size() == 2 && shape[0] > kMostBins / shape[1])
    throw UserError(fmt::format("'{}': {} has too many bins", place, path));
  histogram.counts = read_counts(file, place, counts_path(histogram.name), shape);
  histogram.underflow = read_number(group.get(), "underflow");
  histogram.overflow = read_number(group.get(), "overflow");
  if (read_number(group.get(), "entries") != histogram.entries())
    throw UserError(fmt::format("'{}' is damaged: the counts of {} are not its entries", place, path));
  return histogram;
}

}  // namespace

void write_histograms(const OutputFile& file, std::span<const HistogramRecord> histograms) {
  if (histograms.empty()) return;
  create_group(file.id(), kGroup);
  for (const auto& histogram : histograms) write_one(file, histogram);
}

std::vector<HistogramRecord> read_histograms(hid_t file, const std::string& name, std::span<const std::string> texts) {
  std::vector<HistogramRecord> all;
  for (const auto& text : texts) all.push_back(read_one(file, name, text));
  return all;
}

}  // namespace eventloom
