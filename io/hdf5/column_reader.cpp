#include "io/hdf5/column_reader.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/runtime/error.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/column_path.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/hdf5_version.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/hdf5/virtual_layout.hpp"
#include "io/hdf5/written_rows.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kMostBytes = 8;  ///< size of the largest number

std::string in_words(hid_t space) {
  const auto rank = H5Sget_simple_extent_ndims(space);
  if (rank <= 0) return "no dimension";
  std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  std::string text;
  for (const auto size : sizes) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

}  // namespace

struct ColumnReader::Handles {
  H5Id file;
  H5Id dataset;
  H5Id space;
  H5Id creation;
};

ColumnReader::ColumnReader(const std::string& file, const std::string& dataset)
    : name_(file + ":" + dataset), handles_(std::make_unique<Handles>()) {
  open(file, dataset);
  handles_->space = H5Id(check(H5Dget_space(handles_->dataset.get()), "a dataset's space"), H5Sclose);
  const auto shape = column_shape(handles_->space.get());
  if (!shape) {
    fail("the dataset must have one dimension, or a second one of size 1 (it has " + in_words(handles_->space.get()) +
         ")");
  }
  shape_ = *shape;
  const auto empty = any_numbers(handles_->dataset.get(), "MATLAB_empty");
  const bool is_empty = !empty.empty() && empty.front().whole != 0;  // the dataset holds the shape of nothing
  size_ = is_empty ? 0 : shape_.rows;
  learn_type();
  learn_layout();
  if (chunk_rows_ != 0) keep_one_chunk();
}

void ColumnReader::open(const std::string& file, const std::string& dataset) {
  handles_->file = open_for_reading(file);
  auto opened = open_column(handles_->file.get(), dataset);
  handles_->dataset = std::move(opened.dataset);
  path_ = std::move(opened.path);
  field_ = std::move(opened.field);
  if (handles_->dataset.get() >= 0) return;
  const auto reason = hdf5_reason();
  const bool there = H5Lexists(handles_->file.get(), dataset.c_str(), H5P_DEFAULT) > 0;
  if (there) fail("the dataset does not open: " + with_remedy(reason));
  const bool own = !output_format_of(file).empty();
  fail(std::string("there is no such dataset") +
       (own ? ": the file is an output of Eventloom; give the recordings that it was built from" : ""));
}

void ColumnReader::learn_type() {
  constexpr std::size_t kMostInRow = 1U << 20;
  const H5Id row(check(H5Dget_type(handles_->dataset.get()), "a dataset's type"), H5Tclose);
  row_bytes_ = H5Tget_size(row.get());
  if (!field_.empty() && row_bytes_ > kMostInRow)
    fail("a row of the table has " + std::to_string(row_bytes_) + " bytes");
  const H5Id type = type_of_field(row.get(), field_);
  if (type.get() < 0) refuse_type(row.get());
  const auto number = number_type(type.get());
  if (!number) refuse_type(type.get());
  type_ = *number;
}

/// `type` is the dataset's type, or a field's: not a number, or a table without the requested field.
void ColumnReader::refuse_type(std::int64_t type) const {
  constexpr std::size_t kShown = 200;
  std::string fields;
  for (const auto& field : fields_of(type)) fields += (fields.empty() ? "'" : ", '") + field + "'";
  if (fields.size() > kShown) fields = fields.substr(0, kShown) + "...";
  if (fields.empty()) fail("the dataset must hold integers or floating-point numbers of up to 64 bits");
  if (field_.empty()) {
    const auto name = path_.substr(path_.find_last_of('/') + 1);
    fail("the dataset is a table: say which of its fields, such as time=" + name + "/FIELD; it has " + fields);
  }
  fail("the table '" + path_ + "' has no such field of numbers; it has " + fields);
}

std::optional<std::string> ColumnReader::text_of(const char* attribute) const {
  if (!field_.empty()) return std::nullopt;
  return short_text(handles_->dataset.get(), attribute);
}

std::optional<std::uint64_t> ColumnReader::number_of(const char* attribute) const {
  if (!field_.empty() || !has_attribute(handles_->dataset.get(), attribute)) return std::nullopt;
  return read_number(handles_->dataset.get(), attribute);
}

std::vector<StoredNumber> ColumnReader::numbers_of(const char* attribute) const {
  if (!field_.empty()) return {};
  return any_numbers(handles_->dataset.get(), attribute);
}

std::optional<StoredNumber> ColumnReader::fill_value() const {
  const auto layout = handles_->creation.get();
  H5D_fill_value_t state = H5D_FILL_VALUE_DEFAULT;
  std::uint64_t bits = 0;
  if (!field_.empty() || H5Pfill_value_defined(layout, &state) < 0 || state != H5D_FILL_VALUE_USER_DEFINED)
    return std::nullopt;
  if (H5Pget_fill_value(layout, type_.in_memory, &bits) < 0) return std::nullopt;
  const auto number = eventloom::number_of(bits, type_);
  const bool is_zero = number.is_float ? number.real == 0 : number.whole == 0;
  return is_zero ? std::nullopt : std::optional(number);
}

