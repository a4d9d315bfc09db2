#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "io/files/own_file.hpp"

namespace eventloom {

/// All files that one command reads or will write, collected before any is opened for writing. The plan prevents a
/// command from overwriting its input, writing two outputs to one file, or replacing a foreign file.
class FilePlan {
 public:
  /// Treatment of an existing file of Eventloom's own under the name of an output. keep_unfinished: keep it, and
  /// also an unfinished file of live data, which cannot be read again.
  enum class Existing { keep, keep_unfinished, replace };

  /// `role`: the user's name for the file, such as "--report-json".
  void read(const std::filesystem::path& file, const std::string& role);
  /// Adds an output that is first written as a PartialFile. `try_out`: create the file and remove it again, to check
  /// whether this is possible; its folder must exist.
  void write(const std::filesystem::path& file, const std::string& role, Recognise ours, Existing existing,
             bool try_out = true);
  /// Adds the files in `folder`, which need not exist yet, whose names satisfy `names`.
  void write_in(const std::filesystem::path& folder, const std::string& role,
                std::function<bool(const std::string& name)> names, Recognise ours, Existing existing);

  /// Throws UserError with the first problem, also if a file could not be written: permissions, missing folder, name
  /// too long. Leaves no changes.
  void check() const;

 private:
  struct Read {
    std::string key;  ///< see file_key()
    std::filesystem::path path;
    std::string role;
  };
  struct Write {
    std::string key;
    std::string partial_key;
    std::filesystem::path path;
    std::string role;
    Recognise ours;
    Existing existing;
    bool try_out;
  };
  struct Family {
    std::filesystem::path folder;
    std::string folder_key;
    std::string role;
    std::function<bool(const std::string&)> names;
    Recognise ours;
    Existing existing;
  };

  void check_one(const Write& write) const;
  void check_pair(const Write& a, const Write& b) const;
  void check_member(const Write& write, const Family& family) const;
  void check_family(const Family& family) const;
  void refuse_what_is_read(const std::string& key, const std::filesystem::path& path, const std::string& role) const;

  std::vector<Read> reads_;
  std::vector<Write> writes_;
  std::vector<Family> families_;
};

/// Whether an output option names a stream or device, not a file: "/dev/stdout", "/dev/stderr" or "/dev/null".
bool is_stream_of_process(const std::string& path);

}  // namespace eventloom
