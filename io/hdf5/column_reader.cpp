#include "io/hdf5/column_reader.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/runtime/error.hpp"
#include "io/hdf5/apart.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/column_path.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/hdf5_version.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/hdf5/stored_value.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kMostBytes = 8;  ///< size of the largest number
constexpr const char* kOneColumn =
    ": write each column as a dataset of its own, in pandas by format='table' with data_columns=True";

std::string in_words(hid_t space) {
  const auto rank = H5Sget_simple_extent_ndims(space);
  if (rank <= 0) return "no dimension";
  std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  std::string text;
  for (const auto size : sizes) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

/// Lists what the group of a missing dataset holds, with advice; empty if there is no such group.
std::string names_beside(hid_t file, const std::string& dataset) {
  constexpr std::size_t kShown = 200;
  const auto slash = dataset.rfind('/');
  const auto path = slash == std::string::npos || slash == 0 ? std::string("/") : dataset.substr(0, slash);
  const H5Id group = open_object(file, path);
  std::vector<Link> links;
  if (group.get() < 0 || !is_group(group.get()) || list_links(group.get(), links) < 0) return "";
  if (links.empty())
    return ": group '" + path + "' is empty; let group= name the others alone, as in group=/dom_[0-9]*";
  std::string names;
  for (const auto& link : links) names += (names.empty() ? " '" : ", '") + link.name + "'";
  if (names.size() > kShown) names = names.substr(0, kShown) + "...";
  return "; there:" + names + "; time=, channel= and payload= name columns";
}

}  // namespace

struct ColumnReader::Handles {
  H5Id file;
  H5Id dataset;
  H5Id type;  ///< kind of the dataset, or of the field
  H5Id space;
};

ColumnReader::ColumnReader(const std::string& file, const std::string& dataset, Holds holds)
    : name_(file + ":" + dataset), handles_(std::make_unique<Handles>()) {
  open(file, dataset);
  handles_->space = H5Id(check(H5Dget_space(handles_->dataset.get()), "a dataset's space"), H5Sclose);
  const auto shape = column_shape(handles_->space.get());
  if (!shape) {
    fail("the dataset must have one dimension, or a second one of size 1 (it has " + in_words(handles_->space.get()) +
         ")" + (H5Sget_simple_extent_ndims(handles_->space.get()) > 1 ? kOneColumn : ""));
  }
  shape_ = *shape;
  const auto empty = any_numbers(handles_->dataset.get(), "MATLAB_empty");
  const bool is_empty = !empty.empty() && empty.front().whole != 0;  // the dataset holds the shape of nothing
  size_ = is_empty ? 0 : shape_.rows;
  learn_type(holds);
  keep_one_chunk();
  layout_ = RowLayout(name_, handles_->dataset.get(), shape_, size_);
  if (holds_texts()) require_sound_texts(file);
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
  fail("there is no such dataset" +
       (own ? ": the file is an output of Eventloom; give the recordings that it was built from"
            : names_beside(handles_->file.get(), dataset)));
}

void ColumnReader::learn_type(Holds holds) {
  constexpr std::size_t kMostInRow = 1U << 20;
  const H5Id row(check(H5Dget_type(handles_->dataset.get()), "a dataset's type"), H5Tclose);
  row_bytes_ = H5Tget_size(row.get());
  if (!field_.empty() && row_bytes_ > kMostInRow)
    fail("a row of the table has " + std::to_string(row_bytes_) + " bytes");
  handles_->type = type_of_field(row.get(), field_);
  const auto type = handles_->type.get();
  if (type < 0) refuse_type(row.get());
  if (holds == Holds::numbers_or_texts && H5Tget_class(type) == H5T_STRING) return;
  const auto number = number_type(type);
  if (!number) refuse_type(type);
  type_ = *number;
}

/// HDF5 may crash on damaged texts of variable length, which lie apart from the rows.
void ColumnReader::require_sound_texts(const std::string& file) {
  if (H5Tis_variable_str(handles_->type.get()) <= 0) return;
  const auto read_all = [this] {
    constexpr std::uint64_t kRows = 65536;
    std::vector<std::string> texts;
    for (std::uint64_t row = 0; row < size_; row += kRows)
      read(row, static_cast<std::size_t>(std::min(kRows, size_ - row)), texts);
  };
  if (const auto death = dies_apart(read_all, ApartLimits::of_file(file))) fail("its texts are damaged, " + *death);
}