RowRanges ColumnReader::unwritten() const {
  if (H5Pget_layout(handles_->creation.get()) == H5D_VIRTUAL) return mapped_.others(size_);
  if (chunk_rows_ != 0 && chunks_ >= all_chunks()) return {};
  return written_rows(handles_->dataset.get(), own_file()).others(size_);
}

std::uint64_t ColumnReader::all_chunks() const { return size_ / chunk_rows_ + (size_ % chunk_rows_ != 0 ? 1 : 0); }

std::string ColumnReader::own_file() const {
  const auto size = check(H5Fget_name(handles_->dataset.get(), nullptr, 0), "the name of a file");
  std::string name(static_cast<std::size_t>(size), '\0');
  check(H5Fget_name(handles_->dataset.get(), name.data(), name.size() + 1), "the name of a file");
  return name;
}

/// Writers skip an optional filter that they lack, and mark each chunk.
bool ColumnReader::filter_skipped(int filter) const {
  std::array<hsize_t, ColumnShape::kMostRank> begin{};
  unsigned skipped = 0;
  haddr_t address = 0;
  hsize_t bytes = 0;
  const bool known = H5Dget_chunk_info(handles_->dataset.get(), handles_->space.get(), 0, begin.data(), &skipped,
                                       &address, &bytes) >= 0;
  return !known || (skipped >> static_cast<unsigned>(filter) & 1U) != 0;
}

/// Reads the layout of the rows in the file; fails when a compression filter is unavailable.
void ColumnReader::learn_layout() {
  handles_->creation = H5Id(check(H5Dget_create_plist(handles_->dataset.get()), "a dataset's layout"), H5Pclose);
  const auto layout = handles_->creation.get();
  require_filters();
  if (H5Pget_layout(layout) == H5D_VIRTUAL) {
    const auto missing = missing_virtual_source(layout, own_file());
    if (!missing.empty()) fail("its rows are in " + missing + ", which is missing or does not open");
    mapped_ = written_rows(handles_->dataset.get(), own_file());
    rows_elsewhere_ = mapped_.count();
  }
  if (H5Pget_external_count(layout) > 0) {
    const H5Id type(check(H5Dget_type(handles_->dataset.get()), "a dataset's type"), H5Tclose);
    rows_elsewhere_ = external_bytes(layout, own_file()) / H5Tget_size(type.get());
  }
  if (H5Pget_layout(layout) == H5D_CHUNKED) learn_chunks();
}

void ColumnReader::require_filters() const {
  const auto layout = handles_->creation.get();
  for (int i = 0; i < H5Pget_nfilters(layout); ++i) {
    unsigned flags = 0;
    std::size_t n = 0;
    char name[64] = "";
    const auto filter =
        H5Pget_filter2(layout, static_cast<unsigned>(i), &flags, &n, nullptr, sizeof name, name, nullptr);
    if ((filter >= 0 && H5Zfilter_avail(filter) > 0) || filter_skipped(i)) continue;
    fail("it is compressed with filter " + std::to_string(filter) + " (" + name +
         "), which this HDF5 lacks: set HDF5_PLUGIN_PATH to a folder that has it as a plugin; Debian has plugins in "
         "the packages hdf5-filter-plugin and python3-hdf5plugin");
  }
}

void ColumnReader::learn_chunks() {
  std::array<hsize_t, ColumnShape::kMostRank> rows{};
  const auto rank = H5Pget_chunk(handles_->creation.get(), ColumnShape::kMostRank, rows.data());
  if (rank != static_cast<int>(shape_.rank) || rows.at(shape_.axis) == 0)
    fail("its layout is damaged: " + hdf5_reason());
  hsize_t chunks = 0;
  if (H5Dget_num_chunks(handles_->dataset.get(), handles_->space.get(), &chunks) < 0)
    fail("its chunk index cannot be read: " + hdf5_reason());
  chunk_rows_ = rows.at(shape_.axis);
  chunks_ = chunks;
}

/// HDF5 caches no chunk above 1 MiB by default, and would decompress it for every read.
void ColumnReader::keep_one_chunk() {
  constexpr std::size_t kSlots = 101;
  constexpr std::size_t kLeast = 1U << 20;
  const auto bytes = std::max<std::size_t>(chunk_rows_ * std::max(kMostBytes, row_bytes_), kLeast);
  const H5Id access(check(H5Pcreate(H5P_DATASET_ACCESS), "creating a property list"), H5Pclose);
  check(H5Pset_chunk_cache(access.get(), kSlots, bytes, 1), "setting the chunk cache");
  handles_->dataset.reset();
  handles_->dataset = H5Id(H5Dopen2(handles_->file.get(), path_.c_str(), access.get()), H5Dclose);
  if (handles_->dataset.get() < 0) fail("the dataset does not open: " + hdf5_reason());
}

