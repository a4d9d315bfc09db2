#include "core/runtime/failure.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <new>
#include <system_error>

#include "core/runtime/activity.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/memory.hpp"
#include "core/runtime/text_error.hpp"
#include "core/runtime/unreachable_rank.hpp"

namespace eventloom {

namespace {

/// Works with little memory left: unwinding has freed some.
std::string memory_trouble() {
  const std::string activity = interrupted_activity();
  std::string text = "no memory is left" + (activity.empty() ? "" : " (" + activity + ")") + ": the process has had " +
                     in_mebibytes(peak_bytes());
  if (const auto least = least_of(memory_there_is()))
    text += ", " + in_mebibytes(least->bytes) + " more " + least->what;
  return text;
}

Failure program_error(const std::exception& error) {
  return {kExitProgram, std::string("error of the program: ") + error.what()};
}

}  // namespace

Failure Failure::of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const TextError& e) {
    return {kExitUsage, e.what(), false, e.excerpt()};
  } catch (const UserError& e) {
    return {kExitUsage, e.what()};
  } catch (const UnreachableRank& e) {
    if (!e.reported()) return {kExitProgram, e.why()};
    return {kExitStopped, e.what(), false, {}, true};
  } catch (const std::filesystem::filesystem_error& e) {
    return {kExitUsage, "cannot reach '" + e.path1().string() + "': " + e.code().message()};
  } catch (const std::system_error& e) {
    if (e.code() != std::errc::resource_unavailable_try_again) return program_error(e);
    return {kExitProgram, "cannot start a thread: the limit of ulimit -u is reached, or " + memory_trouble(), true};
  } catch (const std::bad_alloc&) {
    return {kExitProgram, memory_trouble(), true};
  } catch (const MemoryError& e) {
    return {kExitProgram, e.what(), true};
  } catch (const std::exception& e) {
    return program_error(e);
  } catch (...) {
    return {kExitProgram, "error of the program: an exception of unknown type"};
  }
}

int agreed_code(const std::vector<int>& codes) {
  constexpr std::array<int, 4> kByGravity = {kExitUsage, kExitStopped, kExitLosses, kExitOk};
  auto gravest = kByGravity.end() - 1;
  for (const int code : codes) {
    const auto place = std::ranges::find(kByGravity, code);
    if (place == kByGravity.end()) return kExitProgram;
    gravest = std::min(gravest, place);
  }
  return *gravest;
}

int code_to_combine(int code) { return code == kExitStopped ? kExitStopped : kExitProgram; }

}  // namespace eventloom
