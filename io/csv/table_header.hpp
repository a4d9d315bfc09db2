#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/line_reader.hpp"
#include "io/files/table_fields.hpp"
#include "io/recorded/column_name.hpp"

namespace eventloom {

inline constexpr std::uint64_t kMaxCsvColumn = 10000;

/// The column names in a header. Between blanks, a unit in brackets belongs to the name before it: t [us].
class TableHeader {
 public:
  TableHeader(const LineReader& lines, std::string_view line) {
    FieldSplitter splitter;
    splitter.split(lines, line, kMaxCsvColumn);
    for (const auto field : splitter.fields()) {
      const bool is_unit = field.starts_with('[') || field.starts_with('(');
      if (is_unit && splitter.by_blanks() && !names_.empty()) {
        names_.back().append(" ").append(field);
      } else {
        names_.emplace_back(field);
      }
    }
  }

  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// The columns with this name.
  [[nodiscard]] std::vector<std::size_t> called(std::string_view name) const {
    return columns_where([&](const std::string& own) { return own == name; });
  }
  /// The columns with the first of the usual names that occurs.
  [[nodiscard]] std::vector<std::size_t> usual(std::span<const std::string_view> usual_names) const {
    for (const auto usual_name : usual_names) {
      auto columns = all_usual({&usual_name, 1});
      if (!columns.empty()) return columns;
    }
    return {};
  }
  [[nodiscard]] std::vector<std::size_t> all_usual(std::span<const std::string_view> usual_names) const {
    return columns_where([&](const std::string& own) {
      return std::ranges::find(usual_names, ColumnName(own).name) != usual_names.end();
    });
  }
  [[nodiscard]] std::string unit_of(std::size_t column) const {
    return column != 0 && column <= names_.size() ? ColumnName(names_[column - 1]).unit : "";
  }
  [[nodiscard]] std::string list() const {
    constexpr std::size_t kShownOfHeader = 200;
    std::string text;
    for (const auto& name : names_) text += (text.empty() ? "'" : ", '") + name + "'";
    return text.size() <= kShownOfHeader ? text : text.substr(0, kShownOfHeader) + "...";
  }

 private:
  template <class Condition>
  [[nodiscard]] std::vector<std::size_t> columns_where(Condition holds) const {
    std::vector<std::size_t> columns;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (holds(names_[i])) columns.push_back(i + 1);
    }
    return columns;
  }

  std::vector<std::string> names_;
};

}  // namespace eventloom