void ColumnReader::require_written() const {
  const auto layout = H5Pget_layout(handles_->creation.get());
  if (chunk_rows_ != 0) {
    const auto chunks = all_chunks();
    if (chunks_ >= chunks - chunks / 2) return;
    fail("of its " + std::to_string(size_) + " rows, most were never written (" + std::to_string(chunks_) + " of " +
         std::to_string(chunks) + " chunks are in the file)");
  }
  if (rows_elsewhere_) {
    if (*rows_elsewhere_ >= (layout == H5D_VIRTUAL ? size_ - size_ / 2 : size_)) return;
    fail("of its " + std::to_string(size_) + " rows, which are in other files, only " +
         std::to_string(*rows_elsewhere_) + " were ever written");
  }
  if (size_ == 0 || layout != H5D_CONTIGUOUS) return;
  hsize_t file_bytes = 0;
  const H5Id own(check(H5Iget_file_id(handles_->dataset.get()), "a dataset's file"), H5Fclose);
  check(H5Fget_filesize(own.get(), &file_bytes), "a file's size");
  const auto bytes = H5Dget_storage_size(handles_->dataset.get());
  if (bytes == 0 || bytes > file_bytes) fail("its " + std::to_string(size_) + " rows are not in the file");
}

std::uint64_t ColumnReader::piece_end(std::uint64_t row) const {
  if (chunk_rows_ == 0) return size_;
  const auto begin = row - row % chunk_rows_;
  return begin + std::min(chunk_rows_, size_ - begin);
}

/// Rows of a missing chunk would read as 0.
void ColumnReader::require_stored(std::uint64_t from, std::size_t n) const {
  if (chunk_rows_ == 0 || accepts_unwritten_) return;
  std::array<hsize_t, ColumnShape::kMostRank> begin{};
  for (std::uint64_t row = from; row < from + n; row = piece_end(row)) {
    begin.at(shape_.axis) = row - row % chunk_rows_;
    hsize_t bytes = 0;
    if (H5Dget_chunk_storage_size(handles_->dataset.get(), begin.data(), &bytes) >= 0 && bytes != 0) continue;
    throw UnreadableRows("'" + name_ + "': the chunk of row " + std::to_string(row) + " is not in the file",
                         piece_end(row));
  }
}

ColumnReader::~ColumnReader() = default;
ColumnReader::ColumnReader(ColumnReader&&) noexcept = default;

void ColumnReader::read_as(std::int64_t memory_type, std::uint64_t from, std::size_t n, void* out) {
  require_stored(from, n);
  std::array<hsize_t, ColumnShape::kMostRank> start{};
  std::array<hsize_t, ColumnShape::kMostRank> count{1, 1};
  start.at(shape_.axis) = from;
  count.at(shape_.axis) = n;
  const H5Id memory(check(H5Screate_simple(1, &count.at(shape_.axis), nullptr), "a space in memory"), H5Sclose);
  check(H5Sselect_hyperslab(handles_->space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
        "a selection");
  const H5Id field = only_field(field_, memory_type);
  if (H5Dread(handles_->dataset.get(), field.get(), memory.get(), handles_->space.get(), H5P_DEFAULT, out) < 0) {
    throw UnreadableRows("'" + name_ + "': " + hdf5_reason(), chunk_rows_ == 0 ? from + n : piece_end(from));
  }
}

void ColumnReader::read(std::uint64_t from, std::size_t n, std::vector<std::uint64_t>& out) {
  out.resize(n);
  if (n != 0) read_as(type_.in_memory, from, n, out.data());
}

void ColumnReader::read(std::uint64_t from, std::size_t n, std::vector<std::uint64_t>& out, const std::string& advice) {
  read(from, n, out);
  if (!is_signed()) return;
  const auto negative = std::ranges::find_if(out, [](std::uint64_t v) { return static_cast<std::int64_t>(v) < 0; });
  if (negative != out.end()) {
    fail("row " + std::to_string(from + static_cast<std::uint64_t>(negative - out.begin())) + " is negative (" +
         std::to_string(static_cast<std::int64_t>(*negative)) + "): " + advice);
  }
}

void ColumnReader::read(std::uint64_t from, std::size_t n, std::vector<double>& out) {
  out.resize(n);
  if (n != 0) read_as(type_.in_memory, from, n, out.data());
}

void ColumnReader::fail(const std::string& what) const { throw UserError("'" + name_ + "': " + what); }

}  // namespace eventloom
