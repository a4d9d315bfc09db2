#include "io/hdf5/file_survey.hpp"

#include <hdf5.h>

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/hdf5/apart.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/stored_value.hpp"
#include "io/hdf5/virtual_layout.hpp"
#include "io/hdf5/written_rows.hpp"

namespace eventloom {

namespace {

class Surveyor {
 public:
  Surveyor(const std::string& file, std::size_t most) : file_(open_for_reading(file)), most_(most) {}

  FileSurvey look(const std::string& top) {
    const H5Id group = open_object(file_.get(), top);
    if (group.get() < 0) throw UserError("'" + top + "' does not open: " + hdf5_reason());
    (void)is_new(group.get());
    look_into(group.get(), top == "/" ? std::string() : top, 0);
    return std::move(survey_);
  }

 private:
  /// Objects of other files, to which links lead, have numbers of their own.
  bool is_new(hid_t object) {
    H5O_info_t info{};
    return H5Oget_info(object, &info) >= 0 && seen_.emplace(info.fileno, info.addr).second;
  }

  void look_into(hid_t group, const std::string& path, int depth) {
    constexpr int kDeepest = 64;
    std::vector<Link> links;
    if (list_links(group, links) < 0)
      survey_.problems.push_back((path.empty() ? "/" : path) + ": its list of names is damaged");
    for (const auto& link : links) {
      const auto below = path + "/" + link.name;
      const H5Id object = open_object(group, link.name);
      if (object.get() < 0) {
        survey_.problems.push_back(below + ": it does not open: " + hdf5_reason());
      } else if (is_dataset(object.get())) {
        describe(object.get(), below);
      } else if (is_group(object.get()) && is_new(object.get())) {
        ++survey_.groups;
        if (depth < kDeepest) look_into(object.get(), below, depth + 1);
      }
    }
  }

  void describe(hid_t dataset, const std::string& path) {
    if (++survey_.datasets > most_) return;
    Json entry = {{"path", path}};
    try {
      const H5Id space(check(H5Dget_space(dataset), "its shape"), H5Sclose);
      std::vector<hsize_t> shape(static_cast<std::size_t>(check(H5Sget_simple_extent_ndims(space.get()), "its shape")));
      H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);
      entry["type"] = type_text(type_of(dataset).get());
      entry["shape"] = shape;
      put_unit(dataset, entry);
      constexpr std::uint64_t kRows = 3;
      const std::vector<std::uint64_t> extent(shape.begin(), shape.end());
      // Before rows are read: HDF5 then holds the sources of a virtual dataset open, and locked.
      const auto absent = absent_rows(dataset, path, kRows);
      auto rows = absent ? first_rows(dataset, extent, kRows) : Json();
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if ((*absent)[i]) rows[i] = nullptr;
      }
      if (!rows.empty()) entry["first_rows"] = std::move(rows);
    } catch (const std::runtime_error& e) {
      survey_.problems.push_back(path + ": " + e.what());
    }
    survey_.described.push_back(std::move(entry));
  }

  /// Which of the first `n` rows were never written, or are not mapped by a virtual dataset, or lie in a source that is
  /// missing: HDF5 reads them as a fill value. std::nullopt if a source is missing and the dataset has no rows.
  std::optional<std::vector<bool>> absent_rows(hid_t dataset, const std::string& path, std::uint64_t n) {
    std::vector<bool> absent(n);
    const H5Id creation(check(H5Dget_create_plist(dataset), "its layout"), H5Pclose);
    const bool is_virtual = H5Pget_layout(creation.get()) == H5D_VIRTUAL;
    const auto missing = is_virtual ? missing_virtual_source(creation.get(), file_of(dataset)) : std::string();
    if (!missing.empty())
      survey_.problems.push_back(path + ": its rows are in " + missing + ", which is missing or does not open");
    if (!missing.empty() && !rows_of_column(dataset)) return std::nullopt;
    written_rows(dataset, file_of(dataset)).others(n).mark(0, absent);
    return absent;
  }

  static void put_unit(hid_t dataset, Json& entry) {
    for (const char* name : {"units", "unit"}) {
      const auto unit = short_text(dataset, name);
      if (!unit || unit->empty()) continue;
      entry["unit"] = *unit;
      return;
    }
  }

  H5Id file_;
  std::size_t most_;
  FileSurvey survey_;
  std::set<std::pair<unsigned long, haddr_t>> seen_;
};

}  // namespace

FileSurvey survey_of(const std::string& file, const std::string& top, std::size_t most) {
  (void)open_for_reading(file);  // throws where the file does not open
  if (const auto death = dies_apart([&] { (void)Surveyor(file, most).look(top); }, ApartLimits::of_file(file)))
    throw UserError("cannot read '" + file + "': it is damaged, " + *death);
  return reading(file, [&] { return Surveyor(file, most).look(top); });
}

}  // namespace eventloom
