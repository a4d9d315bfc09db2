#pragma once

#include <filesystem>
#include <functional>
#include <string>

/// Space kept for the small files of a run whose parts may go to another disk: its lists, its marks and run.h5 stay on
/// the first disk when that is full. All writers see whether it is.
namespace eventloom {

/// `<stem of run_file>.reserve`; with `.partial` when the disk is full
std::string disk_reserve_name(const std::filesystem::path& run_file);
/// True when a file begins like a reserve.
bool is_disk_reserve(const std::filesystem::path& file);

/// Creates the reserve, unless there is too little space: the disk then counts as full. Rank 0 only, before any writer.
void take_disk_reserve(const std::filesystem::path& run_file);
/// Any rank: no writer begins another part on this disk.
void mark_disk_full(const std::filesystem::path& run_file);
/// Any rank: whether take_disk_reserve() failed or mark_disk_full() was called.
bool is_marked_full(const std::filesystem::path& run_file);
/// Any rank: runs a step that needs little space. While the disk is full, frees the reserve and runs the step again:
/// other writers may still be filling the disk, and leave it soon. Throws the DiskFull of the step after 5 s.
void use_disk_reserve(const std::filesystem::path& run_file, const std::function<void()>& step);
/// Any rank: frees the space.
void free_disk_reserve(const std::filesystem::path& run_file);

}  // namespace eventloom