/// `type` is the dataset's type, or a field's: not a number, or a table without the requested field.
void ColumnReader::refuse_type(std::int64_t type) const {
  constexpr std::size_t kShown = 200;
  std::string fields;
  for (const auto& field : fields_of(type)) fields += (fields.empty() ? "'" : ", '") + field + "'";
  if (fields.size() > kShown) fields = fields.substr(0, kShown) + "...";
  if (fields.empty()) {
    const char* advice = H5Tget_class(type) == H5T_ARRAY    ? kOneColumn
                         : H5Tget_class(type) == H5T_STRING ? "; texts are for where= alone"
                                                            : "";
    fail("the dataset must hold integers or floating-point numbers of up to 64 bits (it holds " + type_text(type) +
         ")" + advice);
  }
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
  const auto layout = layout_.creation();
  H5D_fill_value_t state = H5D_FILL_VALUE_DEFAULT;
  std::uint64_t bits = 0;
  if (!field_.empty() || H5Pfill_value_defined(layout, &state) < 0 || state != H5D_FILL_VALUE_USER_DEFINED)
    return std::nullopt;
  if (H5Pget_fill_value(layout, type_.in_memory, &bits) < 0) return std::nullopt;
  const auto number = eventloom::number_of(bits, type_);
  const bool is_zero = number.is_float ? number.real == 0 : number.whole == 0;
  return is_zero ? std::nullopt : std::optional(number);
}

std::optional<std::int64_t> ColumnReader::number_of_name(const std::string& name) const {
  const auto type = handles_->type.get();
  std::int64_t number = 0;
  if (H5Tget_class(type) != H5T_ENUM || H5Tenum_valueof(type, name.c_str(), &number) < 0) return std::nullopt;
  const H5Id stored(H5Tget_super(type), H5Tclose);
  check(H5Tconvert(stored.get(), H5T_NATIVE_INT64, 1, &number, nullptr, H5P_DEFAULT), "a number of an enumeration");
  return number;
}

std::vector<std::string> ColumnReader::names() const { return names_in_enumeration(handles_->type.get()); }

/// HDF5 caches no chunk above 1 MiB by default, and would decompress it for every read.
void ColumnReader::keep_one_chunk() {
  constexpr std::size_t kSlots = 101;
  constexpr std::size_t kLeast = 1U << 20;
  const auto chunk_rows = RowLayout::chunk_rows_of(handles_->dataset.get(), shape_);
  if (chunk_rows == 0) return;
  const auto bytes = std::max<std::size_t>(chunk_rows * std::max(kMostBytes, row_bytes_), kLeast);
  const H5Id access(check(H5Pcreate(H5P_DATASET_ACCESS), "creating a property list"), H5Pclose);
  check(H5Pset_chunk_cache(access.get(), kSlots, bytes, 1), "setting the chunk cache");
  handles_->dataset.reset();
  handles_->dataset = H5Id(H5Dopen2(handles_->file.get(), path_.c_str(), access.get()), H5Dclose);
  if (handles_->dataset.get() < 0) fail("the dataset does not open: " + hdf5_reason());
}

void ColumnReader::require_rows_of(const ColumnReader& other) const {
  if (size_ == other.size_) return;
  throw UserError("'" + name_ + "' has " + std::to_string(size_) + " rows, but '" + other.name_ + "' has " +
                  std::to_string(other.size_));
}

ColumnReader::~ColumnReader() = default;
ColumnReader::ColumnReader(ColumnReader&&) noexcept = default;

void ColumnReader::read_as(std::int64_t memory_type, std::uint64_t from, std::size_t n, void* out) {
  if (const auto absent = accepts_unwritten_ ? std::nullopt : layout_.first_absent(from, n)) {
    throw UnreadableRows("'" + name_ + "': the chunk of row " + std::to_string(*absent) + " is not in the file",
                         piece_end(*absent));
  }
  std::array<hsize_t, ColumnShape::kMostRank> start{};
  std::array<hsize_t, ColumnShape::kMostRank> count{1, 1};
  start.at(shape_.axis) = from;
  count.at(shape_.axis) = n;
  const H5Id memory(check(H5Screate_simple(1, &count.at(shape_.axis), nullptr), "a space in memory"), H5Sclose);
  check(H5Sselect_hyperslab(handles_->space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
        "a selection");
  const H5Id field = only_field(field_, memory_type);
  if (H5Dread(handles_->dataset.get(), field.get(), memory.get(), handles_->space.get(), H5P_DEFAULT, out) < 0) {
    throw UnreadableRows("'" + name_ + "': " + hdf5_reason(), layout_.is_chunked() ? piece_end(from) : from + n);
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

void ColumnReader::read(std::uint64_t from, std::size_t n, std::vector<std::string>& out) {
  out.assign(n, {});
  if (n == 0) return;
  const auto type = handles_->type.get();
  if (H5Tis_variable_str(type) > 0) {
    std::vector<char*> texts(n);
    read_as(type, from, n, texts.data());
    for (std::size_t i = 0; i < n; ++i) {
      if (texts[i] == nullptr) continue;
      out[i] = texts[i];
      H5free_memory(texts[i]);
    }
    return;
  }
  const auto width = H5Tget_size(type);
  const bool blanks = H5Tget_strpad(type) == H5T_STR_SPACEPAD;
  std::vector<char> bytes(n * width);
  read_as(type, from, n, bytes.data());
  for (std::size_t i = 0; i < n; ++i) {
    const std::string_view text(&bytes[i * width], width);
    out[i] = blanks ? text.substr(0, text.find_last_not_of(' ') + 1) : text.substr(0, text.find('\0'));
  }
}

void ColumnReader::fail(const std::string& what) const { throw UserError("'" + name_ + "': " + what); }

}  // namespace eventloom
