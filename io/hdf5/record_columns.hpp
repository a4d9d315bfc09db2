#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/column_cursor.hpp"
#include "io/hdf5/column_writer.hpp"
#include "io/hdf5/text_column.hpp"

/// Small lists of records, with one column per member.
namespace eventloom {

/// Writes one member of each element as a column.
template <class T, class Items, class Field>
void write_fields(const OutputFile& file, const ColumnSpec& spec, const Items& items, Field field) {
  std::vector<T> values;
  for (const auto& item : items) values.push_back(std::invoke(field, item));
  write_column(file, spec, std::span<const T>(values));
}

template <class Items, class Field>
void write_text_fields(const OutputFile& file, const char* path, const Items& items, Field field) {
  std::vector<std::string> values;
  for (const auto& item : items) values.push_back(std::invoke(field, item));
  write_texts(file.id(), path, values);
}

/// Reads a whole column. Throws UserError unless it has `n` rows.
template <class T>
std::vector<T> read_column(hid_t file, const std::string& name, const ColumnSpec& spec, std::size_t n) {
  ColumnCursor cursor(file, name, spec, std::max<std::size_t>(n, 1) * sizeof(T));
  if (cursor.rows() != n) throw UserError("the dataset " + spec.path + " does not have " + std::to_string(n) + " rows");
  std::vector<T> values;
  while (values.size() < n) values.push_back(cursor.next<T>());
  return values;
}

}  // namespace eventloom
