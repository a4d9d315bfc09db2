#pragma once

#include <filesystem>

namespace eventloom {

/// Recognise the ROOT and Parquet files that the Python package writes, by the marks in io/python/eventloom/exports.py.
/// An unfinished Parquet file has no mark yet; it is recognised if its name is that of an unfinished file.
bool is_exported_root(const std::filesystem::path& file);
bool is_exported_parquet(const std::filesystem::path& file);

}  // namespace eventloom
