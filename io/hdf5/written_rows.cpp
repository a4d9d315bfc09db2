#include "io/hdf5/written_rows.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/hdf5/column_shape.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/hdf5/virtual_layout.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

/// Beyond these a layout counts as written, so that no file can take the reader's time or memory.
constexpr std::uint64_t kMostPieces = 10'000'000;
constexpr int kMostLevels = 8;  ///< virtual datasets whose sources are virtual

RowRanges all_of(std::uint64_t rows) { return RowRanges({{0, rows}}); }

RowRanges chunks_of(hid_t dataset, hid_t space, hid_t creation, const ColumnShape& shape) {
  std::array<hsize_t, ColumnShape::kMostRank> chunk{};
  hsize_t stored = 0;
  if (H5Pget_chunk(creation, ColumnShape::kMostRank, chunk.data()) != static_cast<int>(shape.rank)) return {};
  if (H5Dget_num_chunks(dataset, space, &stored) < 0) return {};
  const hsize_t step = std::max<hsize_t>(chunk.at(shape.axis), 1);
  const auto all = shape.rows / step + (shape.rows % step != 0 ? 1 : 0);
  if (stored >= all) return all_of(shape.rows);
  if (all > kMostPieces) return {};
  std::vector<RowRange> ranges;
  std::array<hsize_t, ColumnShape::kMostRank> at{};
  for (std::uint64_t row = 0; row < shape.rows; row += step) {
    at.at(shape.axis) = row;
    hsize_t bytes = 0;
    if (H5Dget_chunk_storage_size(dataset, at.data(), &bytes) < 0 || bytes == 0) continue;
    ranges.push_back({row, row + std::min<std::uint64_t>(step, shape.rows - row)});
  }
  return RowRanges(std::move(ranges));
}

/// A selection of the same number of rows again and again.
struct RegularRows {
  std::uint64_t begin = 0;
  std::uint64_t step = 1;
  std::uint64_t times = 1;
  std::uint64_t block = 1;
};

std::optional<RegularRows> regular_rows(hid_t space, const ColumnShape& shape) {
  using Sizes = std::array<hsize_t, ColumnShape::kMostRank>;
  Sizes start{}, stride{}, count{}, block{};
  if (H5Sis_regular_hyperslab(space) <= 0) return std::nullopt;
  if (H5Sget_regular_hyperslab(space, start.data(), stride.data(), count.data(), block.data()) < 0) return std::nullopt;
  const auto along = shape.axis;
  return RegularRows{start.at(along), stride.at(along), count.at(along), block.at(along)};
}

/// The selected rows of a column of this shape, in the order of the selection; std::nullopt when they are no list of
/// rows.
std::optional<std::vector<RowRange>> selected_rows(hid_t space, const ColumnShape& shape) {
  const auto type = H5Sget_select_type(space);
  if (type == H5S_SEL_NONE) return std::vector<RowRange>();
  if (type == H5S_SEL_ALL) {  // the size of a source may be unknown
    const auto stated = column_shape(space);
    return std::vector<RowRange>{{0, stated ? std::min(stated->rows, shape.rows) : shape.rows}};
  }
  if (type != H5S_SEL_HYPERSLABS || H5Sget_simple_extent_ndims(space) != static_cast<int>(shape.rank))
    return std::nullopt;
  std::vector<RowRange> rows;
  if (const auto regular = regular_rows(space, shape)) {
    if (regular->block == H5S_UNLIMITED) return std::vector<RowRange>{{regular->begin, shape.rows}};
    const std::uint64_t step = std::max<std::uint64_t>(regular->step, 1);
    for (std::uint64_t n = 0, at = regular->begin; n < regular->times && at < shape.rows; ++n, at += step) {
      if (n == kMostPieces) return std::nullopt;
      rows.push_back({at, at + std::min(regular->block, shape.rows - at)});
    }
    return rows;
  }
  const auto blocks = H5Sget_select_hyper_nblocks(space);
  if (blocks < 0 || static_cast<std::uint64_t>(blocks) > kMostPieces) return std::nullopt;
  const auto n = static_cast<std::size_t>(blocks);
  std::vector<hsize_t> corners(n * shape.rank * 2);
  if (H5Sget_select_hyper_blocklist(space, 0, n, corners.data()) < 0) return std::nullopt;
  for (std::size_t i = 0; i < n; ++i) {
    const auto* corner = &corners[i * shape.rank * 2 + shape.axis];
    rows.push_back({corner[0], std::min<std::uint64_t>(corner[shape.rank] + 1, shape.rows)});
  }
  return rows;
}

/// A source of a virtual dataset.
struct SourceRows {
  std::optional<ColumnShape> shape;  ///< std::nullopt: no column
  RowRanges written;
  bool exists = false;
};

