#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

/// One HTML page, with its style and scripts inside, that shows a status document: of a run that goes on, or of one
/// that has ended. It needs no network but, for the monitor, the server it came from.
namespace eventloom {

/// First bytes of every page: they distinguish a report from a file that Eventloom did not write.
extern const char* const kPageBegin;

/// The page of the monitor: asks for `status` (relative to its own URL) once a second, and sends commands to `control`.
std::string page_for_monitor();

/// A page that holds its status document. Text that is not UTF-8 is replaced; no text of the document can end the
/// script it is in.
std::string page_with(const nlohmann::json& status);

}  // namespace eventloom
