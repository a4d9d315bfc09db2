#include "app/view/merge/merge_by_python.hpp"

#include <array>
#include <cstdlib>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/view/merge/exported_file.hpp"
#include "app/view/merge/source_files.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/subprocess.hpp"
#include "io/files/partial_file.hpp"
#include "io/run_input/run_events.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> kRootKeys = {"kind", "names"};
constexpr std::array<std::string_view, 1> kParquetKeys = {"names"};

/// The Python package that belongs to this program, and how pip finds it: it is not in the index of packages.
constexpr const char* kPackage = "eventloom";
constexpr const char* kPackageForPip = "EVENTLOOM/io/python, where EVENTLOOM is the source folder of this program";

/// Modules that the Python package imports; pip calls them by the same names.
constexpr const char* kRootModules = "numpy h5py awkward uproot";
constexpr const char* kParquetModules = "numpy h5py awkward pyarrow";

/// Prints those of its arguments that are not installed.
constexpr const char* kListMissing =
    "import importlib.util, sys; print(*[m for m in sys.argv[1:] if importlib.util.find_spec(m) is None])";

struct PythonTarget {
  fs::path path;
  std::string kind;  ///< first argument of the module merge_to
  bool names = false;
  std::string modules;
  Recognise ours = nullptr;
};

PythonTarget parse_target(const std::string& text) {
  const auto uri = SourceUri::parse(text, "--to");
  const bool root = uri.scheme() == "root";
  uri.accept_only(root ? std::span<const std::string_view>(kRootKeys) : kParquetKeys);
  if (fs::path(uri.path()).filename().empty()) uri.refuse("PATH must be the name of a file");
  if (!uri.get("names", "").empty()) uri.refuse("names has no value");
  PythonTarget target{uri.path(), "parquet", uri.has("names"), kParquetModules, is_exported_parquet};
  if (!root) return target;
  target.kind = uri.get("kind", "ttree");
  if (target.kind != "ttree" && target.kind != "rntuple") uri.refuse("kind= is ttree or rntuple");
  target.modules = kRootModules;
  target.ours = is_exported_root;
  return target;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// The folder of the package: that of the installation, or of the checkout around the build folder. Empty if neither
/// has it, so that the user must have installed it.
fs::path folder_of_package() {
  std::error_code error;
  const auto program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto* place : {"../share/eventloom/io/python", "../io/python"}) {
    auto folder = (program / place).lexically_normal();
    if (fs::is_regular_file(folder / kPackage / "merge_to.py", error)) return folder;
  }
  return {};
}

Environment environment_with_package() {
  std::vector<std::pair<std::string, std::string>> variables = {{"PYTHONSAFEPATH", "1"}};
  if (const auto folder = folder_of_package(); !folder.empty()) {
    const char* others = std::getenv("PYTHONPATH");
    variables.emplace_back("PYTHONPATH", folder.string() + (others == nullptr ? "" : ":" + std::string(others)));
  }
  return with_variables(own_environment(), variables);
}

struct PythonEnd {
  bool good = false;
  std::string output;
  std::string errors;
};

PythonEnd run_python(const std::string& python, const std::vector<std::string>& arguments) {
  const MemoryFile output;
  const MemoryFile errors;
  Program program{.words = {python, "-B"},
                  .environment = environment_with_package(),
                  .output = output.descriptor(),
                  .errors = errors.descriptor()};
  program.words.insert(program.words.end(), arguments.begin(), arguments.end());
  const auto end = Subprocess(program).wait();
  return {end.good(), output.text(), errors.text()};
}

/// Modules of `wanted` that a Python lacks; all if it does not run.
std::vector<std::string> missing_modules(const std::string& python, const std::vector<std::string>& wanted) {
  std::vector<std::string> arguments = {"-c", kListMissing};
  arguments.insert(arguments.end(), wanted.begin(), wanted.end());
  const auto end = run_python(python, arguments);
  return end.good ? words_of(end.output) : wanted;
}

/// Returns the command of the user that installs them; the package comes last.
std::string command_to_install(std::vector<std::string> modules) {
  if (modules.back() == kPackage) modules.back() = kPackageForPip;
  return fmt::format("pip install {}", joined(modules, " "));
}

std::string python_with(std::vector<std::string> modules, const std::string& target) {
  if (folder_of_package().empty()) modules.emplace_back(kPackage);
  const auto pythons = programs_in_path("python3");
  std::vector<std::string> missing;
  for (const auto& python : pythons) {
    const auto of_this = missing_modules(python, modules);
    if (of_this.empty()) return python;
    if (missing.empty()) missing = of_this;
  }
  if (pythons.empty()) {
    throw UserError(fmt::format("--to {}: there is no python3 in PATH; install Python, and then: {}", target,
                                command_to_install(modules)));
  }
  throw UserError(fmt::format("--to {}: {} lacks Python modules that write this file: {}", target, pythons.front(),
                              command_to_install(missing)));
}

void check_file(const MergeToFiles& what, const RunTables& run, const PythonTarget& target, FilePlan& plan,
                FilePlan::Existing existing) {
  plan.read(what.run, "the run");
  for (const auto& part : run.parts) plan.read(run.folder / part.name, "the run");
  plan_source_files(plan, run.record, run.folder, {target.path});
  plan.write(target.path, "--to", target.ours, existing);
  plan.check();
}

/// The last line, which names the problem also where Python prints a traceback.
std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  const auto end = text.rfind('\n');
  return end == std::string::npos ? text : text.substr(end + 1);
}

std::uint64_t write_file(const MergeToFiles& what, const PythonTarget& target, const std::string& python) {
  PartialFile file(target.path, target.ours);
  std::vector<std::string> arguments = {"-m", "eventloom.merge_to", target.kind, what.run.string(),
                                        file.path().string()};
  if (target.names) arguments.emplace_back("names");
  const auto end = run_python(python, arguments);
  if (!end.good) throw UserError("--to " + what.target + ": " + last_line(end.errors));
  file.sync();
  const auto bytes = fs::file_size(file.path());
  file.publish();
  return bytes;
}

}  // namespace

bool is_written_by_python(const std::string& target) {
  const auto uri = SourceUri::parse(target, "--to");
  if (uri.scheme() == "root" || uri.scheme() == "parquet") return true;
  if (uri.scheme() != "lmd" && uri.scheme() != "hld") uri.refuse("use lmd:PATH, hld:PATH, root:PATH or parquet:PATH");
  return false;
}

int merge_by_python(const MergeToFiles& what, FilePlan& plan, FilePlan::Existing existing) {
  const auto target = parse_target(what.target);
  const auto opened = open_run_to_export(what.run, what.partial);
  check_file(what, opened.run, target, plan, existing);
  const auto bytes = write_file(what, target, python_with(words_of(target.modules), what.target));
  std::cout << "events  " << opened.run.events() << "\nbytes   " << bytes << "\nfile    " << target.path.string()
            << '\n';
  if (opened.missing.empty()) return kExitOk;
  std::cout << "missing " << opened.missing << '\n';
  return kExitLosses;
}

}  // namespace eventloom