/// Appends the rows of the virtual dataset whose source was written. Both lists of rows run in the same order.
void map_rows(const std::vector<RowRange>& rows, const std::vector<RowRange>& source, const RowRanges& written,
              std::vector<RowRange>& out) {
  std::size_t at = 0;
  std::uint64_t used = 0;  // rows of the source's range `at`
  for (auto range : rows) {
    while (range.begin < range.end && at < source.size()) {
      const auto begin = source[at].begin + used;
      const auto n = std::min(range.end - range.begin, source[at].end - begin);
      auto part = std::ranges::upper_bound(written.list(), begin, {}, &RowRange::end);
      for (; part != written.list().end() && part->begin < begin + n; ++part) {
        const auto from = std::max(part->begin, begin) - begin;
        out.push_back({range.begin + from, range.begin + std::min(part->end, begin + n) - begin});
      }
      range.begin += n;
      used += n;
      if (begin + n < source[at].end) continue;
      ++at;
      used = 0;
    }
  }
}

/// "part_%b" and 12 make "part_12".
std::string numbered(const std::string& name, std::uint64_t number) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char next = name[i] == '%' && i + 1 < name.size() ? name[i + 1] : '\0';
    if (next == 'b') text += std::to_string(number);
    if (next == '%') text += next;
    if (next == 'b' || next == '%') {
      ++i;
    } else {
      text += name[i];
    }
  }
  return text;
}

class VirtualRows {
 public:
  RowRanges of(hid_t dataset, const fs::path& file, int level) {
    const H5Id space(check(H5Dget_space(dataset), "a dataset's space"), H5Sclose);
    const H5Id creation(check(H5Dget_create_plist(dataset), "a dataset's layout"), H5Pclose);
    const auto shape = column_shape(space.get());
    const auto layout = H5Pget_layout(creation.get());
    if (!shape) return all_of(std::numeric_limits<std::uint64_t>::max());
    if (layout == H5D_CHUNKED) return chunks_of(dataset, space.get(), creation.get(), *shape);
    if (layout == H5D_VIRTUAL && level < kMostLevels) return of_mappings(creation.get(), *shape, file, level);
    const bool absent =
        layout == H5D_CONTIGUOUS && H5Dget_storage_size(dataset) == 0 && H5Pget_external_count(creation.get()) == 0;
    return absent ? RowRanges() : all_of(shape->rows);
  }

 private:
  RowRanges of_mappings(hid_t creation, const ColumnShape& shape, const fs::path& file, int level) {
    std::vector<RowRange> ranges;
    for (const auto& mapping : virtual_mappings(creation)) {
      const auto rows = selected_rows(mapping.rows.get(), shape);
      if (!rows) return all_of(shape.rows);
      if (!mapping.has_counter()) {
        add(mapping, *rows, source(mapping.file, mapping.dataset, file, level), ranges);
        continue;
      }
      for (std::size_t n = 0; n < rows->size(); ++n) {
        add(mapping, {(*rows)[n]}, source(numbered(mapping.file, n), numbered(mapping.dataset, n), file, level),
            ranges);
      }
    }
    return RowRanges(std::move(ranges));
  }

  static void add(const VirtualMapping& mapping, const std::vector<RowRange>& rows, const SourceRows& source,
                  std::vector<RowRange>& ranges) {
    if (!source.exists) return;
    const auto taken = source.shape ? selected_rows(mapping.source_rows.get(), *source.shape) : std::nullopt;
    if (taken) {
      map_rows(rows, *taken, source.written, ranges);
    } else {
      ranges.insert(ranges.end(), rows.begin(), rows.end());
    }
  }

  /// Many mappings may have one source.
  const SourceRows& source(const std::string& name, const std::string& dataset, const fs::path& file, int level) {
    const auto [known, is_new] = known_.try_emplace({file.string() + "\n" + name, dataset});
    if (!is_new) return known->second;
    const auto place = virtual_source(name, dataset, file);
    if (place.empty()) return known->second;
    const H5Id opened = open_for_reading(place);
    const H5Id column(check(H5Dopen2(opened.get(), dataset.c_str(), H5P_DEFAULT), "a virtual source"), H5Dclose);
    const H5Id space(check(H5Dget_space(column.get()), "a dataset's space"), H5Sclose);
    SourceRows found{column_shape(space.get()), of(column.get(), place, level + 1), true};
    return known_[{file.string() + "\n" + name, dataset}] = std::move(found);
  }

  std::map<std::pair<std::string, std::string>, SourceRows> known_;
};

}  // namespace

RowRanges written_rows(hid_t dataset, const fs::path& file) { return VirtualRows().of(dataset, file, 0); }

}  // namespace eventloom
